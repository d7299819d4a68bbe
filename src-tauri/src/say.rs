//! Standard error, for whoever started the window from a terminal.

use std::io::Write as _;

/// Says a line, in one write: GTK's libraries write there, too, and know nothing of our lock.
pub(crate) fn say(what: std::fmt::Arguments<'_>) {
    let _nobody_reads = std::io::stderr().write_all(format!("{what}\n").as_bytes());
}
