//! The engine of one data directory.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use hookmitt_clock::{Clock, MachineClock};
use hookmitt_event::Timestamp;
use hookmitt_inbox::{Inbox, Recovered, Refused};
use hookmitt_keys::{KeyStore, Network};
use hookmitt_vault::StoreChoice;
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;

use crate::{
    Change, Config, EngineError,
    base::Base,
    capture::{Capture, CapturePort, Senders},
    confirmation::Confirmation,
    delivery::{Bells, Delivery, OwnerLock, Sending},
    fixtures::Fixtures,
    jobs::Jobs,
    keeping::{Keeping, Marking, Trash},
    live::Live,
    manage::{DeliveredSecrets, Listeners, Secrets, Sources, Targets, TestKeys},
    replay::{Replays, Retries, Samples, WithheldHosts},
    search::{IndexSlot, Search},
    settings::{SecretStore, Settings},
    sync::{ApiKeys, Sync, Syncing},
    tasks::Tasks,
    tunnels::{Register, Runner, Tunnels},
    upkeep,
    verdicts::{Verdicts, explain_new, judge_as_keys_come},
};

/// How long reads under way are waited for before the inbox is closed all the same.
const CLOSES: Duration = Duration::from_secs(2);

/// What an engine is opened with.
#[derive(Clone, Debug)]
pub struct Resources {
    /// The data directory; created if it is missing.
    pub data_dir: PathBuf,
    /// Where secrets may be stored.
    pub secrets: StoreChoice,
    /// How the hosts of providers that publish keys or take confirmations are reached.
    pub network: Network,
    /// The clock that times everything.
    pub clock: Arc<dyn Clock>,
}

impl Resources {
    /// Takes a data directory, and stores secrets where the environment variable `HOOKMITT_KEYRING` says.
    ///
    /// # Errors
    /// Fails if the value of `HOOKMITT_KEYRING` is unknown.
    pub fn of(data_dir: &Path) -> Result<Self, EngineError> {
        Ok(Self {
            data_dir: data_dir.to_owned(),
            secrets: StoreChoice::from_env()?,
            network: Network::default(),
            clock: Arc::new(MachineClock),
        })
    }
}

/// Everything that works on one data directory in one process: the parts, joined.
#[derive(Debug)]
pub struct Engine {
    pub(crate) base: Arc<Base>,
    pub(crate) settings: Arc<Settings>,
    pub(crate) capture: Arc<Capture>,
    pub(crate) delivery: Arc<Delivery>,
    pub(crate) bells: Arc<Bells>,
    owner_lock: Arc<OwnerLock>,
    runner: Arc<Runner>,
    /// The sources, as people create and change them.
    pub sources: Sources,
    /// The targets, as people add and change them.
    pub targets: Targets,
    /// The secrets of sources.
    pub secrets: Secrets,
    /// The secrets that set-up requests deliver.
    pub delivered_secrets: DeliveredSecrets,
    /// Local test keys.
    pub test_keys: TestKeys,
    /// The verdicts on stored events.
    pub verdicts: Arc<Verdicts>,
    /// Confirms set-up requests that ask for a URL to be called.
    pub confirmation: Arc<Confirmation>,
    /// Delivers stored events again.
    pub replays: Replays,
    /// Retries deliveries that failed.
    pub retries: Retries,
    /// Signs and sends samples.
    pub samples: Samples,
    /// Events that were withheld because of the host name that they called.
    pub withheld_hosts: WithheldHosts,
    /// Finds events.
    pub search: Search,
    /// What takes long and was asked for.
    pub jobs: Jobs,
    /// Backup sync from providers' own APIs.
    pub sync: Sync,
    /// Marks events with pins, notes and tags.
    pub marking: Marking,
    /// Decides how long events are kept.
    pub keeping: Keeping,
    /// The bin.
    pub trash: Trash,
    /// Exports and imports events as files.
    pub fixtures: Fixtures,
    /// The tunnels.
    pub tunnels: Tunnels,
    /// Temporary targets, each of which exists while a `listen` command runs.
    pub listeners: Listeners,
    started_at: Timestamp,
    /// What was recovered from a damaged inbox.
    pub(crate) recovered: Option<Recovered>,
}

impl Engine {
    /// Opens the inbox, and reads the secrets and the settings. Nothing is delivered until [`deliver`](Self::deliver).
    ///
    /// # Errors
    /// Fails if the data directory is unreadable or of a newer version. Secrets that can't be read are no error;
    /// [`warnings`](Self::warnings) names them.
    pub async fn open(resources: Resources) -> Result<Arc<Self>, EngineError> {
        let Resources { data_dir, secrets: choice, network, clock } = resources;
        let inbox = Inbox::open(&data_dir, Arc::clone(&clock))?;
        let store = SecretStore::open(&data_dir, choice).await?;
        let now = Arc::clone(&clock);
        let (keys, fetching) = KeyStore::open(
            &data_dir,
            hookmitt_verify::key_hosts(),
            network.clone(),
            Arc::new(move || now.now()),
        );
        let base = Arc::new(Base { data_dir, inbox, clock, live: Live::new(), tasks: Tasks::default() });
        let settings = Arc::new(Settings::new(Arc::clone(&base), store, keys));
        settings.reload().await?;
        let recovered = base.inbox.recovered().await?;
        let bells = Arc::new(Bells::default());
        let confirmation = Arc::new(Confirmation::new(Arc::clone(&settings), network.clone()));
        let api_keys = ApiKeys::open(&base.data_dir, choice)?;
        let (verdicts, waits_for_key) =
            Verdicts::new(Arc::clone(&settings), Arc::clone(&confirmation), Arc::clone(&bells));
        let index = Arc::new(IndexSlot::look(&base.data_dir, &base.inbox.instance().await?));
        let found_by = Arc::clone(&index);
        let api = (api_keys, network);
        let mut engine =
            Self::joined(settings, confirmation, Arc::new(verdicts), bells, choice, found_by, api);
        engine.recovered = recovered;
        let engine = Arc::new(engine);
        engine.watch_others();
        explain_new(&engine.verdicts);
        judge_as_keys_come(&engine.verdicts, fetching, waits_for_key);
        engine.trash.keep_tidy(&engine.owner_lock.watch());
        engine.capture.keep_refusals();
        engine.secrets.await_keychain();
        upkeep::begin(&engine.base, &index, &engine.owner_lock.watch());
        engine.jobs.run();
        engine.sync.run(&engine.owner_lock.watch());
        Ok(engine)
    }

    /// Joins the parts.
    fn joined(
        settings: Arc<Settings>,
        confirmation: Arc<Confirmation>,
        verdicts: Arc<Verdicts>,
        bells: Arc<Bells>,
        choice: StoreChoice,
        index: Arc<IndexSlot>,
        (api_keys, network): (ApiKeys, Network),
    ) -> Self {
        let base = Arc::clone(&settings.base);
        let s = || Arc::clone(&settings);
        let owner_lock = Arc::new(OwnerLock::new(&base.data_dir));
        let senders = Arc::new(Senders::new(s(), owner_lock.watch()));
        let sending = Sending::new(s(), Arc::clone(&bells), Arc::clone(&senders));
        let capture =
            Capture::new(s(), Arc::clone(&verdicts), Arc::clone(&confirmation), Arc::clone(&bells), senders);
        let delivery = Arc::new(Delivery::new(sending, Arc::clone(&verdicts), Arc::clone(&owner_lock)));
        let register = Arc::new(Register::new());
        let tunnels = Tunnels::new(s(), Arc::clone(&register), choice, owner_lock.watch());
        let secrets = Secrets::new(s(), Arc::clone(&verdicts));
        let targets = Targets::new(s(), Arc::clone(&bells));
        let retries = Retries::new(s(), Arc::clone(&bells));
        let search = Search::new(Arc::clone(&base), index);
        let trash = Trash::new(Arc::clone(&base), Arc::clone(&bells), Arc::clone(&verdicts));
        let syncing = Arc::new(Syncing::new(s(), Arc::clone(&capture), api_keys.clone(), network));
        let (done, owner) = ((&search, &trash, &retries), owner_lock.watch());
        let jobs = Jobs::new(Arc::clone(&base), done, Arc::clone(&syncing), owner);
        let replays = Replays::new(s(), Arc::clone(&capture), targets.clone(), Arc::clone(&bells));
        Self {
            sources: Sources::new(s(), secrets.clone(), api_keys, Arc::clone(&verdicts), register),
            delivered_secrets: DeliveredSecrets::new(s(), secrets.clone()),
            test_keys: TestKeys::new(s(), secrets.clone()),
            samples: Samples::new(s(), Arc::clone(&capture), replays.clone()),
            withheld_hosts: WithheldHosts::new(s(), replays.clone(), retries.clone()),
            search,
            sync: Sync::new(syncing, jobs.clone()),
            jobs,
            marking: Marking::new(Arc::clone(&base)),
            keeping: Keeping::new(Arc::clone(&base)),
            trash,
            fixtures: Fixtures::new(s(), Arc::clone(&capture)),
            listeners: Listeners::new(s(), targets.clone(), Arc::clone(&delivery)),
            runner: Arc::new(Runner::new(tunnels.clone(), Arc::clone(&capture))),
            started_at: base.now(),
            recovered: None,
            base,
            settings,
            capture,
            delivery,
            bells,
            owner_lock,
            targets,
            secrets,
            verdicts,
            confirmation,
            replays,
            retries,
            tunnels,
        }
    }

    /// Returns the data directory.
    pub fn data_dir(&self) -> &Path {
        &self.base.data_dir
    }

    /// Returns the inbox.
    pub fn inbox(&self) -> &Inbox {
        &self.base.inbox
    }

    /// Returns when the engine was opened.
    pub const fn started_at(&self) -> Timestamp {
        self.started_at
    }

    /// Returns the present settings.
    pub fn config(&self) -> Arc<Config> {
        self.settings.now()
    }

    /// Returns the sink for the capture port's requests.
    pub fn capture_port(&self) -> CapturePort {
        CapturePort(Arc::clone(&self.capture))
    }

    /// Announces every change from now on. A watcher that falls behind is told that it missed some, and has to read the
    /// inbox.
    pub fn watch(&self) -> broadcast::Receiver<Change> {
        self.base.live.watch()
    }

    /// Returns the latest requests that were refused, newest first, at most `limit`, those included that could not be
    /// stored yet.
    ///
    /// # Errors
    /// Fails if the inbox fails.
    pub async fn latest_refusals(&self, limit: usize) -> Result<Vec<Refused>, EngineError> {
        let mut latest = self.capture.unwritten_refusals();
        latest.truncate(limit);
        let stored = self.base.inbox.refusals((None, None), None, limit - latest.len()).await?;
        latest.extend(stored.items.into_iter().map(|(_, refused)| refused));
        Ok(latest)
    }

    /// Returns a page of at most `limit` refused requests, newest first, that happened at `since` or later and before
    /// `until`, with the cursor of the next page. The first page begins with those that could not be stored yet.
    ///
    /// # Errors
    /// Fails if the inbox fails.
    pub async fn refusals(
        &self,
        (since, until): (Option<Timestamp>, Option<Timestamp>),
        cursor: Option<i64>,
        limit: usize,
    ) -> Result<(Vec<Refused>, Option<i64>), EngineError> {
        let mut items = if cursor.is_none() { self.capture.unwritten_refusals() } else { Vec::new() };
        items.retain(|one| {
            since.is_none_or(|since| one.at >= since) && until.is_none_or(|until| one.at < until)
        });
        let page = self.base.inbox.refusals((since, until), cursor, limit).await?;
        items.extend(page.items.into_iter().map(|(_, refused)| refused));
        Ok((items, page.next))
    }

    /// Whether something other than another process keeps this one from delivering; [`warnings`](Self::warnings) says
    /// what.
    pub fn is_hindered(&self) -> bool {
        self.delivery.hindrance().is_some()
    }

    /// Watches whether this process is the one that delivers.
    pub fn owns_delivery(&self) -> watch::Receiver<bool> {
        self.owner_lock.watch()
    }

    /// Records where this process serves its page and the API; targets there are refused.
    pub fn listens_on(&self, addresses: &[SocketAddr]) {
        self.settings.own.add(addresses);
        self.settings.own.hand_out_pages(addresses);
    }

    /// Records where this process captures requests; targets there are refused.
    pub fn captures_on(&self, addresses: &[SocketAddr]) {
        self.settings.own.capture_on(addresses);
    }

    /// Returns the URLs of the capture port, one for each address; empty if this process doesn't capture.
    pub fn capture_urls(&self) -> Vec<String> {
        self.settings.own.capture_urls()
    }

    /// Sets how long a sender waits at the capture port for the local server; by default 2.5 s.
    pub fn holds_senders_for(&self, limit: Duration) {
        self.capture.senders.wait_at_the_port(limit);
    }

    /// Announces again up to which number events are stored, for a watcher that has missed some.
    ///
    /// # Errors
    /// Fails if the inbox fails.
    pub async fn announce_stored(&self) -> Result<(), EngineError> {
        self.base.announce(Change::Stored(self.base.inbox.last_seq().await?));
        Ok(())
    }

    /// Returns a token that is cancelled when the engine stops.
    pub fn stopping(&self) -> CancellationToken {
        self.base.tasks.stop.clone()
    }

    /// Becomes the process that delivers, now or as soon as possible, and delivers until the stop. A hindrance (another
    /// process, a locked inbox, no free file descriptor) is no reason to end, because events are captured meanwhile.
    pub async fn deliver(&self) {
        self.delivery.take().await;
        self.runner.begin(self.owner_lock.watch());
    }

    /// Tries once to become the process that delivers. Returns whether it did now.
    ///
    /// # Errors
    /// Fails if the lock can't be tried or the inbox fails.
    pub async fn deliver_if_alone(&self) -> Result<bool, EngineError> {
        self.delivery.try_now().await
    }

    /// Stops: attempts in flight are finished (for at most 10 s), and nothing new is started.
    pub async fn stop(&self) {
        self.base.tasks.end().await;
        self.delivery.end().await;
    }

    /// Closes the inbox once everything has [stopped](Self::stop), so that its file holds all of it. Reads that are under
    /// way are waited for, but not for long: what is still in the log then is taken from there when it is opened again.
    pub async fn close(&self) {
        if tokio::time::timeout(CLOSES, self.base.inbox.close()).await.is_err() {
            tracing::debug!("the inbox is still read: its log stays beside it");
        }
    }
}

impl Drop for Engine {
    /// Stops the background tasks when the engine is dropped.
    fn drop(&mut self) {
        self.base.tasks.stop.cancel();
    }
}
