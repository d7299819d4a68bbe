//! Backup sync, as people ask for it, set it and see it.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use hookmitt_event::{Deed, Explain as _, JobState, Slug, SyncDelivery, SyncSettings, Timestamp};
use hookmitt_inbox::{
    Day, DayPart, Job, ListedPage, ListedPlace, ReportPage, SourceSettings, Subject, SyncReport,
};
use hookmitt_sync::{CallError, Connector, Values, Walk, Window};
use hookmitt_vault::Location;
use serde::Deserialize;
use zeroize::Zeroizing;

use super::{
    SyncError,
    asked::{AskedBy, SyncAsked},
    hurried::{Hurried, USUAL},
    running::hint_for,
    set_up::{connector_of, lacks},
    syncing::Syncing,
    view::{ConnectorView, SyncView},
};
use crate::{
    EngineError,
    jobs::{JobKind, Jobs, Which},
    manage::given,
    settings::ConfiguredSource,
};

/// Backup sync, as people ask for it, set it and see it.
#[derive(Clone, Debug)]
pub struct Sync {
    pub(super) syncing: Arc<Syncing>,
    pub(super) jobs: Jobs,
    pub(super) hurried: Arc<Hurried>,
}

/// What a sync is asked for with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SyncRequest {
    /// The first moment; by default a day ago, or earlier if not everything was looked at since.
    #[schema(value_type = Option<String>, format = "date-time")]
    pub since: Option<Timestamp>,
    /// The first moment that is too late; by default now.
    #[schema(value_type = Option<String>, format = "date-time")]
    pub until: Option<Timestamp>,
    /// Whether what is missing is only shown.
    pub dry_run: bool,
    /// Whether what is missing is delivered; by default what the source is set to.
    pub deliver: Option<bool>,
}

/// A change to how a source is synced. Absent fields stay as they are, and null unsets a field.
#[derive(Clone, Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SyncChange {
    /// A connector of the user's own, instead of the provider's.
    #[serde(deserialize_with = "given")]
    #[schema(value_type = Option<Object>)]
    pub connector: Option<Option<serde_json::Value>>,
    /// What the connector has to know, by name. Null or an empty text unsets one, and those that are not listed stay.
    pub params: BTreeMap<String, Option<String>>,
    /// What is done with an event that was missing.
    pub delivery: Option<SyncDelivery>,
    /// How many seconds pass between two syncs, at least 60; 0 for none; null for an hour.
    #[serde(deserialize_with = "given")]
    pub every_s: Option<Option<u32>>,
}

fn apply(change: SyncChange, sync: &mut SyncSettings) {
    if let Some(connector) = change.connector {
        sync.connector = connector.map(|json| json.to_string());
    }
    if let Some(every) = change.every_s {
        sync.every_s = every;
    }
    sync.delivery = change.delivery.unwrap_or(sync.delivery);
    for (name, value) in change.params {
        match value.filter(|value| !value.is_empty()) {
            Some(value) => sync.params.insert(name, value),
            None => sync.params.remove(&name),
        };
    }
}

/// Fails if a value is given for something that a connector doesn't ask for.
fn ensure_known(
    slug: &Slug,
    params: &BTreeMap<String, Option<String>>,
    connector: Option<&Connector>,
) -> Result<(), SyncError> {
    let known = connector.map_or(&[][..], |connector| &connector.params);
    let is_known = |name: &str| known.iter().any(|param| param.name == name);
    let given = params.iter().filter(|(_, value)| value.as_ref().is_some_and(|value| !value.is_empty()));
    match given.map(|(name, _)| name).find(|name| !is_known(name)) {
        None => Ok(()),
        Some(name) => Err(SyncError::UnknownParam {
            slug: slug.clone(),
            name: name.clone(),
            known: known.iter().map(|param| param.name.clone()).collect(),
        }),
    }
}

impl Sync {
    pub(crate) fn new(syncing: Arc<Syncing>, jobs: Jobs) -> Self {
        Self { syncing, jobs, hurried: Arc::default() }
    }

    /// Returns how every source is synced, by name.
    ///
    /// # Errors
    /// Fails if the list of API keys can't be read, or the inbox fails.
    pub async fn all(&self) -> Result<Vec<SyncView>, EngineError> {
        let config = self.syncing.settings.now();
        let mut places = self.syncing.keys.places().await?;
        let mut views = Vec::with_capacity(config.sources.len());
        for known in config.sources.values() {
            views.push(self.view(known, places.remove(&known.source.slug)).await?);
        }
        views.sort_by(|one, other| one.source.cmp(&other.source));
        Ok(views)
    }

    /// Returns how a source is synced.
    ///
    /// # Errors
    /// Fails if the source is unknown, and like [`all`](Self::all).
    pub async fn one(&self, slug: &Slug) -> Result<SyncView, EngineError> {
        let known = self.syncing.settings.source(slug)?;
        let place = self.syncing.keys.places().await?.remove(slug);
        self.view(&known, place).await
    }

    async fn view(&self, known: &ConfiguredSource, place: Option<Location>) -> Result<SyncView, EngineError> {
        let slug = &known.source.slug;
        let lacks = lacks(known, place.is_some());
        let synced = self.syncing.base().inbox.synced(known.source.row).await?;
        let every_s = known.source.sync.every_s.unwrap_or(USUAL);
        let ago = synced.began_ago.map_or(u64::MAX, |ago| u64::try_from(ago / 1_000_000).unwrap_or(0));
        let due = u64::from(every_s).saturating_sub(ago);
        Ok(SyncView {
            connector: known.connector.as_ref().map(|connector| ConnectorView::of(connector, known)),
            key: place.as_ref().map(|place| match place {
                Location::Keychain => "keychain",
                Location::File => "file",
                Location::Env(_) => "env",
            }),
            key_env: place.and_then(|place| match place {
                Location::Env(name) => Some(name),
                Location::Keychain | Location::File => None,
            }),
            delivery: known.source.sync.delivery,
            every_s,
            due_in_s: (lacks.is_none() && every_s > 0).then_some(due),
            lacks: lacks.map(|error| match error.hint() {
                Some(hint) => format!("{error}; {hint}"),
                None => error.to_string(),
            }),
            synced_until: synced.until,
            failed: synced.failed,
            job: self.open_job(slug).await?.map(|job| job.id),
            source: slug.clone(),
        })
    }

    /// Changes how a source is synced.
    ///
    /// # Errors
    /// Fails if the source is unknown, the connector can't be used, or a parameter isn't one of it.
    pub async fn change(&self, slug: &Slug, change: SyncChange) -> Result<SyncView, EngineError> {
        let known = self.syncing.settings.source(slug)?;
        let connector = match &change.connector {
            Some(Some(json)) => Some(Arc::new(Connector::own(json.clone()).map_err(SyncError::from)?)),
            Some(None) => known.source.provider.as_deref().and_then(hookmitt_sync::connector).cloned(),
            None => known.connector.clone(),
        };
        ensure_known(slug, &change.params, connector.as_deref())?;
        if let Some(Some(1..60)) = change.every_s {
            return Err(EngineError::BadInput("a source can't sync more than once a minute".to_owned()));
        }
        self.set(slug, |sync| apply(change, sync)).await?;
        self.one(slug).await
    }

    async fn set(&self, slug: &Slug, change: impl FnOnce(&mut SyncSettings)) -> Result<(), EngineError> {
        let settings = &self.syncing.settings;
        let stored = settings.base.inbox.sources().await?.into_iter().find(|source| source.slug == *slug);
        let stored = stored.ok_or_else(|| hookmitt_inbox::InboxError::UnknownSource(slug.to_string()))?;
        let mut new = SourceSettings { provider_from: None, ..SourceSettings::from(&stored) };
        change(&mut new.sync);
        settings.base.inbox.set_source(slug.clone(), new).await?;
        settings.reload().await
    }

    /// Stores the API key of a source.
    ///
    /// # Errors
    /// Fails if the source is unknown, if no API key can have that value, or if the vault fails.
    pub async fn set_key(&self, slug: &Slug, value: Zeroizing<Vec<u8>>) -> Result<SyncView, EngineError> {
        if hookmitt_sync::as_key(&value).is_none() {
            let message = "an API key is one line of printable ASCII characters";
            return Err(EngineError::BadInput(message.to_owned()));
        }
        self.bind_key(slug).await?;
        self.syncing.keys.set(slug.clone(), value).await?;
        self.key_changed(slug, Deed::ApiKeySet).await
    }

    /// Has the API key of a source read from an environment variable of the process that serves.
    ///
    /// # Errors
    /// Fails if the source is unknown, or if no environment variable can have that name.
    pub async fn set_key_env(&self, slug: &Slug, name: String) -> Result<SyncView, EngineError> {
        self.bind_key(slug).await?;
        self.syncing.keys.set_env(slug.clone(), name).await?;
        self.key_changed(slug, Deed::ApiKeySet).await
    }

    /// Removes the API key of a source, which isn't synced any more then.
    ///
    /// # Errors
    /// Fails if the source is unknown or has no key, or if the keychain doesn't delete it.
    pub async fn remove_key(&self, slug: &Slug) -> Result<SyncView, EngineError> {
        self.syncing.settings.source(slug)?;
        if !self.syncing.keys.remove(slug.clone()).await? {
            return Err(SyncError::NoKey(slug.clone()).into());
        }
        self.key_changed(slug, Deed::ApiKeyRemoved).await
    }

    /// Binds the key that is about to be stored to the hosts that the connector calls now. The one before is removed
    /// first, so that it is never bound to them.
    async fn bind_key(&self, slug: &Slug) -> Result<(), EngineError> {
        let known = self.syncing.settings.source(slug)?;
        let hosts = connector_of(&known)?.called_hosts();
        if known.source.sync.key_hosts == hosts {
            return Ok(());
        }
        self.syncing.keys.remove(slug.clone()).await?;
        self.set(slug, |sync| sync.key_hosts = hosts).await
    }

    async fn key_changed(&self, slug: &Slug, deed: Deed) -> Result<SyncView, EngineError> {
        let inbox = &self.syncing.base().inbox;
        inbox.record(deed, Subject::source(slug.as_str())).await?;
        inbox.announce_config().await?;
        self.syncing.settings.reload().await?;
        self.one(slug).await
    }

    /// Returns how many API keys are kept in the private file, and where that is.
    pub(crate) fn unencrypted(&self) -> Option<(usize, PathBuf)> {
        self.syncing.keys.unencrypted()
    }

    /// Asks the provider's API whether the key is right, with a request that changes nothing.
    ///
    /// Returns why it isn't, and what to do about it; `None` if it is.
    ///
    /// # Errors
    /// Fails if the source can't be synced, or if the API doesn't answer.
    pub async fn check(&self, slug: &Slug) -> Result<Option<(String, Option<String>)>, EngineError> {
        let set_up = self.syncing.set_up(slug).await?;
        let now = self.syncing.base().now();
        let day = Timestamp::from_micros(now.as_micros() - 24 * 60 * 60 * 1_000_000);
        let place = Walk::begin(set_up.connector.list.next.clone()).place().clone();
        let values = Values {
            params: Some(&set_up.params),
            window: Some(Window { since: day, until: now }),
            place: Some(&place),
            item: None,
        };
        let asked = set_up.connector.check(&values).map_err(SyncError::from)?;
        let refused = match set_up.api.call(asked).await {
            Ok(reply) => set_up.api.refusal(&reply.body).map(|said| CallError::Refused(Some(said))),
            Err(error) if error.may_pass() => return Err(SyncError::from(error).into()),
            Err(error) => Some(error),
        };
        Ok(refused.map(|error| (error.to_string(), hint_for(&error, slug))))
    }

    /// Asks for a source to be synced, as a job. If it is being synced already, or will be, returns that job.
    ///
    /// # Errors
    /// Fails if the source can't be synced; the error says why.
    pub async fn ask(&self, slug: &Slug, request: SyncRequest) -> Result<Job, EngineError> {
        let known = self.syncing.settings.source(slug)?;
        let has_key = self.syncing.keys.places().await?.contains_key(slug);
        if let Some(error) = lacks(&known, has_key) {
            return Err(error.into());
        }
        let SyncRequest { since, until, dry_run, deliver } = request;
        if since.zip(until).is_some_and(|(since, until)| since >= until) {
            return Err(EngineError::BadInput("`until` has to be later than `since`".to_owned()));
        }
        let asked = SyncAsked { source: slug.clone(), since, until, dry_run, deliver, by: AskedBy::Hand };
        let same = |job: &Job| {
            let open = serde_json::from_value::<SyncAsked>(job.asked.clone());
            open.is_ok_and(|open| SyncAsked { by: AskedBy::Hand, ..open } == asked)
        };
        match self.open_job(slug).await?.filter(same) {
            Some(job) => Ok(job),
            None => self.add(asked).await,
        }
    }

    pub(super) async fn add(&self, asked: SyncAsked) -> Result<Job, EngineError> {
        self.jobs.add(JobKind::Sync, &asked).await
    }

    /// Returns the job that syncs a source now, or will.
    async fn open_job(&self, slug: &Slug) -> Result<Option<Job>, EngineError> {
        for state in [JobState::Running, JobState::Waiting] {
            let page = self.jobs.page(Some(state), None, 100).await?;
            let syncs = |job: &Job| {
                job.kind == JobKind::Sync.as_str() && job.asked["source"].as_str() == Some(slug.as_str())
            };
            if let Some(job) = page.items.into_iter().find(syncs) {
                return Ok(Some(job));
            }
        }
        Ok(None)
    }

    /// Asks for what a report's sync added and kept to be delivered, as a job.
    ///
    /// # Errors
    /// Fails if there is no such report, or if nothing of it is left to deliver.
    pub async fn deliver(&self, report: i64) -> Result<Job, EngineError> {
        if self.report(report).await?.kept == 0 {
            let message = format!("report {report} has nothing left to deliver");
            return Err(EngineError::BadInput(message));
        }
        self.jobs.ask(JobKind::Retry, &Which::Synced { report }).await
    }

    /// Returns a report.
    ///
    /// # Errors
    /// Fails if there is none of that number.
    pub async fn report(&self, id: i64) -> Result<SyncReport, EngineError> {
        Ok(self.syncing.base().inbox.report(id).await?)
    }

    /// Returns a page of the reports of a source, or of all, newest first.
    ///
    /// # Errors
    /// Fails if the source is unknown, or the inbox fails.
    pub async fn reports(
        &self,
        source: Option<&Slug>,
        cursor: Option<i64>,
        limit: usize,
    ) -> Result<ReportPage, EngineError> {
        let row = source.map(|slug| self.row(slug)).transpose()?;
        Ok(self.syncing.base().inbox.reports(row, cursor, limit).await?)
    }

    /// Counts a source's events at the provider by day against ours. Only the time that syncs have looked at is counted:
    /// it is returned, too; `None` if there was no sync.
    ///
    /// # Errors
    /// Fails if the source is unknown, or the inbox fails.
    pub async fn days(
        &self,
        slug: &Slug,
        days: Vec<(Timestamp, Timestamp)>,
    ) -> Result<Option<((Timestamp, Timestamp), Vec<Day>)>, EngineError> {
        let (row, inbox) = (self.row(slug)?, &self.syncing.base().inbox);
        let (Some(first), Some(last)) = (days.first(), days.last()) else { return Ok(None) };
        let Some((since, until)) = inbox.looked_at(row, first.0, last.1).await? else { return Ok(None) };
        let within = days.into_iter().map(|(from, to)| (from.max(since), to.min(until)));
        let within = within.filter(|(from, to)| from < to).collect();
        Ok(Some(((since, until), inbox.reconciled(row, within).await?)))
    }

    /// Returns a page of a part of a source's events of a time, in order of time: those behind a place.
    ///
    /// # Errors
    /// Fails if the source is unknown, or the inbox fails.
    pub async fn listed(
        &self,
        slug: &Slug,
        span: (Timestamp, Timestamp),
        part: DayPart,
        after: Option<ListedPlace>,
        limit: usize,
    ) -> Result<ListedPage, EngineError> {
        let (row, inbox) = (self.row(slug)?, &self.syncing.base().inbox);
        // What nobody has looked for there may be there.
        let span = match inbox.looked_at(row, span.0, span.1).await? {
            Some(looked_at) if part == DayPart::OnlyHere => looked_at,
            None if part == DayPart::OnlyHere => return Ok(ListedPage { items: Vec::new(), next: None }),
            _ => span,
        };
        Ok(inbox.listed_between(row, span, part, after, limit).await?)
    }

    pub(super) fn row(&self, slug: &Slug) -> Result<i64, EngineError> {
        Ok(self.syncing.settings.source(slug)?.source.row)
    }
}
