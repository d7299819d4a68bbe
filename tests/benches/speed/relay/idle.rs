//! How much memory a relay needs for a tunnel whose app is connected but has nothing to do.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use anyhow::ensure;
use hookmitt_tunnel::{
    Answering, Credentials, Later, Letterhead, Network, NoKey, Options, Recipient, SealingKey, State,
    Unreadable, keep, open,
};
use hookmitt_wire::{Hold, Letter, SourceOffer};
use rustix::process::{Resource, getrlimit, setrlimit};
use tokio::{runtime::Runtime, sync::watch, task::JoinSet};
use tokio_util::sync::CancellationToken;

use super::place::{Relay, until};
use crate::host::resident;

pub(super) const TUNNELS: usize = 1_000;

/// How many apps connect at the same time: few, so that the memory for connecting itself isn't measured.
const AT_ONCE: usize = 50;

/// Long enough for each app to send another heartbeat (they are 10 s apart).
const A_WHILE: Duration = Duration::from_secs(12);

/// Resident bytes of the relay's process.
pub(super) struct Idle {
    pub(super) without: u64,
    /// All tunnels are opened, but no app is connected.
    pub(super) opened: u64,
    pub(super) connected: u64,
}

impl Idle {
    pub(super) fn per_connection(&self) -> f64 {
        self.connected.saturating_sub(self.without) as f64 / TUNNELS as f64
    }
}

/// An app with one source that receives nothing.
struct NothingComes {
    sources: watch::Sender<Arc<Vec<SourceOffer>>>,
    connected: Arc<AtomicUsize>,
}

impl Recipient for NothingComes {
    fn sources(&self) -> watch::Receiver<Arc<Vec<SourceOffer>>> {
        self.sources.subscribe()
    }

    async fn letter(&self, _: Letterhead, _: Letter) -> Result<Option<Answering>, Later> {
        Ok(None)
    }

    fn unreadable(&self, _: &Letterhead, _: &Unreadable, _: bool) {}

    fn sealing_keys(&self, _: Vec<SealingKey>) {}

    fn no_key(&self, _: NoKey) {}

    fn state(&self, state: State) {
        // `rtt` is known once the first heartbeat is answered. The state is reported again after each heartbeat.
        if let State::Connected { rtt: Some(_), .. } = state {
            self.connected.fetch_add(1, Ordering::Relaxed);
        }
    }
}

pub(super) fn measured(runtime: &Runtime) -> anyhow::Result<Idle> {
    allow_many_files()?;
    let relay = Relay::start("idle")?;
    let (token, pid) = (relay.token()?, relay.server.pid());
    let without = resident(pid)?;
    let tunnels = runtime.block_on(opened(&relay, &token))?;
    let opened = resident(pid)?;
    let stop = CancellationToken::new();
    let mut kept = JoinSet::new();
    let mut told = Vec::with_capacity(TUNNELS);
    for some in tunnels.chunks(AT_ONCE) {
        for credentials in some {
            let connected = Arc::new(AtomicUsize::new(0));
            told.push(Arc::clone(&connected));
            let app =
                Arc::new(NothingComes { sources: watch::Sender::new(Arc::new(vec![source()])), connected });
            let kept_for_ever = keep(credentials.clone(), app, stop.clone(), Options::default());
            kept.spawn_on(kept_for_ever, runtime.handle());
        }
        until("they are connected", || Ok(told.iter().all(|told| told.load(Ordering::Relaxed) > 0)))?;
    }
    thread::sleep(A_WHILE);
    let sockets = sockets(pid)?;
    ensure!(sockets >= TUNNELS, "the relay has {sockets} sockets");
    Ok(Idle { without, opened, connected: resident(pid)? })
}

async fn opened(relay: &Relay, token: &str) -> anyhow::Result<Vec<Credentials>> {
    let mut tunnels = Vec::with_capacity(TUNNELS);
    for _ in 0..TUNNELS {
        let mut credentials = Credentials::fresh(relay.url().parse()?);
        let order = credentials.order(None, "bench")?;
        credentials.tunnel = open(&Network::new(), &credentials.relay, token, &order).await?.tunnel;
        tunnels.push(credentials);
    }
    Ok(tunnels)
}

fn source() -> SourceOffer {
    SourceOffer {
        slug: "github".to_owned(),
        provider: Some("github".to_owned()),
        hold: Hold::Handshakes,
        status: None,
        headers: Vec::new(),
        body: None,
        delay_ms: 0,
    }
}

/// Raises the limit of open files to two sockets per tunnel. Processes that are started later inherit the limit.
fn allow_many_files() -> anyhow::Result<()> {
    let mut limit = getrlimit(Resource::Nofile);
    let wanted = 2 * TUNNELS as u64;
    if limit.current.is_some_and(|current| current < wanted) {
        ensure!(limit.maximum.is_none_or(|most| most >= wanted), "`ulimit -Hn` is below {wanted}");
        limit.current = Some(wanted);
        setrlimit(Resource::Nofile, limit)?;
    }
    Ok(())
}

fn sockets(pid: u32) -> anyhow::Result<usize> {
    let files = std::fs::read_dir(format!("/proc/{pid}/fd"))?;
    let is_socket = |file: &std::fs::DirEntry| {
        std::fs::read_link(file.path()).is_ok_and(|to| to.to_string_lossy().starts_with("socket:"))
    };
    Ok(files.filter_map(Result::ok).filter(is_socket).count())
}
