//! Requests to end the command: Ctrl-C, SIGTERM, or closing the console window on Windows.

use std::io;

use tokio::signal;

/// The exit code of a command that was asked to end twice (128 + SIGINT, as in shells).
pub const TOLD_TWICE: i32 = 130;

/// Watches for requests to end.
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
    /// Starts to watch. From now on, a request to end no longer ends the process by itself.
    ///
    /// # Errors
    /// Fails if the system refuses to install the signal handlers.
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

    /// Waits for a request to end.
    pub async fn asked(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }

    /// Waits until `ending` is finished. A further request to end exits the process at once.
    pub async fn finish<T>(&mut self, ending: impl Future<Output = T>) -> T {
        tokio::select! {
            ended = ending => ended,
            () = self.asked() => std::process::exit(TOLD_TWICE),
        }
    }
}
