//! Secrets of one line that are read from standard input: tokens and invitations. Never from an argument, which every
//! process of the machine can see.

use std::io::{BufRead as _, IsTerminal as _, Read as _};

use crate::{failure::CliError, terminal::Screen};

/// The most bytes of such a line.
const LONGEST: u64 = 64 * 1024;

/// The first line of standard input without what surrounds it; `None` where there is none. At a terminal it is asked
/// for, and isn't shown.
pub(crate) fn line(question: &str, screen: &Screen) -> Result<Option<String>, CliError> {
    let wrong = |source| CliError::System { doing: "standard input can't be read", source };
    let mut line = String::new();
    if std::io::stdin().is_terminal() {
        screen.note(format_args!("{question}; it isn't shown while you type:"));
        line = rpassword::read_password().map_err(wrong)?;
    } else {
        std::io::stdin().lock().take(LONGEST).read_line(&mut line).map_err(wrong)?;
    }
    let line = line.trim();
    Ok((!line.is_empty()).then(|| line.to_owned()))
}
