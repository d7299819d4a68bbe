//! Reads one-line secrets (tokens and invitations) from standard input. They are not taken as arguments, because every
//! process on the machine can see those.

use std::io::{self, BufRead as _, IsTerminal as _, Read as _};

use tokio::sync::oneshot;

use crate::{failure::CliError, terminal::Screen};

/// The largest number of bytes that are read for a line, unless it is typed on a terminal.
const LONGEST: u64 = 64 * 1024;

/// Returns the first line of standard input without white space around it, or `None` if the line is empty or missing.
/// On a terminal, a prompt is shown and the input is hidden.
pub(crate) async fn line(question: &str, screen: &Screen) -> Result<Option<String>, CliError> {
    let wrong = |source| CliError::System { doing: "can't read standard input", source };
    if io::stdin().is_terminal() {
        screen.note(format_args!("{question} (hidden while you type):"));
    }
    let (say, said) = oneshot::channel();
    // The thread is never joined, because a command that is told to end must not wait until somebody has typed a line.
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
