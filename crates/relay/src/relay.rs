//! The relay as a whole: what its doors and sessions share.

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
};

/// So many sealers are kept; each costs some hundred bytes and saves 100 µs for its tunnel's next letter.
const SEALERS: usize = 10_000;

/// So many connections may be about to say who they are.
const STRANGERS: usize = 512;

/// One address may have a quarter of them, if nobody else is there: a whole office comes back at once after a restart.
const SHARES_OF_STRANGERS: Shares = [8, 10, 12, 20];

/// And an eighth of all places for connections: an egress of a large provider needs some hundred.
const SHARES_OF_CALLERS: Shares = [4, 5, 6, 10];

/// How long it is taken as known whether the store is well.
const HEALTH: Duration = Duration::from_secs(2);

/// How long the store may take to say so.
const PATIENCE: Duration = Duration::from_secs(5);

/// So many devices may be connected.
const DEVICES: usize = 50_000;

/// What doors and sessions share.
pub(crate) struct Relay<M> {
    pub(crate) mailbox: M,
    pub(crate) options: Options,
    /// Where it speaks TLS itself.
    pub(crate) tls: Option<Tls>,
    pub(crate) metrics: Metrics,
    pub(crate) guesses: Guesses,
    /// How often tunnels are opened; as often as anybody likes, without.
    pub(crate) openings: Option<Openings>,
    pub(crate) sessions: Sessions,
    pub(crate) tasks: TaskTracker,
    /// Nobody new comes in.
    pub(crate) stopping: CancellationToken,
    /// Devices are told to go.
    pub(crate) leaving: CancellationToken,
    pub(crate) strangers: Arc<Semaphore>,
    /// Of one block of addresses among them.
    pub(crate) strangers_of: Arc<Crowd>,
    /// Of one block of addresses among all connections that are no device's yet.
    pub(crate) callers_of: Arc<Crowd>,
    pub(crate) devices: Arc<Semaphore>,
    /// Letters on their way out of memory.
    pub(crate) outgoing: Outgoing,
    pace: Option<DefaultKeyedRateLimiter<String>>,
    /// What of the bodies in flight is whose.
    pub(crate) rooms: Rooms,
    sealers: Mutex<HashMap<String, Arc<Sealer>>>,
    /// Whether the store was well, and when it was asked.
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

    /// The time of day.
    pub(crate) fn now(&self) -> Timestamp {
        self.options.clock.now()
    }

    /// Whether the store is well. Everybody may ask, so the store is asked once in a while only.
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
            tracing::error!(error = error.logged(), "the store is not well");
        }
        *known = Some((Instant::now(), well));
        well
    }

    /// After how many seconds a tunnel may get another request; none where it may now.
    pub(crate) fn too_fast(&self, tunnel: &str) -> Option<u64> {
        use governor::clock::Clock as _;
        let pace = self.pace.as_ref()?;
        let denied = pace.check_key(&tunnel.to_owned()).err()?;
        Some(denied.wait_time_from(pace.clock().now()).as_secs() + 1)
    }

    /// Forgets the pace and the rooms of those that had nothing to do.
    pub(crate) fn forget_idle(&self) {
        self.rooms.forget_idle();
        self.openings.iter().for_each(Openings::forget_idle);
        if let Some(pace) = &self.pace {
            pace.retain_recent();
            pace.shrink_to_fit();
        }
    }

    /// Who seals for a tunnel.
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

    /// The public URL of a tunnel, without a slash at its end.
    pub(crate) fn public_url(&self, tunnel: &str) -> String {
        self.options.public.of_tunnel(tunnel, self.options.wildcard)
    }
}
