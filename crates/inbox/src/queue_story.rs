//! An inbox with one source and one target, for tests of what is sent next.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use hookmitt_clock::{Clock as _, HandClock};
use hookmitt_event::{Attempt, DedupeKey, EventId, Facts, OrderMode, TargetId, TargetKind, Timestamp};

use crate::{Claimed, Claiming, Finish, Inbox, NewEvent, Next, SourceSettings, TargetSettings, samples};

pub(crate) struct Story {
    pub(crate) inbox: Inbox,
    pub(crate) clock: HandClock,
    pub(crate) source: i64,
    pub(crate) target: TargetId,
    pub(crate) order: OrderMode,
    pub(crate) folder: tempfile::TempDir,
}

impl Story {
    pub(crate) async fn begin(order: OrderMode) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = HandClock::at(Timestamp::from_seconds(1_800_000_000));
        let inbox = Inbox::open(folder.path(), Arc::new(clock.clone())).unwrap();
        let (slug, now): (hookmitt_event::Slug, _) = ("one".parse().unwrap(), clock.now());
        let source = inbox.add_source(slug.clone(), SourceSettings::default(), false, now).await.unwrap().row;
        let settings = TargetSettings { order, ..TargetSettings::default() };
        let url = "http://one.example/".to_owned();
        let target = inbox.add_target(Some(slug), url, settings, TargetKind::Kept, now).await.unwrap().id;
        Self { inbox, clock, source, target, order, folder }
    }

    pub(crate) async fn arrives(&self, object: Option<&str>) -> EventId {
        let id = EventId::fresh();
        let new = NewEvent {
            id,
            facts: Facts { object: object.map(str::to_owned), ..Facts::default() },
            dedupe_key: DedupeKey::Id(id.to_string()),
            key_hash: *id.as_bytes(),
            ..samples::event(self.source, self.clock.now())
        };
        self.inbox.store(new).await.unwrap();
        id
    }

    /// Stores another event with the key of an earlier one.
    pub(crate) async fn repeats(&self, first: EventId) -> EventId {
        self.repeats_as(first, samples::event(self.source, self.clock.now())).await
    }

    /// Like [`repeats`](Self::repeats), with another body.
    pub(crate) async fn repeats_with(&self, first: EventId, body: &'static str) -> EventId {
        let event = samples::event(self.source, self.clock.now());
        self.repeats_as(first, samples::with_body(event, body)).await
    }

    async fn repeats_as(&self, first: EventId, event: NewEvent) -> EventId {
        let (dedupe_key, key_hash) = (DedupeKey::Id(first.to_string()), *first.as_bytes());
        self.inbox.store(NewEvent { dedupe_key, key_hash, ..event }).await.unwrap().id
    }

    pub(crate) fn claiming(&self) -> Claiming {
        Claiming { target: self.target, order: self.order, longest: Duration::from_secs(3_600) }
    }

    pub(crate) async fn next(&self) -> Next {
        loop {
            match self.inbox.claim(self.claiming()).await.unwrap() {
                Next::LookAgain => {}
                next => return next,
            }
        }
    }

    pub(crate) async fn claimed(&self) -> Option<Claimed> {
        if let Next::Claimed(claimed) = self.next().await { Some(claimed) } else { None }
    }

    pub(crate) async fn wait(&self) -> Option<Duration> {
        if let Next::In(wait) = self.next().await { Some(wait) } else { None }
    }

    pub(crate) fn attempt(&self, claimed: &Claimed) -> Attempt {
        Attempt {
            number: claimed.attempt,
            started_at: self.clock.now(),
            duration: Duration::ZERO,
            sent: true,
            response: None,
            body: Bytes::new(),
            body_truncated: false,
            error: Some("no answer".to_owned()),
        }
    }

    pub(crate) async fn fails(&self, claimed: &Claimed, wait: Duration) {
        let end = Finish::Retry(self.attempt(claimed), wait);
        assert!(self.inbox.finish(claimed, end, None).await.unwrap().stored);
    }

    pub(crate) async fn completes(&self, claimed: &Claimed) {
        let end = Finish::Completed(self.attempt(claimed));
        assert!(self.inbox.finish(claimed, end, None).await.unwrap().stored);
    }

    /// Ends a claim with an answer of that text.
    pub(crate) async fn answers(&self, claimed: &Claimed, text: &str) {
        let body = Bytes::from(text.to_owned());
        let end = Finish::Completed(Attempt { body, ..self.attempt(claimed) });
        assert!(self.inbox.finish(claimed, end, None).await.unwrap().stored);
    }

    /// Opens the same inbox as a new process would, after this one was killed.
    pub(crate) fn restarted(&self) -> Inbox {
        Inbox::open(self.folder.path(), Arc::new(self.clock.clone())).unwrap()
    }
}
