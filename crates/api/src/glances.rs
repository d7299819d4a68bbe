//! Finds the events of a live stream whose glance has changed.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    time::Duration,
};

use hookmitt_engine::{Change, Engine, EventRef, GapView, InboxError, Listed, Refused};
use hookmitt_event::{EventId, Glance};
use tokio::{
    sync::broadcast::{
        Receiver,
        error::{RecvError, TryRecvError},
    },
    time::{Instant, timeout_at},
};

use crate::{event_json::EventJson, events::row};

/// How long a stream collects changes before it reads events again. After a pause, the first change is handled at once.
const REST: Duration = Duration::from_millis(50);

/// The maximum number of changed events and refused requests that are collected before the stream reads events again.
const MOST: usize = 1_000;

/// The maximum number of new events that are read at once.
const PIECE: u32 = 500;

/// How many of the newest events are remembered with their glances. Their glances may change without a change that
/// names them, for example if their target is paused or the stream fell behind.
const REMEMBERED: usize = 500;

/// The events that a stream has shown, and those that may have changed since.
#[derive(Debug)]
pub(crate) struct Glances {
    shown: BTreeMap<i64, (EventRef, Glance)>,
    named: HashSet<EventId>,
    any: bool,
    told: Told,
    looked: Option<Instant>,
}

/// Changes other than those of events.
#[derive(Debug, Default)]
pub(crate) struct Told {
    /// Whether sources, secrets or targets changed.
    pub(crate) config: bool,
    /// The requests that were refused.
    pub(crate) refused: Vec<Refused>,
    /// The ids of the tunnels that changed.
    pub(crate) tunnels: BTreeSet<i64>,
    /// The numbers of the jobs that changed.
    pub(crate) jobs: BTreeSet<i64>,
    /// The gaps that ended.
    pub(crate) gaps: Vec<GapView>,
    /// How many changes were missed because they came too fast.
    pub(crate) missed: u64,
}

impl Glances {
    /// Starts as if the newest events had just been shown. Also returns the newest sequence number.
    pub(crate) async fn of_newest(engine: &Engine) -> Result<(Self, i64), InboxError> {
        let last = engine.inbox().last_seq().await?;
        let remembered = i64::try_from(REMEMBERED).unwrap_or(i64::MAX);
        let limit = u32::try_from(REMEMBERED).unwrap_or(u32::MAX);
        let newest = engine.inbox().newer_glanced(last - remembered, limit).await?;
        let mut glances = Self {
            shown: BTreeMap::new(),
            named: HashSet::new(),
            any: false,
            told: Told::default(),
            looked: None,
        };
        glances.remember(&newest);
        Ok((glances, last))
    }

    /// Waits for a change, and collects further changes until [`REST`] after the last look has passed. Returns `None`
    /// if no change will ever come.
    pub(crate) async fn gather(&mut self, changes: &mut Receiver<Change>) -> Option<()> {
        self.note(changes.recv().await)?;
        let rested = self.looked.map_or_else(Instant::now, |looked| looked + REST);
        while !self.is_full()
            && let Ok(change) = timeout_at(rested, changes.recv()).await
        {
            self.note(change)?;
        }
        while !self.is_full() {
            match changes.try_recv() {
                Ok(change) => self.note(Ok(change))?,
                Err(TryRecvError::Lagged(missed)) => self.note(Err(RecvError::Lagged(missed)))?,
                Err(TryRecvError::Empty | TryRecvError::Closed) => break,
            }
        }
        self.looked = Some(Instant::now());
        Some(())
    }

    fn is_full(&self) -> bool {
        self.named.len() + self.told.refused.len() >= MOST
    }

    fn note(&mut self, change: Result<Change, RecvError>) -> Option<()> {
        match change {
            Ok(Change::Stored(_)) => {} // new events are read every time anyway
            Ok(Change::Delivery(id)) => drop(self.named.insert(id.event)),
            Ok(Change::Event(id)) => drop(self.named.insert(id)),
            Ok(Change::Many(events)) => self.told.missed += events,
            Ok(Change::Config) => (self.told.config, self.any) = (true, true),
            Ok(Change::Refused(refused)) => self.told.refused.push(*refused),
            Ok(Change::Tunnel(id)) => drop(self.told.tunnels.insert(id)),
            Ok(Change::Job(id)) => drop(self.told.jobs.insert(id)),
            Ok(Change::Gap(gap)) => self.told.gaps.push(*gap),
            Err(RecvError::Lagged(missed)) => {
                self.any = true;
                self.told.missed += missed;
            }
            Err(RecvError::Closed) => return None,
        }
        Some(())
    }

    /// Takes the changes other than those of events that were collected since the last call.
    pub(crate) fn told(&mut self) -> Told {
        std::mem::take(&mut self.told)
    }

    /// Returns the events after `after`, and the earlier events that changed. Each event appears once.
    pub(crate) async fn rows(
        &mut self,
        engine: &Engine,
        after: &mut i64,
    ) -> Result<Vec<EventJson>, InboxError> {
        let mut new = engine.inbox().newer_glanced(*after, PIECE).await?;
        if new.len() == PIECE as usize {
            engine.announce_stored().await.map_err(|_| InboxError::Closed)?;
        }
        *after = new.last().map_or(*after, |listed| listed.event.seq);
        self.name_changed(engine).await?;
        let mut named = engine.inbox().these_glanced(self.named.drain().collect()).await?;
        self.add_firsts(engine, &new, &mut named).await?;
        let fresh: HashSet<_> = new.iter().map(|listed| listed.event.id).collect();
        named.retain(|listed| !fresh.contains(&listed.event.id));
        named.append(&mut new);
        self.remember(&named);
        Ok(named.iter().map(row).collect())
    }

    /// If any event may have changed, finds those remembered events whose glance did change.
    async fn name_changed(&mut self, engine: &Engine) -> Result<(), InboxError> {
        let delivers = *engine.owns_delivery().borrow(); // another process's deliveries are not announced here
        if !std::mem::take(&mut self.any) && delivers {
            return Ok(());
        }
        let places: Vec<_> = self.shown.values().map(|(place, _)| *place).collect();
        let now = engine.inbox().glances(places).await?;
        let changed = self.shown.values().zip(now).filter(|((_, shown), now)| shown != now);
        let changed: Vec<_> = changed.map(|((place, _), _)| place.id).collect();
        self.named.extend(changed);
        Ok(())
    }

    /// Adds the first events of duplicates that came or changed, because a duplicate changes the glance of its first
    /// event.
    async fn add_firsts(
        &self,
        engine: &Engine,
        new: &[Listed],
        named: &mut Vec<Listed>,
    ) -> Result<(), InboxError> {
        let there: HashSet<_> = named.iter().chain(new).map(|listed| listed.event.id).collect();
        let firsts = named.iter().chain(new).filter_map(|listed| listed.event.duplicate_of);
        let firsts: BTreeSet<_> = firsts.filter(|first| !there.contains(first)).collect();
        if !firsts.is_empty() {
            named.extend(engine.inbox().these_glanced(firsts.into_iter().collect()).await?);
        }
        Ok(())
    }

    fn remember(&mut self, listed: &[Listed]) {
        for listed in listed {
            if let Some(glance) = &listed.glance {
                let place = EventRef::from(&listed.event);
                self.shown.insert(place.seq, (place, glance.clone()));
            }
        }
        while self.shown.len() > REMEMBERED {
            self.shown.pop_first();
        }
    }
}
