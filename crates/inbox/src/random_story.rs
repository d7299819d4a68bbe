//! A story in which anything may happen, for tests of what is counted beside the events.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use hookmitt_clock::MachineClock;
use hookmitt_event::{
    Attempt, DedupeKey, EventId, NoConnection, OnDuplicate, OrderMode, Silence, TargetId, TargetKind,
    Timestamp, Verdict,
};
use rand::{Rng as _, RngExt as _, SeedableRng as _, rngs::StdRng};

use crate::{
    Claiming, Finish, HeldBack, Inbox, KeyTerms, NewEvent, Next, Rejudged, Route, SourceSettings,
    TargetSettings, purge, samples,
};

/// Does at random what can be done with events.
pub(crate) struct Story {
    pub(crate) inbox: Inbox,
    pub(crate) rng: StdRng,
    now: i64,
    /// How much later each moment is than the one before, in microseconds.
    pub(crate) pace: i64,
    sources: Vec<i64>,
    targets: Vec<TargetId>,
    events: Vec<EventId>,
}

impl Story {
    pub(crate) async fn begin(folder: &std::path::Path, seed: u64) -> Self {
        let inbox = Inbox::open(folder, Arc::new(MachineClock)).unwrap();
        let (mut sources, mut targets, now) = (Vec::new(), Vec::new(), Timestamp::from_micros(1));
        for name in ["one", "two"] {
            let slug: hookmitt_event::Slug = name.parse().unwrap();
            sources.push(
                inbox.add_source(slug.clone(), SourceSettings::default(), false, now).await.unwrap().row,
            );
            let settings = TargetSettings { order: OrderMode::Parallel(9), ..TargetSettings::default() };
            let url = format!("http://{name}.example/");
            targets
                .push(inbox.add_target(Some(slug), url, settings, TargetKind::Kept, now).await.unwrap().id);
        }
        Self {
            inbox,
            rng: StdRng::seed_from_u64(seed),
            now: 1,
            pace: 1,
            sources,
            targets,
            events: Vec::new(),
        }
    }

    fn moment(&mut self) -> Timestamp {
        self.now += self.pace;
        Timestamp::from_micros(self.now)
    }

    fn any(&mut self) -> Option<EventId> {
        let place = self.rng.random_range(0..self.events.len().max(1));
        self.events.get(place).copied()
    }

    fn verdict(&mut self) -> Verdict {
        Verdict::ALL[self.rng.random_range(0..3)].0
    }

    pub(crate) async fn store(&mut self) {
        let key = self.rng.random_range(0..12_u8);
        let (verdict, received_at) = (self.verdict(), self.moment());
        let source = self.sources[self.rng.random_range(0..2)];
        let new = NewEvent {
            verdict,
            dedupe_key: DedupeKey::Id(key.to_string()),
            key_hash: [key; 16],
            may_own: verdict == Verdict::Valid,
            route: if self.rng.random() { Route::Targets } else { Route::AwaitsVerdict },
            ..samples::event(source, received_at)
        };
        let new = samples::with_body(new, vec![b'x'; self.rng.random_range(0..40)]);
        self.events.push(self.inbox.store(new).await.unwrap().id);
    }

    async fn judge(&mut self, id: EventId) {
        let (was, verdict, hash) = (self.verdict(), self.verdict(), [self.rng.random_range(0..12); 16]);
        let key =
            Some(KeyTerms { hash, may_own: verdict == Verdict::Valid, by_content: false, single_use: None });
        let held = HeldBack::Send { on_duplicate: OnDuplicate::default() };
        let rejudged = Rejudged { id, was, verdict, causes: Vec::new(), key, held, finds_provider: None };
        self.inbox.rejudge(vec![rejudged]).await.unwrap();
    }

    async fn claim(&mut self) -> Next {
        let target = self.targets[self.rng.random_range(0..2)];
        let claiming = Claiming { target, order: OrderMode::Parallel(9), longest: Duration::ZERO };
        self.inbox.claim(claiming).await.unwrap()
    }

    async fn deliver(&mut self) {
        let now = self.moment();
        let Next::Claimed(claimed) = self.claim().await else { return };
        let attempt = Attempt {
            number: claimed.attempt,
            started_at: now,
            duration: Duration::ZERO,
            sent: true,
            response: None,
            body: Bytes::new(),
            body_truncated: false,
            error: Some("no answer".to_owned()),
        };
        let end = match self.rng.random_range(0..5) {
            0 => Finish::Retry(attempt, Duration::ZERO),
            1 => Finish::Final(attempt),
            2 => Finish::Dead(attempt),
            3 => Finish::Unreachable(nobody()),
            _ => Finish::Completed(attempt),
        };
        self.inbox.finish(&claimed, end, None).await.unwrap();
    }

    /// Deletes an event for good, from wherever it is.
    async fn purge(&mut self, id: EventId) {
        let seq = self.inbox.event(id).await.unwrap().seq;
        let purged = self.inbox.write(move |batch| purge::purge(batch, &[seq])).await.unwrap();
        assert_eq!((purged.done, purged.gone), (1, 1), "nothing is being sent");
        self.events.retain(|other| *other != id);
    }

    pub(crate) async fn step(&mut self) {
        let (dice, id) = (self.rng.next_u32() % 24, self.any());
        match (dice, id) {
            (0..=6, _) | (_, None) => self.store().await,
            (7, Some(id)) => drop(self.inbox.set_deleted(id, Some(Timestamp::from_micros(5))).await.unwrap()),
            (8, Some(id)) => drop(self.inbox.set_deleted(id, None).await.unwrap()),
            (9..=11, Some(id)) => self.judge(id).await,
            (12, Some(id)) => drop(self.inbox.add_replays(id, self.targets.clone()).await.unwrap()),
            (13, Some(id)) => drop(self.inbox.retry(id).await.unwrap()),
            (14, Some(id)) => self.purge(id).await,
            (15, _) => {
                let down = Some((Timestamp::from_micros(1), nobody()));
                let target = self.targets[self.rng.random_range(0..2)];
                self.inbox.set_down(target, down.filter(|_| self.now % 2 == 0)).await.unwrap();
            }
            (16, _) => {
                let target = self.targets[self.rng.random_range(0..2)];
                self.inbox.give_up_waiting(target, "nobody expects it".to_owned()).await.unwrap();
            }
            (17, Some(id)) => {
                let replays = self.inbox.add_replays(id, self.targets.clone()).await.unwrap();
                self.inbox.stop(&replays).await.unwrap();
            }
            (18, _) => {
                if let Next::Claimed(claimed) = self.claim().await
                    && self.rng.random()
                {
                    let (event, at) = (claimed.delivery.event, self.moment());
                    self.inbox.set_deleted(event, Some(at)).await.unwrap();
                }
                self.inbox.settle_cut_off(None).await.unwrap();
            }
            _ => self.deliver().await,
        }
    }
}

fn nobody() -> Silence {
    Silence { why: NoConnection::ConnectionRefused, error: "nobody".to_owned() }
}
