//! One sync, from its window to its report.

use std::{collections::HashSet, sync::Arc, time::Duration};

use hookmitt_event::{Explain, Slug, SyncDelivery, Timestamp};
use hookmitt_inbox::{NewReport, SyncReport};
use hookmitt_sync::Window;
use tokio::sync::mpsc::Sender;

use super::{
    asked::{AskedBy, SyncAsked},
    lister::Lister,
    patience::Patience,
    progress::Progress,
    set_up::SetUp,
    syncing::Syncing,
    taking_in::{TakingIn, objects_of},
};
use crate::EngineError;

/// How far back a sync looks that isn't told otherwise.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// How far a sync looks back before the end of the one before it: what a provider's list shows late isn't missed.
const OVERLAP: Duration = Duration::from_secs(60 * 60);

/// How long before a window events are looked at for the objects that are listed in it.
const BEFORE: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// How long a sync waits for an API altogether: if a person asked for it, and if nobody did.
const WAITS: [Duration; 2] = [Duration::from_secs(15 * 60), Duration::from_secs(2 * 60)];

impl Syncing {
    /// Begins the report of a job, or goes on with it.
    pub(crate) async fn begin(&self, job: i64, asked: &SyncAsked) -> Result<SyncReport, EngineError> {
        let set_up = self.set_up(&asked.source).await?;
        let window = self.window(&set_up, asked).await?;
        let new = NewReport {
            source: set_up.known.source.row,
            job,
            since: window.since,
            until: window.until,
            dry_run: asked.dry_run,
        };
        Ok(self.base().inbox.begin_report(new).await?)
    }

    /// Lists, compares and adds. How far it is is sent to `tell` after each page.
    ///
    /// # Errors
    /// Fails if the API has no good answer, or the inbox fails. What was added until then stays.
    pub(crate) async fn run(
        &self,
        asked: &SyncAsked,
        report: &SyncReport,
        tell: Sender<Progress>,
    ) -> Result<Progress, EngineError> {
        let set_up = self.set_up(&asked.source).await?;
        let patience = Patience::of(WAITS[usize::from(asked.by == AskedBy::Schedule)]);
        let window = Window { since: report.since, until: report.until };
        let above = self.base().inbox.last_seq().await?;
        let mut taking_in = TakingIn {
            syncing: self,
            set_up: &set_up,
            patience: &patience,
            report: report.id,
            dry_run: report.dry_run,
            delivers_from: self.delivers_from(&set_up, asked).await?,
            above,
            objects: objects_of(self, &set_up, before(window.since, BEFORE)).await?,
            seen: HashSet::new(),
            missing: Vec::new(),
            held: 0,
            added: 0,
            waiting: 0,
            listed: false,
            failed: None,
            tell,
        };
        let mut lister = Lister::begin(&set_up, window, &patience, Arc::clone(&self.base().clock));
        while let Some(items) = lister.next().await? {
            taking_in.compare(items).await?;
            taking_in.tell(taking_in.missing.len()).await;
            if !set_up.connector.list.newest_first {
                taking_in.add().await?;
            }
        }
        taking_in.listed = true;
        taking_in.add().await?;
        match taking_in.failed.take() {
            Some(error) => Err(error),
            None => Ok(taking_in.progress(0)),
        }
    }

    /// Ends a report.
    pub(crate) async fn end(
        &self,
        report: &SyncReport,
        why: Option<&EngineError>,
    ) -> Result<SyncReport, EngineError> {
        let why = why.map(|error| match hint_for(error, &report.source) {
            Some(hint) => format!("{error}; {hint}"),
            None => error.to_string(),
        });
        Ok(self.base().inbox.end_report(report.id, why).await?)
    }

    /// Returns the time that a sync looks at: the last day, or since an hour before the end of the last complete sync,
    /// but no longer than the provider lists.
    async fn window(&self, set_up: &SetUp, asked: &SyncAsked) -> Result<Window, EngineError> {
        let now = self.base().now();
        let until = asked.until.unwrap_or(now);
        let since = match asked.since {
            Some(since) => since,
            None => {
                let synced = self.base().inbox.synced(set_up.known.source.row).await?.until;
                let day = before(until, DAY);
                synced.map_or(day, |synced| before(synced, OVERLAP).min(day))
            }
        };
        let longest = set_up.connector.days.map_or(90, u64::from);
        let earliest = before(now, Duration::from_secs(longest * 24 * 60 * 60));
        let since = since.max(earliest);
        if since >= until {
            let name = &set_up.connector.name;
            let message = format!("{name} lists the last {longest} days, and that time is earlier or empty");
            return Err(EngineError::BadInput(message));
        }
        Ok(Window { since, until })
    }

    /// Returns from which moment on what is missing is delivered by itself; `None` if it is kept.
    async fn delivers_from(
        &self,
        set_up: &SetUp,
        asked: &SyncAsked,
    ) -> Result<Option<Timestamp>, EngineError> {
        let source = &set_up.known.source;
        match asked.deliver {
            Some(true) => return Ok(Some(Timestamp::from_micros(i64::MIN))),
            Some(false) => return Ok(None),
            None if source.sync.delivery != SyncDelivery::Deliver => return Ok(None),
            None => {}
        }
        // What the first sync finds is shown before it is delivered, and what is older than the source is only kept.
        match self.base().inbox.synced(source.row).await?.until {
            Some(_) => Ok(Some(self.base().inbox.source_made_at(source.row).await?)),
            None => Ok(None),
        }
    }
}

/// Returns what to do about an error that a source has, with the source's name in it.
pub(super) fn hint_for(error: &impl Explain, slug: &Slug) -> Option<String> {
    error.hint().map(|hint| hint.replace("SLUG", slug.as_str()))
}

fn before(at: Timestamp, by: Duration) -> Timestamp {
    let micros = i64::try_from(by.as_micros()).unwrap_or(i64::MAX);
    Timestamp::from_micros(at.as_micros().saturating_sub(micros))
}
