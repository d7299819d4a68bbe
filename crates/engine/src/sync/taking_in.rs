//! Compares what a provider lists with the inbox, and adds what is missing.

use std::{
    collections::{HashMap, HashSet},
    time::Instant,
};

use futures_util::future::join_all;
use hookmitt_event::{DedupeKey, Request, Timestamp, Via};
use hookmitt_inbox::{Copied, KEPT_BY_SYNC, ListedItem, NewEvent, Outcome, Route, object_hash};
use hookmitt_sync::{Gives, Item, Values};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};
use tokio::sync::mpsc::Sender;

use super::{
    SyncError, lister::call, patience::Patience, progress::Progress, set_up::SetUp, syncing::Syncing,
};
use crate::{
    EngineError,
    judging::{Arrival, Page, key_hash},
};

/// How many bytes of missing items are held before they are added. Within these they are added in order of time.
const HELD: usize = 32 * 1024 * 1024;

/// How many copies are stored at once. They share a commit.
const AT_ONCE: usize = 8;

/// How many times as long as a step a sync rests after it, so that captures come between.
const RESTS: u32 = 2;

async fn rest(began: Instant) {
    tokio::time::sleep(began.elapsed() * RESTS).await;
}

/// Takes in the items of one report.
pub(super) struct TakingIn<'a> {
    pub(super) syncing: &'a Syncing,
    pub(super) set_up: &'a SetUp,
    pub(super) patience: &'a Patience,
    pub(super) report: i64,
    pub(super) dry_run: bool,
    /// From which moment on what is missing is delivered; `None` if it is kept.
    pub(super) delivers_from: Option<Timestamp>,
    /// Where the inbox ended when this began.
    pub(super) above: i64,
    /// The objects that events in the inbox are about, by type, if it is objects that are listed.
    pub(super) objects: HashMap<(String, String), i64>,
    pub(super) seen: HashSet<[u8; 16]>,
    pub(super) missing: Vec<Missing>,
    pub(super) held: usize,
    pub(super) added: u64,
    pub(super) waiting: u64,
    /// Whether the list was read to its end, so that it is known how long it is.
    pub(super) listed: bool,
    /// Why the content of an item can't be had now.
    pub(super) failed: Option<EngineError>,
    /// Is told how far this is.
    pub(super) tell: Sender<Progress>,
}

/// An item that isn't here.
pub(super) struct Missing {
    item: Item,
    listed: ListedItem,
    /// The id by which its event is known, if the event itself doesn't tell it.
    id: String,
    /// What it becomes, if its content needn't be asked for.
    request: Option<Request>,
}

impl TakingIn<'_> {
    /// Compares a page, and holds what is missing.
    pub(super) async fn compare(&mut self, items: Vec<Item>) -> Result<(), EngineError> {
        let (began, mut compared) = (Instant::now(), Vec::new());
        for item in items {
            let one = self.prepared(item);
            if self.seen.insert(one.1[0]) {
                compared.push(one);
            }
        }
        let keys = compared.iter().flat_map(|(_, keys)| keys.iter().copied()).collect();
        let source = self.set_up.known.source.row;
        let mut known = self.syncing.base().inbox.known_keys(source, keys).await?.into_iter();
        let mut settled = Vec::new();
        for (mut missing, keys) in compared {
            let found: Vec<_> = known.by_ref().take(keys.len()).flatten().collect();
            let by_object = self.by_object(&missing);
            if let Some(event) = found.first().map(|known| known.event).or_else(|| by_object.map(Some)) {
                (missing.listed.outcome, missing.listed.event) = (Outcome::Here, event);
                settled.push(missing.listed);
            } else if missing.listed.outcome == Outcome::Lost || self.dry_run {
                settled.push(missing.listed);
            } else {
                let body = missing.request.as_ref().map_or(0, |request| request.body.len());
                self.held += missing.item.raw.get().len() + body;
                self.missing.push(missing);
            }
        }
        rest(began).await;
        self.note(settled).await?;
        if self.held > HELD { self.add().await } else { Ok(()) }
    }

    async fn note(&self, items: Vec<ListedItem>) -> Result<(), EngineError> {
        // Few enough to take only some milliseconds, because captures wait for the same writer.
        for some in items.chunks(200) {
            let began = Instant::now();
            self.syncing.base().inbox.note_listed(self.report, some.to_vec()).await?;
            rest(began).await;
        }
        Ok(())
    }

    fn by_object(&self, missing: &Missing) -> Option<i64> {
        let request = missing.request.as_ref().filter(|_| !self.objects.is_empty())?;
        let facts = self.facts(request);
        self.objects.get(&(facts.event_type?, facts.object?)).copied()
    }

    fn facts(&self, request: &Request) -> hookmitt_event::Facts {
        let known = &self.set_up.known;
        hookmitt_verify::facts(request, known.provider_of(request), known.source.generic.as_ref())
    }

    fn values(&self) -> Values<'_> {
        Values { params: Some(&self.set_up.params), ..Values::default() }
    }

    /// Returns an item with the hashes of the keys under which its event may be here, the usual one first.
    fn prepared(&self, mut item: Item) -> (Missing, Vec<[u8; 16]>) {
        let connector = &self.set_up.connector;
        let values = self.values();
        let ids = connector.keys(&item, &values);
        let id = ids.first().unwrap_or(&item.id).clone();
        let mut keys: Vec<_> = ids.into_iter().map(|id| key_hash(&DedupeKey::Id(id))).collect();
        let mut listed = ListedItem {
            key: key_hash(&DedupeKey::Id(item.id.clone())),
            object: false,
            id: item.id.clone(),
            at: item.time.unwrap_or_else(|| self.syncing.base().now()),
            kind: None,
            outcome: Outcome::Missing,
            event: None,
            why: None,
        };
        let mut request = None;
        let what: [u8; 32] = Sha256::digest(item.raw.get()).into();
        if connector.list.detail.is_none() {
            match connector.request(&item.id, &item.raw, &values) {
                Ok(made) => {
                    let facts = self.facts(&made);
                    listed.kind = facts.event_type.clone();
                    keys.splice(0..0, facts.event_id.map(|id| key_hash(&DedupeKey::Id(id))));
                    let object = facts.event_type.as_deref().zip(facts.object.as_deref());
                    if let Some((kind, object)) = object.filter(|_| connector.gives == Gives::Object) {
                        listed.object = true;
                        keys.insert(0, object_hash(kind, object));
                    }
                    request = Some(made);
                    item.raw = RawValue::NULL.to_owned(); // the request has it
                }
                Err(error) => (listed.outcome, listed.why) = (Outcome::Lost, Some(error.to_string())),
            }
        }
        if keys.is_empty() && item.id.is_empty() {
            // It can't be told from others, so it isn't stored; but it is counted.
            listed.key.copy_from_slice(&what[..16]);
            (listed.outcome, listed.why) = (Outcome::Lost, Some("the list gives no id for it".to_owned()));
        }
        if keys.is_empty() {
            keys.push(listed.key);
        }
        listed.key = keys[0];
        (Missing { item, listed, id, request }, keys)
    }

    /// Adds what is missing, the oldest first.
    pub(super) async fn add(&mut self) -> Result<(), EngineError> {
        let mut missing = std::mem::take(&mut self.missing);
        self.held = 0;
        missing.sort_by_key(|missing| missing.listed.at);
        let mut missing = missing.into_iter();
        while missing.len() > 0 {
            let began = Instant::now();
            let some: Vec<_> = missing.by_ref().take(AT_ONCE).collect();
            let added = join_all(some.into_iter().map(|one| self.add_one(one))).await;
            for waiting in added {
                match waiting {
                    Ok(Some(waiting)) => {
                        (self.added, self.waiting) = (self.added + 1, self.waiting + waiting)
                    }
                    Ok(None) => {}
                    // The others are added all the same; the next sync asks for this one again.
                    Err(error @ EngineError::Sync(SyncError::Call(_))) if self.failed.is_none() => {
                        self.failed = Some(error);
                    }
                    Err(EngineError::Sync(SyncError::Call(_))) => {}
                    Err(error) => return Err(error),
                }
            }
            self.tell(missing.len()).await;
            rest(began).await;
        }
        Ok(())
    }

    /// Returns how far this is, if so many items are left to be added.
    pub(super) fn progress(&self, left: usize) -> Progress {
        Progress {
            done: (self.seen.len() - left) as u64,
            total: self.listed.then_some(self.seen.len() as u64),
            added: self.added,
            deliveries: self.waiting,
        }
    }

    pub(super) async fn tell(&self, left: usize) {
        let _nobody_listens = self.tell.send(self.progress(left)).await;
    }

    /// Adds one item. Returns how many deliveries wait for it, or `None` if it wasn't added.
    async fn add_one(&self, missing: Missing) -> Result<Option<u64>, EngineError> {
        let Missing { item, mut listed, id, request } = missing;
        let request = match request {
            Some(request) => Ok(request),
            None => self.detail(&item).await?,
        };
        let request = match request {
            Ok(request) => request,
            Err(why) => {
                (listed.outcome, listed.why) = (Outcome::Lost, Some(why));
                self.note(vec![listed]).await?;
                return Ok(None);
            }
        };
        let event = self.event(request, &mut listed, id);
        let known = &self.set_up.known;
        let copied = self.syncing.capture.store_copy(known, event, (self.report, listed), self.above).await?;
        Ok(match copied {
            Copied::Stored(stored) => Some(stored.waiting.len() as u64),
            Copied::Here(_) => None,
        })
    }

    /// Asks for the content of an item. The inner error says why it can't be recovered.
    async fn detail(&self, item: &Item) -> Result<Result<Request, String>, EngineError> {
        let connector = &self.set_up.connector;
        let values = Values { item: Some(&item.raw), ..self.values() };
        let asked = connector.detail(&values).map_err(SyncError::from)?;
        let asked = asked.ok_or_else(|| SyncError::NoConnector(self.slug()))?;
        let reply = match call(self.set_up, self.patience, &asked).await {
            Ok(reply) => reply,
            Err(SyncError::Call(hookmitt_sync::CallError::Rejected { status: 404 | 410, .. })) => {
                return Ok(Err("the provider doesn't have its content any more".to_owned()));
            }
            Err(SyncError::Call(hookmitt_sync::CallError::TooLarge)) => {
                return Ok(Err("its content is larger than 10 MB".to_owned()));
            }
            Err(error) => return Err(error.into()),
        };
        Ok(connector.request(&item.id, &reply.body, &values).map_err(|error| error.to_string()))
    }

    fn slug(&self) -> hookmitt_event::Slug {
        self.set_up.known.source.slug.clone()
    }

    fn event(&self, request: Request, listed: &mut ListedItem, id: String) -> NewEvent {
        let known = &self.set_up.known;
        // Nobody called it.
        let url =
            known.public_url(&request).unwrap_or_else(|| format!("http://localhost/{}", known.source.slug));
        let arrival = Arrival {
            request,
            url: Some(url),
            remote: None,
            received_at: self.syncing.base().now(),
            via: Via::BackupSync,
            page: Page::default(),
        };
        let mut event = known.judge(arrival).event;
        event.handshake_answer = None;
        event.facts.event_time = event.facts.event_time.or(Some(listed.at));
        event.provider = event.provider.or_else(|| known.source.provider.clone());
        listed.kind = event.facts.event_type.clone();
        if let (false, DedupeKey::Id(_)) = (listed.object, &event.dedupe_key) {
            listed.key = event.key_hash;
        } else if !listed.object {
            // The event itself doesn't tell its id, but the list does.
            event.dedupe_key = DedupeKey::Id(id);
            event.key_hash = key_hash(&event.dedupe_key);
            listed.key = event.key_hash;
        }
        event.arrival_key = Some([b"sync:", &event.source.to_be_bytes()[..], &listed.key[..]].concat());
        if event.route == Route::Targets && self.delivers_from.is_none_or(|from| listed.at < from) {
            event.route = Route::Withheld(KEPT_BY_SYNC);
        }
        event
    }
}

/// Returns the objects that a source's events are about, by type.
pub(super) async fn objects_of(
    syncing: &Syncing,
    set_up: &SetUp,
    since: Timestamp,
) -> Result<HashMap<(String, String), i64>, EngineError> {
    if set_up.connector.gives != Gives::Object {
        return Ok(HashMap::new());
    }
    // The object may have been made before the window, and its event a while after that.
    let found = syncing.base().inbox.objects_since(set_up.known.source.row, since).await?;
    Ok(found.into_iter().map(|(kind, object, seq)| ((kind, object), seq)).collect())
}
