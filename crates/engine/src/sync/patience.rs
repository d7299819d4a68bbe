//! How long a sync waits for an API that doesn't answer well.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use hookmitt_sync::CallError;

/// How often a call is tried again that may pass.
const TRIES: u32 = 3;

/// How long to wait before the first of these, if the API doesn't say.
const FIRST: Duration = Duration::from_secs(1);

/// How long a sync waits altogether.
#[derive(Debug)]
pub(super) struct Patience {
    left: AtomicU64,
}

impl Patience {
    /// Waits for so long altogether, and no longer.
    pub(super) fn of(limit: Duration) -> Self {
        Self { left: AtomicU64::new(u64::try_from(limit.as_millis()).unwrap_or(u64::MAX)) }
    }

    /// Returns how long to wait before a call is tried again that failed after that many earlier tries. `None` if it
    /// isn't tried again.
    pub(super) fn wait(&self, error: &CallError, tries: u32) -> Option<Duration> {
        if !error.may_pass() {
            return None;
        }
        let is_limit = matches!(error, CallError::Limited { .. });
        // A rate limit that says when it ends is waited for as often as it takes.
        if tries >= TRIES && !(is_limit && error.after().is_some()) {
            return None;
        }
        let backoff = FIRST * 2_u32.pow(tries.min(6));
        let wait = error.after().unwrap_or_else(|| backoff.mul_f64(0.5 + rand::random::<f64>() / 2.0));
        let millis = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX).max(1);
        let taken =
            self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(millis));
        taken.ok().map(|_| wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_pass_is_waited_for_but_not_for_ever() {
        let patience = Patience::of(Duration::from_secs(100));
        let limited = |seconds| CallError::Limited { after: Some(Duration::from_secs(seconds)), said: None };
        assert_eq!(patience.wait(&limited(60), 9), Some(Duration::from_secs(60)));
        assert_eq!(patience.wait(&limited(60), 0), None, "40 s are left");
        assert_eq!(patience.wait(&limited(30), 0), Some(Duration::from_secs(30)));
        assert!(patience.wait(&CallError::Slow, 0).is_some());
        assert_eq!(patience.wait(&CallError::Slow, TRIES), None);
        assert_eq!(patience.wait(&CallError::Unauthorized(None), 0), None);
    }
}
