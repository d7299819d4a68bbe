//! Delivers the events of a made inbox to nobody: each delivery is claimed, and ends as real ones do.

use std::time::Duration;

use bytes::Bytes;
use futures_util::future::try_join_all;
use hookmitt_clock::{Clock as _, HandClock};
use hookmitt_event::{Attempt, HeaderLines, OrderMode, ResponseHead, TargetId};
use hookmitt_inbox::{Claiming, Finish, Inbox, InboxError, Next};
use rand::{RngExt as _, SeedableRng as _, rngs::SmallRng};

/// How many deliveries of a target are under way at once: so many share a commit.
const LANES: u16 = 16;

/// Longer than any retry waits, so that none counts as put off by a wrong clock.
const FOREVER: Duration = Duration::from_secs(400 * 86_400);

/// Decides how deliveries end, by seed, event and attempt alone.
#[derive(Clone)]
pub(super) struct Deliverer {
    pub(super) seed: u64,
    pub(super) clock: HandClock,
}

impl Deliverer {
    /// Ends every delivery that waits for these targets.
    pub(super) async fn deliver(&self, inbox: &Inbox, targets: &[TargetId]) -> Result<(), InboxError> {
        let lanes = targets.iter().flat_map(|target| (0..LANES).map(|_| self.lane(inbox, *target)));
        try_join_all(lanes).await?;
        Ok(())
    }

    async fn lane(&self, inbox: &Inbox, target: TargetId) -> Result<(), InboxError> {
        let claiming = Claiming { target, order: OrderMode::Parallel(LANES), longest: FOREVER };
        let mut claimed = match inbox.claim(claiming).await? {
            Next::Claimed(claimed) => Some(claimed),
            Next::In(_) | Next::LookAgain | Next::Nothing => None,
        };
        while let Some(delivery) = claimed {
            let end = self.end(delivery.seq, delivery.delivery.number, delivery.attempt);
            claimed = inbox.finish(&delivery, end, Some(claiming)).await?.next;
        }
        Ok(())
    }

    /// Returns how an attempt ends, by the event's sequence number and the delivery's and the attempt's own.
    pub(super) fn end(&self, seq: i64, number: u32, tried: u32) -> Finish {
        let mut random = SmallRng::seed_from_u64(self.seed ^ (seq.unsigned_abs() << 8 | u64::from(number)));
        let fate = random.random_range(0..1_000);
        let mut random = SmallRng::seed_from_u64(random.random::<u64>() ^ u64::from(tried));
        let mut attempt = |status| self.attempt(tried, status, &mut random);
        match (fate, tried) {
            (0..10, _) => Finish::Final(attempt(Some([400, 404, 410, 422][fate % 4]))),
            (10..22, 5..) => Finish::Dead(attempt(Some(500))),
            (10..22, _) => Finish::Retry(attempt([Some(500), Some(503), None][fate % 3]), Duration::ZERO),
            (22..50, 1) => Finish::Retry(attempt(Some(503)), Duration::ZERO),
            (50..58, 1) => Finish::Retry(attempt(None), Duration::ZERO),
            _ => Finish::Completed(attempt(Some(if fate % 10 == 9 { 204 } else { 200 }))),
        }
    }

    /// Returns an attempt that was answered with this status, or not at all.
    fn attempt(&self, number: u32, status: Option<u16>, random: &mut SmallRng) -> Attempt {
        let micros = 2_000.0 * (6.0 * random.random::<f64>()).exp();
        let duration = if status.is_some() { micros as u64 } else { 30_000_000 };
        let body = match status {
            None | Some(204) => Bytes::new(),
            Some(200) => Bytes::from_static(br#"{"received":true}"#),
            Some(status) => {
                Bytes::from(format!(r#"{{"error":"{status}","trace":"{:016x}"}}"#, random.random::<u64>()))
            }
        };
        let lines =
            [("content-type", "application/json".to_owned()), ("content-length", body.len().to_string())];
        let headers = HeaderLines::from_pairs(lines).expect("header lines");
        Attempt {
            number,
            started_at: self.clock.now(),
            duration: Duration::from_micros(duration),
            sent: true,
            response: status.map(|status| ResponseHead { status, headers }),
            body,
            body_truncated: false,
            error: status.is_none().then(|| "no answer within 30 s".to_owned()),
        }
    }
}
