//! Tunnels: what comes in through a relay is judged and stored like what is caught here.
//!
//! One process per data directory runs them, the one that delivers. What a tunnel is doing is known there; what has
//! to outlive it (gaps, until when it was connected) is in the inbox, its keys are in a vault of their own.

mod detours;
mod devices;
mod keys;
mod letter;
mod mail;
mod minder;
mod now;
mod offers;
mod order;
mod run;
mod running;
mod view;

use std::{
    collections::HashMap,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use arc_swap::ArcSwap;
use hookmitt_event::{GapWhy, Slug, TunnelKind};
use hookmitt_inbox::{Gap, GapPage, KeptTunnel};
use hookmitt_tunnel::Credentials;
use hookmitt_vault::StoreChoice;
use tokio::sync::{Notify, Semaphore, watch};
use url::Url;

pub(crate) use detours::rewritten;
pub use devices::{DeviceView, RevokedDevice};
pub use order::{Invitation, Removed, TunnelChange, TunnelOrder};
pub use view::{GapView, RefusedCount, Trouble, TunnelState, TunnelView, Waiting};

use crate::{Config, Engine, EngineError};
use keys::{DeviceKeys, Keys};
use running::Running;
use view::{Seen, view};

/// The source of events that came through a tunnel for a source that is gone. Nobody can call it through one.
pub const UNASSIGNED: &str = "unassigned";

/// How many letters of all tunnels may be on their way into the inbox: a quarter of the writer's queue, so that capture
/// always finds room there.
const ROOM: usize = 1_024;

/// The tunnels of a data directory, and those of them that this process runs.
#[derive(Debug)]
pub(crate) struct Tunnels {
    running: Mutex<HashMap<i64, Arc<Running>>>,
    keys: Keys,
    room: Arc<Semaphore>,
    /// Who changes kept keys does so alone.
    turning: tokio::sync::Mutex<()>,
    /// The tunnels may be others than they were.
    reloaded: Notify,
    /// One has ended.
    endings: watch::Sender<()>,
}

impl Tunnels {
    pub(crate) fn new(data_dir: &Path, choice: StoreChoice) -> Self {
        Self {
            running: Mutex::default(),
            keys: Keys::new(data_dir, choice),
            room: Arc::new(Semaphore::new(ROOM)),
            turning: tokio::sync::Mutex::default(),
            reloaded: Notify::new(),
            endings: watch::Sender::default(),
        }
    }

    /// Settings changed: each relay is told what concerns it.
    pub(crate) fn take_up(&self, config: &ArcSwap<Config>, kept: &[KeptTunnel]) {
        for tunnel in kept {
            if let Some(running) = self.one(tunnel.id) {
                running.offer(config, &tunnel.sources);
            }
        }
        self.reloaded.notify_one();
    }

    /// What a person should know about how keys are kept.
    pub(crate) fn warning(&self) -> Option<String> {
        self.keys.warning()
    }

    fn all(&self) -> MutexGuard<'_, HashMap<i64, Arc<Running>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn one(&self, id: i64) -> Option<Arc<Running>> {
        self.all().get(&id).cloned()
    }

    /// What a source's provider is given while a channel or a program serves that source here.
    pub(crate) fn public_url_of(&self, source: &Slug) -> Option<String> {
        let all = self.all();
        let serving = all.iter().filter(|(_, running)| running.serves().as_ref() == Some(source));
        serving.filter_map(|(id, running)| Some((*id, running.public_url()?))).min().map(|(_, url)| url)
    }

    fn runs(&self, id: i64, running: Arc<Running>) {
        self.all().insert(id, running);
    }

    fn ended(&self, id: i64) {
        self.all().remove(&id);
        self.endings.send_replace(());
    }

    /// Waits until a tunnel that isn't wanted any more has ended here: nothing comes through it from then on.
    async fn until_ended(&self, id: i64) {
        let mut endings = self.endings.subscribe();
        let ended = endings.wait_for(|()| self.one(id).is_none());
        if tokio::time::timeout(run::PARTING * 3, ended).await.is_err() {
            tracing::warn!(tunnel = id, "a tunnel that is not wanted any more has not ended yet");
        }
    }
}

impl Engine {
    /// Every tunnel, in the order in which they were added.
    ///
    /// # Errors
    /// Whatever the inbox says.
    pub async fn tunnels(&self) -> Result<Vec<TunnelView>, EngineError> {
        let mut views = Vec::new();
        for kept in self.inbox.tunnels().await? {
            views.push(self.tunnel_view(kept).await?);
        }
        Ok(views)
    }

    /// One tunnel.
    ///
    /// # Errors
    /// An unknown tunnel.
    pub async fn tunnel(&self, id: i64) -> Result<TunnelView, EngineError> {
        let kept = self.inbox.tunnel(id).await?;
        self.tunnel_view(kept).await
    }

    /// The times when a tunnel was not connected, newest first, a page at a time.
    ///
    /// # Errors
    /// An unknown tunnel.
    pub async fn tunnel_gaps(
        &self,
        id: i64,
        cursor: Option<i64>,
        limit: usize,
    ) -> Result<GapPage, EngineError> {
        self.inbox.tunnel(id).await?;
        Ok(self.inbox.gaps(id, cursor, limit).await?)
    }

    /// A gap as it is shown. As long as a relay refuses this device, nobody knows what of what waited there is left.
    pub fn gap_view(&self, gap: Gap) -> GapView {
        let refused = |running: &Running| running.seen().state == TunnelState::Refused;
        let is_open_end =
            gap.until.is_none() && self.tunnels.one(gap.tunnel).is_some_and(|one| refused(&one));
        let view = GapView::from(gap);
        GapView { lost: view.lost.filter(|_| !is_open_end), ..view }
    }

    async fn tunnel_view(&self, kept: KeptTunnel) -> Result<TunnelView, EngineError> {
        let newest = self.inbox.gaps(kept.id, None, 1).await?.items.into_iter().next();
        let running = self.tunnels.one(kept.id);
        let seen = running.as_ref().map_or_else(|| self.unrun(&kept), |running| running.seen());
        let public_url = match kept.kind {
            TunnelKind::Relay | TunnelKind::Smee => kept.public_url,
            TunnelKind::Cloudflared | TunnelKind::Ngrok => {
                running.as_ref().and_then(|running| running.public_url())
            }
        };
        let last_event_at = running.and_then(|running| running.last_event_at()).max(kept.last_event_at);
        let kept = KeptTunnel { last_event_at, public_url, ..kept };
        Ok(view(kept, seen, newest.map(|gap| self.gap_view(gap))))
    }

    /// A device's way into a tunnel.
    async fn credentials(&self, kept: &KeptTunnel) -> Result<Credentials, EngineError> {
        let damaged = || EngineError::BadInput(format!("the tunnel {:?} is damaged", kept.label));
        let relay = kept.url.as_deref().and_then(|url| Url::parse(url).ok()).ok_or_else(damaged)?;
        let tunnel = kept.name.clone().ok_or_else(damaged)?;
        let keys = self.tunnels.keys.read(kept.keys.as_deref().unwrap_or_default()).await?;
        let DeviceKeys { device, mut sealing, owner, .. } = keys;
        let older = sealing.split_off(1);
        let sealing = sealing.pop().ok_or_else(damaged)?;
        Ok(Credentials { relay, tunnel, device, sealing, older, owner })
    }

    /// How a tunnel is that this process doesn't run.
    fn unrun(&self, kept: &KeptTunnel) -> Seen {
        let since = kept.connected_until.unwrap_or(kept.created_at);
        if !kept.enabled {
            return Seen::new(TunnelState::Off, since);
        }
        if self.capture_urls().is_empty() || *self.owns_delivery().borrow() {
            return Seen { why: Some(GapWhy::AppClosed), ..Seen::new(TunnelState::Offline, since) };
        }
        let message = "another hookmitt on this data directory has the tunnels";
        let error =
            Trouble::new("other-process", message, "look at its window or its `hookmitt tunnel list`");
        Seen { error: Some(error), ..Seen::new(TunnelState::Off, since) }
    }
}
