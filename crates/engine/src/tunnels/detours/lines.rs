//! Header lines that were written on the way: kept beside the request, which was signed without them.

use std::net::IpAddr;

use hookmitt_event::{Cause, HeaderLines};

/// Set beside an event whose body was written anew, with who did that. Nobody outside can set it: what comes in never
/// goes there under this name.
const REWRITTEN: &str = "x-hookmitt-rewritten";

/// Parts header lines into the sender's own and those that a service writes which passes requests on.
pub(super) fn part(headers: &HeaderLines) -> (HeaderLines, HeaderLines) {
    headers.parted(is_of_the_way)
}

fn is_of_the_way(name: &str) -> bool {
    let begins = |start: &str| name.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start));
    let others = ["forwarded", "x-real-ip", "via", "cdn-loop", "true-client-ip"];
    begins("x-forwarded-") || begins("cf-") || others.iter().any(|other| name.eq_ignore_ascii_case(other))
}

/// Who called, as the service says: it adds its word at the end of what the caller may have written.
pub(super) fn caller(beside: &HeaderLines) -> Option<IpAddr> {
    let address = |text: &str| text.trim().parse::<IpAddr>().ok();
    if let Some(address) = beside.get_str("cf-connecting-ip").and_then(address) {
        return Some(address);
    }
    beside.get_str("x-forwarded-for")?.rsplit(',').next().and_then(address)
}

/// With the mark that `by` wrote the body anew.
pub(super) fn marked(beside: &HeaderLines, by: &str) -> HeaderLines {
    let lines = beside.iter().map(|line| (line.name.as_bytes().to_vec(), line.value.to_vec()));
    let mark = [(REWRITTEN.as_bytes().to_vec(), by.as_bytes().to_vec())];
    HeaderLines::from_pairs(lines.chain(mark)).unwrap_or_else(|_| beside.clone())
}

/// Why the signature of an event can't hold that came through a channel which writes bodies anew.
pub(crate) fn rewritten(beside: Option<&HeaderLines>) -> Option<Cause> {
    let by = beside?.get_str(REWRITTEN)?;
    Some(Cause {
        code: "channel_rewrote_body".to_owned(),
        title: Some("The channel wrote the body anew".to_owned()),
        message: format!(
            "{by} takes JSON apart and writes it anew: these are not the bytes that were signed, and what they were can't be had again."
        ),
        fix: "To have signatures checked, let the provider call a relay of your own (`hookmitt tunnel add RELAY_URL`) or a quick URL (`hookmitt tunnel add --cloudflared --source SLUG`)."
            .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(pairs: &[(&str, &str)]) -> HeaderLines {
        HeaderLines::from_pairs(pairs.iter().copied()).unwrap()
    }

    #[test]
    fn what_was_written_on_the_way_goes_beside_the_request() {
        let (own, beside) = part(&lines(&[
            ("Host", "a-b.trycloudflare.com"),
            ("X-Forwarded-For", "10.0.0.1, 203.0.113.9"),
            ("X-GitHub-Event", "push"),
            ("Cf-Connecting-Ip", "203.0.113.9"),
            ("Cdn-Loop", "cloudflare"),
            ("Via", "1.1 edge"),
        ]));
        assert_eq!(own, lines(&[("Host", "a-b.trycloudflare.com"), ("X-GitHub-Event", "push")]));
        assert_eq!((beside.len(), caller(&beside)), (4, "203.0.113.9".parse().ok()));
        assert_eq!(
            caller(&lines(&[("x-forwarded-for", "6.6.6.6, 203.0.113.7")])),
            "203.0.113.7".parse().ok()
        );
        assert_eq!(caller(&lines(&[("x-forwarded-for", "unknown")])), None);
    }

    #[test]
    fn only_what_is_marked_was_written_anew() {
        let beside = lines(&[("X-Forwarded-For", "203.0.113.9")]);
        assert_eq!(rewritten(Some(&beside)), None);
        assert!(rewritten(Some(&marked(&beside, "smee.io"))).unwrap().message.starts_with("smee.io"));
        let (own, beside) = part(&lines(&[("X-Hookmitt-Rewritten", "me")]));
        assert_eq!((own.len(), beside.len()), (1, 0), "a sender can't set the mark");
    }
}
