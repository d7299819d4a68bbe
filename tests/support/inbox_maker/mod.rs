//! Fills a data directory with events as a real one has them: the catalogue's samples with fresh contents, signed by
//! their providers' public test secrets, judged and stored by the product's own code, and delivered to targets.
//!
//! The same plan makes the same inbox, but for what SQLite and the writer decide by themselves (the instance's name,
//! tokens of claims).

mod body;
mod deliver;
mod fresh;
mod grow;
mod maker;
mod marking;
mod mix;
mod random;
mod sizes;
mod words;

use std::{path::Path, sync::Arc, thread, time::Duration};

use futures_util::future::try_join_all;
use hookmitt_clock::HandClock;
use hookmitt_event::Timestamp;
use hookmitt_inbox::{Inbox, InboxError, NewEvent};
use sha2::{Digest as _, Sha256};
use tokio::sync::mpsc;

pub use sizes::Sizes;
pub use words::{ABSENT_WORD, COMMON_WORD, RARE_WORD};

use deliver::Deliverer;
use maker::Maker;

/// The time over which the events of an inbox are spread.
const SPAN: Duration = Duration::from_secs(90 * 86_400);

/// The share of its events, the latest, that one of the targets doesn't get, because it is paused.
const HELD_UP: f64 = 0.02;

/// How many events are stored and then delivered at a time, at most.
const AT_ONCE: u64 = 1_024;

/// What an inbox is filled with.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// How many events.
    pub events: u64,
    /// Which ones.
    pub seed: u64,
    /// When the last one is received. The others are spread over the 90 days before.
    pub until: Timestamp,
    /// How large they are.
    pub sizes: Sizes,
    /// Whether the store's own clock passes with the events, too. If not, they all count as stored just now, so that
    /// retention takes none of them.
    pub aged: bool,
}

impl Plan {
    /// Makes a plan for this many usual events, the last of which is received now.
    pub fn of(events: u64) -> Self {
        Self { events, seed: 0x5eed, until: Timestamp::now(), sizes: Sizes::Usual, aged: false }
    }

    /// Returns when the event of this number, from 0, is received.
    fn moment(&self, number: u64) -> Timestamp {
        let left = self.events.saturating_sub(number + 1);
        self.until.before(SPAN.mul_f64(left as f64 / self.events.max(1) as f64))
    }

    /// Returns a hash of the beginning of such an inbox. Another one means that the generator has changed.
    pub fn fingerprint(&self) -> String {
        let plan = Self { until: Timestamp::from_seconds(1_800_000_000), ..*self };
        let deliverer = Deliverer { seed: self.seed, clock: HandClock::at(plan.until) };
        let rows: Vec<i64> = (1..).take(mix::MIX.len()).collect();
        let mut hash = Sha256::new_with_prefix(format!("{:?}", mix::MIX));
        for (event, seq) in Maker::new(plan, &rows).take(500).zip(1..) {
            hash.update(event.request.headers.as_wire());
            hash.update(&event.request.body);
            hash.update(format!("{:?} {:?} {:?}", event.verdict, event.facts, deliverer.end(seq, 1, 1)));
        }
        hash.update(format!("{:?}", (1..1_000).map(marking::marks).collect::<Vec<_>>()));
        hex::encode(&hash.finalize()[..8])
    }
}

/// What an inbox was filled with.
#[derive(Clone, Copy, Debug, Default)]
pub struct Filled {
    /// How many bytes the bodies have, as they were captured.
    pub body_bytes: u64,
    /// How many bytes the header lines have.
    pub head_bytes: u64,
}

/// Fills a data directory, which must not have an inbox yet. `made` is told after each step how many events are there.
///
/// # Errors
/// Fails if the inbox does.
pub async fn fill_inbox(
    directory: &Path,
    plan: Plan,
    mut made: impl FnMut(u64),
) -> Result<Filled, InboxError> {
    let clock = HandClock::at(plan.moment(0));
    let inbox = Inbox::open(directory, Arc::new(clock.clone()))?;
    let (sources, targets) = mix::add(&inbox, plan.moment(0)).await?;
    let rows: Vec<i64> = sources.iter().map(|source| source.row).collect();
    let step = (plan.events / 20).clamp(1, AT_ONCE);
    let mut events = made_ahead(Maker::new(plan, &rows), plan.events, step);
    let deliverer = Deliverer { seed: plan.seed, clock: clock.clone() };
    let (mut count, mut at, mut filled) = (0, plan.moment(0), Filled::default());
    while let Some(some) = events.recv().await {
        let Some(last) = some.last().map(|event| event.received_at) else { break };
        if plan.aged {
            clock.pass(last.since(at))
        } else {
            clock.set(last)
        }
        at = last;
        let (first, ids) = (count + 1, some.iter().map(|event| event.id).collect::<Vec<_>>());
        count += some.len() as u64;
        filled.add(&some);
        try_join_all(some.into_iter().map(|event| inbox.store(event))).await?;
        marking::mark(&inbox, &ids, first).await?;
        deliverer.deliver(&inbox, &targets.running).await?;
        if (count as f64) < plan.events as f64 * (1.0 - HELD_UP) {
            deliverer.deliver(&inbox, &[targets.paused]).await?;
        }
        made(count);
    }
    assert_eq!(count, plan.events, "the thread that makes the events has failed");
    mix::pause(&inbox, targets.paused).await?;
    inbox.keep_clock().await?;
    Ok(filled)
}

impl Filled {
    fn add(&mut self, events: &[NewEvent]) {
        for event in events {
            self.body_bytes += event.request.body.len() as u64;
            self.head_bytes += event.request.headers.as_wire().len() as u64;
        }
    }
}

/// Makes events on a thread of their own, some ahead of those that are stored.
fn made_ahead(mut maker: Maker, events: u64, step: u64) -> mpsc::Receiver<Vec<NewEvent>> {
    let (sender, receiver) = mpsc::channel(2);
    thread::spawn(move || {
        let mut left = events;
        while left > 0 {
            let some: Vec<NewEvent> = maker.by_ref().take(left.min(step) as usize).collect();
            left -= some.len() as u64;
            if sender.blocking_send(some).is_err() {
                return;
            }
        }
    });
    receiver
}
