//! Makes a loop that accepts connections pause after an error.

use std::{
    io,
    time::{Duration, Instant},
};

/// How long the loop pauses. Most likely the process or the system has no file descriptors left, and some may be closed
/// meanwhile. Connections wait in the system's queue; without a pause the loop would keep a core busy.
const PAUSE: Duration = Duration::from_millis(100);

/// How long no further error is logged.
const SILENCE: Duration = Duration::from_secs(60);

/// Pauses a loop that accepts connections after an error.
#[derive(Debug)]
pub struct Breather {
    /// What the connections are for, for the log.
    what: &'static str,
    said_at: Option<Instant>,
}

impl Breather {
    /// Makes one for a loop that accepts connections for `what`.
    pub fn new(what: &'static str) -> Self {
        Self { what, said_at: None }
    }

    /// Returns the connection that was accepted. After an error it pauses first, and logs the error if none was logged
    /// lately.
    pub async fn accepted<T>(&mut self, outcome: io::Result<T>) -> Option<T> {
        match outcome {
            Ok(connection) => Some(connection),
            Err(error) if is_its_own(&error) => None,
            Err(error) => {
                if self.said_at.is_none_or(|said_at| said_at.elapsed() >= SILENCE) {
                    self.said_at = Some(Instant::now());
                    tracing::warn!(%error, "can't accept connections from {} now; they wait", self.what);
                }
                tokio::time::sleep(PAUSE).await;
                None
            }
        }
    }
}

/// Whether the error affects only a single connection, so that the next one can be accepted at once.
fn is_its_own(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn it_pauses_where_there_is_no_handle_and_not_where_a_sender_went() {
        let mut breather = Breather::new("a test");
        let began = tokio::time::Instant::now();
        assert_eq!(breather.accepted(Ok(7)).await, Some(7));
        assert_eq!(breather.accepted::<()>(Err(io::ErrorKind::ConnectionAborted.into())).await, None);
        assert_eq!(began.elapsed(), Duration::ZERO);
        assert_eq!(breather.accepted::<()>(Err(io::Error::from_raw_os_error(24))).await, None);
        assert_eq!(began.elapsed(), PAUSE);
    }
}
