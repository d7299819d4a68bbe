//! Limits how long an answer may stay unread.

use std::{
    future::Future as _,
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::time::{Sleep, sleep};

/// Limits how long we wait for the other side to read, because hyper would wait for ever.
pub(crate) struct Patience {
    pause: Duration,
    until: Option<Pin<Box<Sleep>>>,
}

impl Patience {
    pub(crate) fn new(pause: Duration) -> Self {
        Self { pause, until: None }
    }

    /// Passes on the outcome of a write, or fails if nothing was read for too long.
    pub(crate) fn with<T>(
        &mut self,
        context: &mut Context<'_>,
        came: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if came.is_ready() {
            self.until = None;
            return came;
        }
        let until = self.until.get_or_insert_with(|| Box::pin(sleep(self.pause)));
        ready!(until.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the other side doesn't read what is sent")))
    }
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _, duplex},
        time::{Instant, timeout},
    };

    use super::*;
    use crate::{intake::Room, recorder::Recorder};

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_is_not_read_is_not_held_for_ever() {
        let (ours, mut theirs) = duplex(16);
        let pause = Duration::from_secs(30);
        let (mut recorder, _heads) = Recorder::new(ours, None, pause, Room::new(1_024));
        let begun = Instant::now();
        let reading = async {
            // The other side is slow, but it reads.
            for _ in 0..4 {
                tokio::time::advance(pause / 2).await;
                theirs.read_exact(&mut [0; 16]).await.unwrap();
            }
            theirs
        };
        let writing = timeout(10 * pause, recorder.write_all(&[0; 100]));
        let (written, _theirs) = tokio::join!(writing, reading);
        let error = written.expect("it comes to an end").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(begun.elapsed() >= 3 * pause, "not before it stopped reading: {:?}", begun.elapsed());
    }
}
