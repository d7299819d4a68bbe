//! What a loop that accepts connections does when none can be had.

use std::{
    io,
    time::{Duration, Instant},
};

/// How long it pauses, so that some end: most likely the process, or the system, is out of handles. The connections wait
/// in the system's queue meanwhile, and to try without a pause would keep a core busy.
const PAUSE: Duration = Duration::from_millis(100);

/// How long it says nothing more of it.
const SILENCE: Duration = Duration::from_secs(60);

/// The breath that an accepting loop takes when it can't.
#[derive(Debug)]
pub struct Breather {
    /// Of what the connections are.
    what: &'static str,
    said_at: Option<Instant>,
}

impl Breather {
    /// One for a loop; `what` is what it accepts connections of.
    pub fn new(what: &'static str) -> Self {
        Self { what, said_at: None }
    }

    /// The connection that was accepted. Where there is none, it pauses first, and says so once in a while.
    pub async fn accepted<T>(&mut self, outcome: io::Result<T>) -> Option<T> {
        match outcome {
            Ok(connection) => Some(connection),
            Err(error) if is_its_own(&error) => None,
            Err(error) => {
                if self.said_at.is_none_or(|said_at| said_at.elapsed() >= SILENCE) {
                    self.said_at = Some(Instant::now());
                    tracing::warn!(%error, "can't accept connections of {}; they wait", self.what);
                }
                tokio::time::sleep(PAUSE).await;
                None
            }
        }
    }
}

/// Whether one connection failed, and says nothing about the next one.
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
