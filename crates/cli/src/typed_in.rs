//! Secrets of one line that are read from standard input: tokens and invitations. Never from an argument, which every
//! process of the machine can see.

use std::io::{self, BufRead as _, IsTerminal as _, Read as _};

use tokio::sync::oneshot;

use crate::{failure::CliError, terminal::Screen};

/// The most bytes of such a line.
const LONGEST: u64 = 64 * 1024;

/// The first line of standard input without what surrounds it; `None` where there is none. At a terminal it is asked
/// for, and isn't shown.
pub(crate) async fn line(question: &str, screen: &Screen) -> Result<Option<String>, CliError> {
    let wrong = |source| CliError::System { doing: "standard input can't be read", source };
    if io::stdin().is_terminal() {
        screen.note(format_args!("{question}; it isn't shown while you type:"));
    }
    let (say, said) = oneshot::channel();
    // A thread of its own, for whose end nobody waits: a command that is told to end must not wait for a line that
    // nobody types.
    std::thread::spawn(move || drop(say.send(read())));
    let line = said.await.unwrap_or_else(|_| Ok(String::new())).map_err(wrong)?;
    let line = line.trim();
    Ok((!line.is_empty()).then(|| line.to_owned()))
}

fn read() -> io::Result<String> {
    if io::stdin().is_terminal() {
        return rpassword::read_password();
    }
    let mut line = String::new();
    io::stdin().lock().take(LONGEST).read_line(&mut line)?;
    Ok(line)
}
