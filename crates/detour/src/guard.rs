//! Starts a program so that it never outlives us.

use std::{path::Path, process::Stdio};

use tokio::process::{Child, ChildStdin, Command};

/// Runs the program beside something that waits for the end of our side of a pipe, and then ends the program: the
/// system closes that side whatever becomes of us, SIGKILL included. (A signal at the parent's death, as Linux has it,
/// comes at the end of the thread that started the program, and needs code that runs between fork and exec.)
#[cfg(unix)]
const GUARD: &str = r#"exec 3<&0
"$0" "$@" 3<&- </dev/null & program=$!
{ read -r _ <&3; kill -TERM "$program"; } >/dev/null 2>&1 & guard=$!
exec 3<&-
wait "$program"; code=$?
kill "$guard" 2>/dev/null
exit "$code""#;

/// A program that ends when this is dropped, and when we are killed.
#[derive(Debug)]
pub(crate) struct Guarded {
    pub(crate) child: Child,
    /// Open as long as it is wanted.
    wanted: Option<ChildStdin>,
}

impl Guarded {
    /// Starts it, with its output to be read.
    pub(crate) fn start(program: &Path, arguments: &[String]) -> std::io::Result<Self> {
        let mut child = command(program, arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let wanted = child.stdin.take();
        Ok(Self { child, wanted })
    }

    /// Asks it to end.
    pub(crate) fn dismiss(&mut self) {
        self.wanted = None;
    }

    /// Ends it, however it likes that.
    pub(crate) async fn kill(&mut self) -> std::io::Result<()> {
        #[cfg(unix)]
        if let Some(group) = self.child.id().and_then(|id| rustix::process::Pid::from_raw(id.cast_signed())) {
            let _gone = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        self.child.kill().await
    }
}

/// A group of its own: what a terminal sends to us is not for the program, which is ended in its turn.
#[cfg(unix)]
fn command(program: &Path, arguments: &[String]) -> Command {
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(GUARD).arg(program).args(arguments).process_group(0);
    command
}

/// Windows has no such pipe; there it is ended when we stop.
#[cfg(not(unix))]
fn command(program: &Path, arguments: &[String]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments);
    command
}
