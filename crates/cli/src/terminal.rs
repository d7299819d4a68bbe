//! Writes the output of the verbs. Only clap and the log write to standard output or standard error elsewhere.
//!
//! Data goes to standard output, messages to standard error. Colours are left out if the output is not a terminal, or
//! if `NO_COLOR` is set.

use std::{
    fmt,
    io::{self, IsTerminal as _, Write as _},
};

use clap::builder::styling::AnsiColor;
pub(crate) use clap::builder::styling::Style;
use hookmitt_event::{Plain, PlainJson};
use serde::Serialize;

use crate::failure::CliError;

/// The style for good news.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// The style for what deserves attention.
pub(crate) const ODD: Style = AnsiColor::Yellow.on_default();
/// The style for errors.
pub(crate) const BAD: Style = AnsiColor::Red.on_default();
/// The style for less important text.
pub(crate) const FAINT: Style = Style::new().dimmed();
/// The style for headings.
pub(crate) const STRONG: Style = Style::new().bold();

/// A text in a style.
pub(crate) struct Styled<T>(pub(crate) Style, pub(crate) T);

impl<T: fmt::Display> fmt::Display for Styled<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(style, text) = self;
        write!(out, "{style}{text}{style:#}")
    }
}

/// Writes a command's output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Screen {
    /// Whether data is written as one JSON object a line.
    pub(crate) json: bool,
}

impl Screen {
    /// Writes lines of data to standard output. The caller must have escaped text from strangers.
    pub(crate) fn print(&self, lines: impl fmt::Display) -> Result<(), CliError> {
        let text = format!("{lines}\n");
        let mut out = anstream::stdout().lock();
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(wrong_output)
    }

    /// Writes a JSON object to standard output, on a line of its own.
    pub(crate) fn print_json(&self, value: &impl Serialize) -> Result<(), CliError> {
        let line = serde_json::to_string(value).map_err(|error| CliError::Answer(error.to_string()))?;
        self.print_bytes(format!("{}\n", PlainJson(&line)).as_bytes())
    }

    /// Writes bytes to standard output, unchanged.
    pub(crate) fn print_bytes(&self, bytes: &[u8]) -> Result<(), CliError> {
        let mut out = io::stdout().lock();
        out.write_all(bytes).and_then(|()| out.flush()).map_err(wrong_output)
    }

    /// Writes a message for people to standard error in one piece, so that a program that reads it never gets half a
    /// URL. A failure to write is ignored.
    pub(crate) fn note(&self, line: impl fmt::Display) {
        let _unread = anstream::stderr().lock().write_all(format!("{line}\n").as_bytes());
    }

    /// Shows a line about what is under way, in place of the last such line; an empty one removes it. Writes nothing if
    /// standard error is no terminal. The caller must have escaped text from strangers.
    pub(crate) fn progress(&self, line: &str) {
        if io::stderr().is_terminal() {
            let size = terminal_size::terminal_size_of(io::stderr());
            let room = size.map_or(80, |(width, _)| usize::from(width.0)).saturating_sub(1);
            let line: String = line.chars().take(room).collect();
            let _unread = anstream::stderr().lock().write_all(format!("\r{line:<room$}\r").as_bytes());
        }
    }

    /// Writes an error and its hint to standard error. Writes nothing if the reader has closed the pipe.
    pub(crate) fn error(&self, error: &CliError) {
        if matches!(error, CliError::ClosedPipe) {
            return;
        }
        self.complain(error.code(), &error.to_string(), error.hint().as_deref());
    }

    /// Writes an error message and its hint to standard error, as JSON if data is JSON.
    pub(crate) fn complain(&self, code: &str, message: &str, hint: Option<&str>) {
        if self.json {
            let line = serde_json::json!({ "code": code, "message": message, "hint": hint }).to_string();
            self.note(PlainJson(&line));
            return;
        }
        self.note(format_args!("{} {}", Styled(BAD.bold(), "error:"), Plain(message)));
        if let Some(hint) = hint {
            self.note(format_args!("{} {}", Styled(STRONG, "hint:"), Plain(hint)));
        }
    }

    /// Returns whether a person at a desktop seems to have started the command, and not a service, a script or a remote
    /// login: standard error is a terminal, and there is a display. Windows and macOS count as having one.
    pub(crate) fn has_desktop(&self) -> bool {
        let windows = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let desktop = cfg!(any(windows, target_os = "macos"))
            || ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| windows(name));
        desktop && io::stderr().is_terminal()
    }

    /// Returns the terminal's width in columns, or `None` if standard output is not a terminal or the width is unknown.
    pub(crate) fn width(&self) -> Option<usize> {
        if !io::stdout().is_terminal() {
            return None;
        }
        let (width, _height) = terminal_size::terminal_size()?;
        Some(usize::from(width.0)).filter(|width| *width > 0)
    }
}

fn wrong_output(source: io::Error) -> CliError {
    match source.kind() {
        io::ErrorKind::BrokenPipe => CliError::ClosedPipe,
        _ => CliError::System { doing: "can't write to standard output", source },
    }
}
