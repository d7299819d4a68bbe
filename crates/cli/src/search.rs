//! The search language on the command line.

use hookmitt_event::{Plain, Timestamp};
use hookmitt_search::{Query, SearchError};
use unicode_width::UnicodeWidthStr as _;

use crate::{
    failure::CliError,
    terminal::{BAD, Screen, Styled},
};

/// Takes a search as an argument. It may begin with `-`, but what begins with `--` is an option that isn't there.
pub(crate) fn argument(text: &str) -> Result<String, String> {
    let is_option = text.starts_with("--");
    if is_option { Err("there is no such option".to_owned()) } else { Ok(text.to_owned()) }
}

/// Reads a search. If it is wrong, shows where.
pub(crate) fn read(text: &str, screen: &Screen) -> Result<Query, CliError> {
    Query::parse(text, Timestamp::now()).map_err(|error| {
        if !screen.json {
            screen.note(pointed_out(text, &error));
        }
        CliError::explained(&error)
    })
}

/// Returns a search with a line below it that points to the fault.
fn pointed_out(text: &str, error: &SearchError) -> String {
    let before = Plain(&text[..error.place.start]).to_string();
    let fault = Plain(&text[error.place.clone()]).to_string();
    let carets = "^".repeat(fault.width().max(1));
    format!("  {}\n  {}{}", Plain(text), " ".repeat(before.width()), Styled(BAD, carets))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_pointed_at_in_columns_of_the_terminal() {
        for (text, carets) in [
            ("shop verdict:good", "               ^^^^"),
            ("東京 sorce:x", "       ^^^^^^"),
            ("a\u{1b} sorce:x", "          ^^^^^^"),
            ("type:", "       ^"),
        ] {
            let error = Query::parse(text, Timestamp::default()).unwrap_err();
            let shown = anstream::adapter::strip_str(&pointed_out(text, &error)).to_string();
            assert_eq!(shown, format!("  {}\n{carets}", Plain(text)));
        }
    }
}
