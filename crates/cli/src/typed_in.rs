//! Reads one-line secrets (tokens and invites) from standard input. Arguments are no place for them, because every
//! process on the machine can see those.

use std::io::{self, BufRead as _, IsTerminal as _, Read as _};

use tokio::sync::oneshot;

use crate::{failure::CliError, terminal::Screen};

/// How many bytes such a line may have.
const LONGEST: u64 = 64 * 1024;

/// Returns the first line of standard input without white space around it, or `None` if there is none. On a terminal, a
/// prompt is shown and the input is hidden.
pub(crate) async fn line(question: &str, screen: &Screen) -> Result<Option<String>, CliError> {
    let wrong = |source| CliError::System { doing: "standard input can't be read", source };
    if io::stdin().is_terminal() {
        screen.note(format_args!("{question}; it isn't shown while you type:"));
    }
    let (say, said) = oneshot::channel();
    // The thread is never waited for: a command that is told to end must not wait for somebody to type a line.
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
