//! The engine of one data directory.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock, Weak},
};

use arc_swap::ArcSwap;
use hookmitt_clock::{Clock, MachineClock};
use hookmitt_event::{EventId, Timestamp};
use hookmitt_inbox::Inbox;
use hookmitt_keys::{KeyStore, Network};
use hookmitt_vault::StoreChoice;
use tokio::sync::{Mutex, broadcast, watch};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    Change, Config, EngineError,
    delivery::{Couriers, Ownership},
    explain::Explaining,
    keep_going::Faults,
    live::Live,
    own_addresses::OwnAddresses,
    published,
    refusals::Refusals,
    respond::Senders,
    secrets::Secrets,
    tunnels::Tunnels,
};

/// What an engine is opened with.
#[derive(Clone, Debug)]
pub struct Resources {
    /// The data directory; made where it is missing.
    pub data_dir: PathBuf,
    /// Where secrets may be kept.
    pub secrets: StoreChoice,
    /// How the hosts of providers are reached, which publish keys and take confirmations.
    pub network: Network,
    /// By which everything is timed.
    pub clock: Arc<dyn Clock>,
}

impl Resources {
    /// A data directory, with secrets where `HOOKMITT_KEYRING` says.
    ///
    /// # Errors
    /// A `HOOKMITT_KEYRING` that says nothing known.
    pub fn of(data_dir: &Path) -> Result<Self, EngineError> {
        Ok(Self {
            data_dir: data_dir.to_owned(),
            secrets: StoreChoice::from_env()?,
            network: Network::default(),
            clock: Arc::new(MachineClock),
        })
    }
}

/// Everything that works on one data directory, in one process.
#[derive(Debug)]
pub struct Engine {
    /// Itself, for what goes on beside a call.
    pub(crate) this: Weak<Self>,
    pub(crate) data_dir: PathBuf,
    pub(crate) inbox: Inbox,
    pub(crate) secrets: Secrets,
    pub(crate) keys: KeyStore,
    pub(crate) pending: published::Pending,
    pub(crate) network: Network,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) faults: Faults,
    /// Held while a set-up request is confirmed: two clicks are one call.
    pub(crate) by_hand: Mutex<()>,
    pub(crate) config: ArcSwap<Config>,
    reloading: Mutex<()>,
    pub(crate) live: Live,
    pub(crate) refusals: Refusals,
    pub(crate) couriers: Couriers,
    pub(crate) senders: Senders,
    pub(crate) own: OwnAddresses,
    pub(crate) tunnels: Tunnels,
    pub(crate) explaining: Arc<Explaining>,
    pub(crate) tasks: TaskTracker,
    pub(crate) stop: CancellationToken,
    ownership: Ownership,
    started_at: Timestamp,
    capture: OnceLock<Vec<String>>,
}

impl Engine {
    /// Opens the inbox, reads the secrets and the settings. Nothing is delivered until
    /// [`deliver`](Self::deliver).
    ///
    /// # Errors
    /// A newer or unreadable data directory. Secrets that can't be read are no error:
    /// [`warnings`](Self::warnings) says so.
    pub async fn open(resources: Resources) -> Result<Arc<Self>, EngineError> {
        let Resources { data_dir, secrets, network, clock } = resources;
        let inbox = Inbox::open(&data_dir, Arc::clone(&clock))?;
        let tunnels = Tunnels::new(&data_dir, secrets);
        let secrets = Secrets::open(&data_dir, secrets).await?;
        let (keys, fetching) = published::open(&data_dir, network.clone(), Arc::clone(&clock));
        let (pending, stored) = published::Pending::new();
        let engine = Arc::new_cyclic(|this| Self {
            this: Weak::clone(this),
            ownership: Ownership::new(&data_dir),
            data_dir,
            inbox,
            secrets,
            keys,
            pending,
            network,
            faults: Faults::default(),
            by_hand: Mutex::default(),
            config: ArcSwap::default(),
            reloading: Mutex::default(),
            live: Live::new(),
            refusals: Refusals::default(),
            couriers: Couriers::default(),
            senders: Senders::default(),
            own: OwnAddresses::default(),
            tunnels,
            explaining: Arc::default(),
            tasks: TaskTracker::new(),
            stop: CancellationToken::new(),
            started_at: clock.now(),
            clock,
            capture: OnceLock::new(),
        });
        engine.reload().await?;
        engine.watch_others();
        engine.explain_invalid();
        engine.await_keys(fetching, stored);
        engine.await_keychain(&engine.tasks);
        Ok(engine)
    }

    /// The data directory.
    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// The inbox.
    pub fn inbox(&self) -> &Inbox {
        &self.inbox
    }

    /// When it was opened.
    pub fn started_at(&self) -> Timestamp {
        self.started_at
    }

    /// The settings as they are now.
    pub fn config(&self) -> Arc<Config> {
        self.config.load_full()
    }

    /// Announces every change from now on. A watcher that falls behind is told so, and looks for itself.
    pub fn watch(&self) -> broadcast::Receiver<Change> {
        self.live.watch()
    }

    /// Requests that were not taken since the start, newest first, 200 at most.
    pub fn refusals(&self) -> Vec<hookmitt_catch::Refusal> {
        self.refusals.all()
    }

    /// What a person should know about, such as secrets that could not be read.
    pub fn warnings(&self) -> Vec<String> {
        let warnings = self.secrets.warnings().into_iter().chain(self.tunnels.warning());
        let hindrance = self.ownership.hindrance().map(|error| format!("nothing is delivered yet: {error}"));
        warnings.chain(self.faults.warnings()).chain(hindrance).collect()
    }

    /// Whether something else than another process keeps this one from delivering; [`warnings`](Self::warnings) says what.
    pub fn is_hindered(&self) -> bool {
        self.ownership.hindrance().is_some()
    }

    pub(crate) fn ownership(&self) -> &Ownership {
        &self.ownership
    }

    /// Whether this process is the one that delivers.
    pub fn owns_delivery(&self) -> watch::Receiver<bool> {
        self.ownership.watch()
    }

    /// Tells where this process listens: targets there are refused.
    pub fn listens_on(&self, addresses: &[SocketAddr]) {
        self.own.add(addresses);
        self.own.hand_out_pages(addresses);
    }

    /// Tells where this process captures.
    pub fn captures_on(&self, addresses: &[SocketAddr]) {
        self.own.add(addresses);
        let _told_before =
            self.capture.set(addresses.iter().map(|address| format!("http://{address}")).collect());
    }

    /// The URLs of the capture port, one for each address; none where this process doesn't capture.
    pub fn capture_urls(&self) -> Vec<String> {
        self.capture.get().cloned().unwrap_or_default()
    }

    /// Puts an event in the bin, or brings it back.
    ///
    /// # Errors
    /// An unknown event.
    pub async fn set_deleted(&self, id: EventId, deleted: bool) -> Result<(), EngineError> {
        self.inbox.set_deleted(id, deleted.then(|| self.clock.now())).await?;
        self.live.announce(Change::Event(id));
        Ok(())
    }

    /// Announces again how far events are stored: for a watcher that has not seen them all.
    ///
    /// # Errors
    /// Whatever the inbox says.
    pub async fn announce_stored(&self) -> Result<(), EngineError> {
        self.live.announce(Change::Stored(self.inbox.last_seq().await?));
        Ok(())
    }

    /// Ends when we stop.
    pub fn stopping(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// Becomes the process that delivers, now or as soon as it can, and delivers until the stop. What is in the way (another
    /// process, an inbox that is locked, no handle left) is no reason to end: events are captured meanwhile.
    pub async fn deliver(self: &Arc<Self>) {
        self.ownership.take(self).await;
        self.run_tunnels();
    }

    /// Tries once to become the process that delivers.
    ///
    /// # Errors
    /// Whatever the inbox says.
    pub async fn deliver_if_alone(self: &Arc<Self>) -> Result<bool, EngineError> {
        self.ownership.try_now(self).await
    }

    /// Stops: attempts in flight are finished, nothing new is begun.
    pub async fn stop(&self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        if *self.owns_delivery().borrow()
            && let Err(error) = self.inbox.keep_clock().await
        {
            tracing::warn!(%error, "how far the inbox's clock is could not be written down");
        }
        self.ownership.give_up();
    }

    /// Reads sources, secrets and targets anew, and wakes whoever depends on them.
    ///
    /// # Errors
    /// Whatever the inbox says.
    pub async fn reload(&self) -> Result<(), EngineError> {
        let _alone = self.reloading.lock().await;
        let version = self.inbox.config_version().await?;
        let config = self.secrets.config(&self.inbox, version, &self.keys).await?;
        let tunnels = self.inbox.tunnels().await?;
        self.own.relays(tunnels.iter());
        self.config.store(Arc::new(config));
        self.tunnels.take_up(&self.config, &tunnels);
        self.couriers.wake_all();
        self.live.announce(Change::Config);
        Ok(())
    }

    /// Keeps an eye on what other processes do to the same inbox: their settings count here, their events are shown
    /// and, where we deliver, sent.
    fn watch_others(self: &Arc<Self>) {
        let engine = Arc::downgrade(self);
        let (stop, others) = (self.stop.clone(), self.inbox.others());
        self.keep_going("the look at other processes", move || {
            let (engine, stop, mut others) = (engine.clone(), stop.clone(), others.clone());
            async move {
                while let Some(Ok(())) = stop.run_until_cancelled(others.changed()).await {
                    let Some(engine) = engine.upgrade() else { return };
                    if let Err(error) = engine.catch_up().await {
                        tracing::warn!(%error, "can't see what other processes changed");
                    }
                }
            }
        });
    }

    async fn catch_up(&self) -> Result<(), EngineError> {
        let before = self.config();
        if self.inbox.config_version().await? != before.version {
            self.secrets.read_again().await;
            self.reload().await?;
            // What came in between was judged without a secret that another process has set.
            for source in self.config().sources_with_other_secrets(&before) {
                self.rejudge(&source).await?;
            }
        }
        self.live.announce(Change::Stored(self.inbox.last_seq().await?));
        // By what waits rather than by who is at work: the target may never have had an event from here.
        for target in self.inbox.waiting().await? {
            self.couriers.wake(target);
        }
        Ok(())
    }
}
