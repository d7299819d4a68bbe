//! Questions on the terminal.

use std::io::{self, BufRead as _, IsTerminal as _};

use tokio::sync::oneshot;

use crate::{failure::CliError, terminal::Screen};

/// Asks before a verb does what can't be undone, or changes more than its user may expect. `what` says what that is, as a
/// sentence without its full stop. Without a terminal, where nobody can answer, it fails with `what` and the hint.
pub(crate) async fn is_sure(
    what: &str,
    question: &str,
    hint: &str,
    screen: &Screen,
) -> Result<bool, CliError> {
    if !io::stdin().is_terminal() {
        return Err(CliError::bad_input_with("not-agreed", what.to_owned(), hint));
    }
    let agreed = agreed(&format!("{what}. {question}"), screen).await?;
    if !agreed {
        screen.note("nothing was changed");
    }
    Ok(agreed)
}

/// Asks on the terminal. Anything but yes is no, and so is standard input that is no terminal. The caller must have
/// escaped text from strangers.
pub(crate) async fn agreed(question: &str, screen: &Screen) -> Result<bool, CliError> {
    if !io::stdin().is_terminal() {
        return Ok(false);
    }
    screen.note(format_args!("{question} [y/N]"));
    let (say, said) = oneshot::channel();
    // The thread is never joined, because a command that is told to end must not wait until somebody has typed a line.
    std::thread::spawn(move || {
        let mut line = String::new();
        drop(say.send(io::stdin().lock().read_line(&mut line).map(|_| line)));
    });
    let line = said.await.unwrap_or_else(|_| Ok(String::new()));
    let line = line.map_err(|source| CliError::System { doing: "can't read standard input", source })?;
    Ok(matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}
