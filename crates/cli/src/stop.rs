//! The wish to end: Ctrl-C, or a polite kill.

use std::io;

use tokio::signal;

/// The exit code of a command that was told twice (128 + SIGINT, as shells have it).
pub const TOLD_TWICE: i32 = 130;

/// Waits for the wish to end.
#[derive(Debug)]
pub struct Stop {
    #[cfg(unix)]
    interrupt: signal::unix::Signal,
    #[cfg(unix)]
    terminate: signal::unix::Signal,
    #[cfg(windows)]
    interrupt: signal::windows::CtrlC,
    #[cfg(windows)]
    terminate: signal::windows::CtrlClose,
}

impl Stop {
    /// From now on, the wish doesn't end the process by itself.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn watch() -> io::Result<Self> {
        #[cfg(unix)]
        {
            use signal::unix::{SignalKind, signal};
            Ok(Self {
                interrupt: signal(SignalKind::interrupt())?,
                terminate: signal(SignalKind::terminate())?,
            })
        }
        #[cfg(windows)]
        {
            Ok(Self { interrupt: signal::windows::ctrl_c()?, terminate: signal::windows::ctrl_close()? })
        }
    }

    /// Waits until the end is wished for.
    pub async fn asked(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }

    /// Finishes; a second wish ends the process at once.
    pub async fn finish(&mut self, ending: impl Future<Output = ()>) {
        tokio::select! {
            () = ending => {}
            () = self.asked() => std::process::exit(TOLD_TWICE),
        }
    }
}
