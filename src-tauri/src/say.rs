//! Standard error, for whoever started the window from a terminal.

use std::io::Write as _;

/// Says a line.
pub(crate) fn say(what: std::fmt::Arguments<'_>) {
    let _nobody_reads = writeln!(std::io::stderr().lock(), "{what}");
}
