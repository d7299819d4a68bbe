//! The one place that writes to standard output and standard error.
//!
//! Data goes to standard output, messages to standard error. Colours are dropped where there is no terminal, or where
//! `NO_COLOR` asks for that.

use std::{
    fmt,
    io::{self, IsTerminal as _, Write as _},
};

use clap::builder::styling::{AnsiColor, Style};
use hookmitt_event::{Plain, PlainJson};
use serde::Serialize;

use crate::failure::CliError;

/// For what is as it should be.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// For what deserves a look.
pub(crate) const ODD: Style = AnsiColor::Yellow.on_default();
/// For what is wrong.
pub(crate) const BAD: Style = AnsiColor::Red.on_default();
/// For what is of less interest.
pub(crate) const FAINT: Style = Style::new().dimmed();
/// For what names the rest.
pub(crate) const STRONG: Style = Style::new().bold();

/// A text in a style.
pub(crate) struct Styled<T>(pub(crate) Style, pub(crate) T);

impl<T: fmt::Display> fmt::Display for Styled<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(style, text) = self;
        write!(out, "{style}{text}{style:#}")
    }
}

/// Where a command writes to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Screen {
    /// One JSON object a line rather than words.
    pub(crate) json: bool,
}

impl Screen {
    /// Writes lines of data. Whatever is a stranger's in them must have been escaped.
    pub(crate) fn print(&self, lines: impl fmt::Display) -> Result<(), CliError> {
        let text = format!("{lines}\n");
        let mut out = anstream::stdout().lock();
        out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(wrong_output)
    }

    /// Writes one JSON object on a line of its own.
    pub(crate) fn print_json(&self, value: &impl Serialize) -> Result<(), CliError> {
        let line = serde_json::to_string(value).map_err(|error| CliError::Answer(error.to_string()))?;
        self.print_bytes(format!("{}\n", PlainJson(&line)).as_bytes())
    }

    /// Writes exact bytes.
    pub(crate) fn print_bytes(&self, bytes: &[u8]) -> Result<(), CliError> {
        let mut out = io::stdout().lock();
        out.write_all(bytes).and_then(|()| out.flush()).map_err(wrong_output)
    }

    /// Writes a message for people to standard error, in one piece: who reads along never sees half a URL. That nobody
    /// reads it is no error.
    pub(crate) fn note(&self, line: impl fmt::Display) {
        let _unread = anstream::stderr().lock().write_all(format!("{line}\n").as_bytes());
    }

    /// Says what went wrong, and what to do.
    pub(crate) fn error(&self, error: &CliError) {
        if matches!(error, CliError::ClosedPipe) {
            return;
        }
        self.complain(error.code(), &error.to_string(), error.hint().as_deref());
    }

    /// Says what went wrong, and what to do.
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

    /// Whether a person at a desktop started this: not a service, not a script, not over ssh.
    pub(crate) fn has_desktop(&self) -> bool {
        let windows = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let desktop = cfg!(any(windows, target_os = "macos"))
            || ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| windows(name));
        desktop && io::stderr().is_terminal()
    }

    /// How many columns there are; `None` where data does not go to a terminal.
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
        _ => CliError::System { doing: "standard output can't be written", source },
    }
}
