//! Messages on standard error, for users who start the window in a terminal.

use std::io::Write as _;

/// Prints a line in a single write, because GTK's libraries also write to standard error and don't take Rust's lock.
pub(crate) fn say(what: std::fmt::Arguments<'_>) {
    let _nobody_reads = std::io::stderr().write_all(format!("{what}\n").as_bytes());
}
