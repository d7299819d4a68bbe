//! How long something took.

use std::time::{Duration, Instant};

/// What was timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// A request, from when all of it was there to the commit that made it an event.
    Capture,
    /// An attempt at a delivery, until its outcome was known.
    Delivery,
}

/// When something was done, for which source, and how long it took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Took {
    pub(crate) kind: Kind,
    pub(crate) source: i64,
    /// By the wall clock, in microseconds.
    pub(crate) at: i64,
    pub(crate) time: Time,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Time {
    /// It is over.
    Known(Duration),
    /// It is over with the commit.
    Since(Instant),
}

impl Took {
    /// An attempt that is over.
    pub(crate) fn delivery(source: i64, at: i64, duration: Duration) -> Self {
        Self { kind: Kind::Delivery, source, at, time: Time::Known(duration) }
    }

    /// A request that the commit stores.
    pub(crate) fn capture(source: i64, at: i64, since: Instant) -> Self {
        Self { kind: Kind::Capture, source, at, time: Time::Since(since) }
    }
}

impl Time {
    /// Returns how long it took, if it is over now.
    pub(crate) fn now(self) -> Duration {
        match self {
            Self::Known(duration) => duration,
            Self::Since(instant) => instant.elapsed(),
        }
    }
}
