//! The relay as a whole: what its doors and sessions share.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use governor::{DefaultKeyedRateLimiter, Quota as Pace, RateLimiter};
use hookmitt_catch::Room;
use hookmitt_mailbox::{Mailbox, Tunnel};
use hookmitt_seal::{SealError, Sealer};
use tokio::{
    sync::Semaphore,
    time::{Instant, timeout},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    crowd::Crowd, guesses::Guesses, metrics::Metrics, options::Options, outgoing::Outgoing,
    sessions::Sessions, tls::Tls,
};

/// So many sealers are kept; each costs some hundred bytes and saves 100 µs for its tunnel's next letter.
const SEALERS: usize = 10_000;

/// So many connections may be about to say who they are.
const STRANGERS: usize = 512;

/// One network may have one in so many of them; a whole office comes back at once after a restart.
const SHARE_OF_STRANGERS: usize = 4;

/// And one in so many of all places for connections: an egress of a large provider needs some hundred.
const SHARE_OF_CALLERS: usize = 8;

/// One tunnel's bodies take up this part of what may be in flight, so that its senders leave room for others'.
const PARTIES: usize = 4;

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
    pub(crate) sessions: Sessions,
    pub(crate) tasks: TaskTracker,
    /// Nobody new comes in.
    pub(crate) stopping: CancellationToken,
    /// Devices are told to go.
    pub(crate) leaving: CancellationToken,
    pub(crate) strangers: Arc<Semaphore>,
    /// Of one network among them.
    pub(crate) strangers_of: Arc<Crowd>,
    /// Of one network among all connections that are no device's yet.
    pub(crate) callers_of: Arc<Crowd>,
    pub(crate) devices: Arc<Semaphore>,
    /// Letters on their way out of memory.
    pub(crate) outgoing: Outgoing,
    pace: Option<DefaultKeyedRateLimiter<String>>,
    rooms: Mutex<HashMap<String, Room>>,
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
            sessions: Sessions::default(),
            tasks: TaskTracker::new(),
            stopping,
            leaving: CancellationToken::new(),
            strangers: Arc::new(Semaphore::new(STRANGERS)),
            strangers_of: Crowd::new(STRANGERS / SHARE_OF_STRANGERS, &options.trusted),
            callers_of: Crowd::new(options.connections / SHARE_OF_CALLERS, &options.trusted),
            options,
            devices: Arc::new(Semaphore::new(DEVICES)),
            outgoing: Outgoing::default(),
            pace,
            rooms: Mutex::default(),
            sealers: Mutex::default(),
            health: tokio::sync::Mutex::default(),
        }
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

    /// What of one tunnel's bodies may be in flight.
    pub(crate) fn room(&self, tunnel: &str) -> Room {
        let mut rooms = self.rooms.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(room) = rooms.get(tunnel) {
            return room.clone();
        }
        let room = Room::new(self.options.limits.in_flight / PARTIES);
        rooms.insert(tunnel.to_owned(), room.clone());
        room
    }

    /// Forgets the pace and the room of tunnels that had nothing to do.
    pub(crate) fn forget_idle(&self) {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner).retain(|_, room| !room.is_idle());
        if let Some(pace) = &self.pace {
            pace.retain_recent();
            pace.shrink_to_fit();
        }
    }

    /// Who seals for a tunnel.
    pub(crate) fn sealer(&self, tunnel: &Tunnel) -> Result<Arc<Sealer>, SealError> {
        let mut sealers = self.sealers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sealer) = sealers.get(&tunnel.name) {
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
