//! Marks bodies that a channel rewrote on the way from their sender.

use hookmitt_event::{Cause, HeaderLines};

/// The header stored beside an event whose body was rewritten, naming who did that. Nobody outside can set it, because
/// a request's own line of this name is never stored there.
const REWRITTEN: &str = "x-hookmitt-rewritten";

/// Adds the mark that `by` rewrote the body.
pub(crate) fn marked(beside: &HeaderLines, by: &str) -> HeaderLines {
    let lines = beside.iter().map(|line| (line.name.as_bytes().to_vec(), line.value.to_vec()));
    let mark = [(REWRITTEN.as_bytes().to_vec(), by.as_bytes().to_vec())];
    HeaderLines::from_pairs(lines.chain(mark)).unwrap_or_else(|_| beside.clone())
}

/// Returns the cause to show for an invalid signature, if a channel rewrote the event's body.
pub(crate) fn rewritten(beside: Option<&HeaderLines>) -> Option<Cause> {
    let by = beside?.get_str(REWRITTEN)?;
    Some(Cause {
        code: "channel_rewrote_body".to_owned(),
        title: Some("The channel rewrote the body".to_owned()),
        message: format!(
            "{by} parses JSON and writes it again: these aren't the bytes that were signed, and the original bytes \
             are lost."
        ),
        fix: "To verify signatures, let the provider call your own relay (`hookmitt tunnel add RELAY_URL`) or a \
              quick URL (`hookmitt tunnel add --cloudflared --source SLUG`)."
            .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_marked_was_written_anew() {
        let beside = HeaderLines::from_pairs([("X-Forwarded-For", "203.0.113.9")]).unwrap();
        assert_eq!(rewritten(Some(&beside)), None);
        assert!(rewritten(Some(&marked(&beside, "smee.io"))).unwrap().message.starts_with("smee.io"));
    }
}
