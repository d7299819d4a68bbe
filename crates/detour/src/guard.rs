//! Starts a program so that it never outlives us.

use std::{path::Path, process::Stdio};

use tokio::process::{Child, ChildStdin, Command};

/// Runs the program beside a guard, which waits for the end of our side of a pipe and then ends the program. The system
/// closes our side whatever happens to us, even on SIGKILL. (Linux can send a signal when the parent dies, but it comes
/// already when the thread ends that started the program, and needs code that runs between fork and exec.)
#[cfg(unix)]
const GUARD: &str = r#"exec 3<&0
"$0" "$@" 3<&- </dev/null & program=$!
{ read -r _ <&3; kill -TERM "$program"; } >/dev/null 2>&1 & guard=$!
exec 3<&-
wait "$program"; code=$?
kill "$guard" 2>/dev/null
exit "$code""#;

/// A program that ends when this value is dropped, and when we are killed.
#[derive(Debug)]
pub(crate) struct Guarded {
    pub(crate) child: Child,
    /// Our side of the pipe, which is open as long as the program is wanted.
    wanted: Option<ChildStdin>,
}

impl Guarded {
    /// Starts the program with its output connected to us.
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

    /// Asks the program to end, by closing the pipe.
    pub(crate) fn dismiss(&mut self) {
        self.wanted = None;
    }

    /// Kills the program, and on Unix its whole process group.
    pub(crate) async fn kill(&mut self) -> std::io::Result<()> {
        #[cfg(unix)]
        if let Some(group) = self.child.id().and_then(|id| rustix::process::Pid::from_raw(id.cast_signed())) {
            let _gone = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        self.child.kill().await
    }
}

/// Runs the program in a process group of its own: signals from a terminal to us don't reach the program, which we end
/// ourselves.
#[cfg(unix)]
fn command(program: &Path, arguments: &[String]) -> Command {
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(GUARD).arg(program).args(arguments).process_group(0);
    command
}

/// Windows has no such pipe; there the program is ended when we stop.
#[cfg(not(unix))]
fn command(program: &Path, arguments: &[String]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments);
    command
}
