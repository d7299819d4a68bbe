//! The relay's shared state: what its public port and its sessions use.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use governor::{DefaultKeyedRateLimiter, Quota as Pace, RateLimiter};
use hookmitt_event::Timestamp;
use hookmitt_mailbox::{Mailbox, Tunnel};
use hookmitt_seal::{SealError, Sealer};
use tokio::{
    sync::Semaphore,
    time::{Instant, timeout},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    crowd::{Crowd, Shares},
    guesses::Guesses,
    metrics::Metrics,
    openings::Openings,
    options::Options,
    outgoing::Outgoing,
    rooms::Rooms,
    sessions::Sessions,
    tls::Tls,
    unserved::Unserved,
};

/// How many sealers are kept. Each costs some hundred bytes and saves 100 µs for the next letter of its tunnel.
const SEALERS: usize = 10_000;

/// How many connections may be in their handshake, before they have said who they are.
const STRANGERS: usize = 512;

/// The shares of these places for blocks of addresses, from the smallest size to the largest. One address that is alone
/// may have a quarter, because a whole office reconnects at once after a restart.
const SHARES_OF_STRANGERS: Shares = [8, 10, 12, 20];

/// The shares of all places for connections, in the same order. One address that is alone may have an eighth, because
/// the outgoing servers of a large provider need some hundred connections.
const SHARES_OF_CALLERS: Shares = [4, 5, 6, 10];

/// For how long the result of the last health check is reused.
const HEALTH: Duration = Duration::from_secs(2);

/// How long the store may take for a health check.
const PATIENCE: Duration = Duration::from_secs(5);

/// How many devices may be connected.
const DEVICES: usize = 50_000;

/// The state that the public port and the sessions share.
pub(crate) struct Relay<M> {
    pub(crate) mailbox: M,
    pub(crate) options: Options,
    /// Set if the relay does TLS itself.
    pub(crate) tls: Option<Tls>,
    pub(crate) metrics: Metrics,
    /// Which names were called that are no sources.
    pub(crate) unserved: Unserved,
    pub(crate) guesses: Guesses,
    /// The limit on how often tunnels are opened. `None` means no limit.
    pub(crate) openings: Option<Openings>,
    pub(crate) sessions: Sessions,
    pub(crate) tasks: TaskTracker,
    /// Cancelled when the relay is to stop. From then on, no new connections are accepted.
    pub(crate) stopping: CancellationToken,
    /// Cancelled after that: devices are told that the relay stops.
    pub(crate) leaving: CancellationToken,
    pub(crate) strangers: Arc<Semaphore>,
    /// How many of the places in `strangers` each block of addresses uses.
    pub(crate) strangers_of: Arc<Crowd>,
    /// How many connections each block of addresses uses, not counting those of devices.
    pub(crate) callers_of: Arc<Crowd>,
    pub(crate) devices: Arc<Semaphore>,
    /// The memory for letters that are sent to devices.
    pub(crate) outgoing: Outgoing,
    pace: Option<DefaultKeyedRateLimiter<String>>,
    /// How much of the bodies in flight each party uses.
    pub(crate) rooms: Rooms,
    sealers: Mutex<HashMap<String, Arc<Sealer>>>,
    /// When the store was last checked, and whether it was healthy.
    health: tokio::sync::Mutex<Option<(Instant, bool)>>,
}

impl<M: Mailbox> Relay<M> {
    pub(crate) fn new(mailbox: M, options: Options, tls: Option<Tls>, stopping: CancellationToken) -> Self {
        let pace =
            options.rate.map(|rate| RateLimiter::keyed(Pace::per_second(rate).allow_burst(options.burst)));
        Self {
            mailbox,
            metrics: Metrics::new(tls.is_some()),
            tls,
            unserved: Unserved::default(),
            guesses: Guesses::default(),
            openings: options.openings.map(Openings::new),
            sessions: Sessions::default(),
            tasks: TaskTracker::new(),
            stopping,
            leaving: CancellationToken::new(),
            strangers: Arc::new(Semaphore::new(STRANGERS)),
            strangers_of: Crowd::new(STRANGERS, SHARES_OF_STRANGERS, &options.trusted),
            callers_of: Crowd::new(options.connections, SHARES_OF_CALLERS, &options.trusted),
            rooms: Rooms::new(options.limits.in_flight, &options.trusted),
            options,
            devices: Arc::new(Semaphore::new(DEVICES)),
            outgoing: Outgoing::default(),
            pace,
            sealers: Mutex::default(),
            health: tokio::sync::Mutex::default(),
        }
    }

    /// Returns the current time by the wall clock.
    pub(crate) fn now(&self) -> Timestamp {
        self.options.clock.now()
    }

    /// Returns whether the store is healthy. Anybody may ask, so the store itself is asked only once in a while.
    pub(crate) async fn is_healthy(&self) -> bool {
        let mut known = self.health.lock().await;
        if let Some((at, well)) = *known
            && at.elapsed() < HEALTH
        {
            return well;
        }
        let asked = timeout(PATIENCE, self.mailbox.check()).await;
        let well = matches!(asked, Ok(Ok(())));
        if let Ok(Err(error)) = asked {
            tracing::error!(error = error.logged(), "the store isn't working");
        }
        *known = Some((Instant::now(), well));
        well
    }

    /// Returns in how many seconds the tunnel may get its next request, or `None` if it may get one now.
    pub(crate) fn too_fast(&self, tunnel: &str) -> Option<u64> {
        use governor::clock::Clock as _;
        let pace = self.pace.as_ref()?;
        let denied = pace.check_key(&tunnel.to_owned()).err()?;
        Some(denied.wait_time_from(pace.clock().now()).as_secs() + 1)
    }

    /// Forgets the rates and rooms of those that are idle.
    pub(crate) fn forget_idle(&self) {
        self.rooms.forget_idle();
        self.openings.iter().for_each(Openings::forget_idle);
        if let Some(pace) = &self.pace {
            pace.retain_recent();
            pace.shrink_to_fit();
        }
    }

    /// Returns the sealer of a tunnel.
    pub(crate) fn sealer(&self, tunnel: &Tunnel) -> Result<Arc<Sealer>, SealError> {
        let mut sealers = self.sealers.lock().unwrap_or_else(PoisonError::into_inner);
        let known = sealers.get(&tunnel.name).filter(|sealer| sealer.is_for(&tunnel.sealing_key));
        if let Some(sealer) = known {
            return Ok(Arc::clone(sealer));
        }
        if sealers.len() >= SEALERS {
            sealers.clear();
        }
        let sealer = Arc::new(Sealer::new(tunnel.sealing_key, &tunnel.name)?);
        sealers.insert(tunnel.name.clone(), Arc::clone(&sealer));
        Ok(sealer)
    }

    /// Returns the public URL of a tunnel, without a trailing slash.
    pub(crate) fn public_url(&self, tunnel: &str) -> String {
        self.options.public.of_tunnel(tunnel, self.options.wildcard)
    }
}
