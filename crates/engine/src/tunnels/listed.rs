//! Lists tunnels and their gaps.

use std::{path::PathBuf, sync::Arc};

use hookmitt_event::{GapWhy, TunnelKind};
use hookmitt_inbox::{Gap, GapPage, KeptTunnel};
use hookmitt_tunnel::Credentials;
use hookmitt_vault::{StoreChoice, VaultError};
use tokio::sync::{Mutex, watch};
use url::Url;

use super::{
    keys::{DeviceKeys, Keys},
    register::Register,
    running::Running,
    view::{GapView, Seen, Trouble, TunnelState, TunnelView, view},
};
use crate::{EngineError, base::Base, settings::Settings};

/// Which process runs the tunnels of the data directory.
pub(super) enum Place {
    /// This one.
    Here,
    /// Another one, as the trouble says.
    Elsewhere(Trouble),
    /// None.
    Nowhere,
}

/// The tunnels of a data directory, as people list, add and change them.
#[derive(Clone, Debug)]
pub struct Tunnels {
    pub(super) base: Arc<Base>,
    pub(super) settings: Arc<Settings>,
    pub(super) register: Arc<Register>,
    pub(super) keys: Keys,
    /// Held while stored keys are changed.
    pub(super) turning: Arc<Mutex<()>>,
    /// Whether this process delivers, and so runs the tunnels.
    owner: watch::Receiver<bool>,
}

impl Tunnels {
    pub(crate) fn new(
        settings: Arc<Settings>,
        register: Arc<Register>,
        choice: StoreChoice,
        owner: watch::Receiver<bool>,
    ) -> Self {
        let base = Arc::clone(&settings.base);
        let keys = Keys::new(&base.data_dir, choice);
        Self { base, settings, register, keys, turning: Arc::default(), owner }
    }

    /// Returns how many tunnels have their keys in the private file, and where that is.
    pub(crate) fn unencrypted(&self) -> Option<(usize, PathBuf)> {
        self.keys.unencrypted()
    }

    /// Returns every tunnel, in the order in which they were added.
    ///
    /// # Errors
    /// Fails if the inbox fails.
    pub async fn all(&self) -> Result<Vec<TunnelView>, EngineError> {
        let mut views = Vec::new();
        for kept in self.base.inbox.tunnels().await? {
            views.push(self.view(kept).await?);
        }
        Ok(views)
    }

    /// Returns the labels of the tunnels whose keys are not on this machine, as after a backup was restored on another.
    ///
    /// # Errors
    /// Fails if the inbox fails.
    pub async fn without_keys(&self) -> Result<Vec<String>, EngineError> {
        let mut labels = Vec::new();
        for kept in self.base.inbox.tunnels().await? {
            let Some(name) = &kept.keys else { continue };
            if matches!(self.keys.read(name).await, Err(EngineError::Vault(VaultError::Missing(_)))) {
                labels.push(kept.label);
            }
        }
        Ok(labels)
    }

    /// Returns one tunnel.
    ///
    /// # Errors
    /// Fails if the tunnel is unknown.
    pub async fn one(&self, id: i64) -> Result<TunnelView, EngineError> {
        let kept = self.base.inbox.tunnel(id).await?;
        self.view(kept).await
    }

    /// Returns the times when a tunnel was not connected, newest first, one page at a time.
    ///
    /// # Errors
    /// Fails if the tunnel is unknown.
    pub async fn gaps(&self, id: i64, cursor: Option<i64>, limit: usize) -> Result<GapPage, EngineError> {
        self.base.inbox.tunnel(id).await?;
        Ok(self.base.inbox.gaps(id, cursor, limit).await?)
    }

    /// Returns a gap as it is shown. While a relay refuses this device, nobody knows how much of what waited there is
    /// left.
    ///
    /// # Errors
    /// Fails if the inbox fails.
    pub async fn gap_view(&self, gap: Gap) -> Result<GapView, EngineError> {
        let refused = |running: &Running| running.seen().state == TunnelState::Refused;
        let is_open_end =
            gap.until.is_none() && self.register.one(gap.tunnel).is_some_and(|one| refused(&one));
        let view = GapView::from(gap);
        let recovered = self.recovered(&view).await?;
        Ok(GapView {
            lost: view.lost.filter(|_| !is_open_end),
            synced: recovered.map(|(synced, _)| synced),
            unrecoverable: recovered.map(|(_, lost)| lost),
            ..view
        })
    }

    /// Returns how many events of a gap backup sync has added, and how many it can't recover; `None` if it hasn't looked
    /// at the whole of the gap for any source.
    async fn recovered(&self, gap: &GapView) -> Result<Option<(u64, u64)>, EngineError> {
        let Some(until) = gap.until else { return Ok(None) };
        let mut all = None;
        for known in self.settings.sources_through(gap.tunnel_id).await? {
            let found = self.base.inbox.recovered_between(known.source.row, gap.from, until).await?;
            if let Some((synced, lost)) = found {
                let (before, lost_before) = all.unwrap_or((0, 0));
                all = Some((before + synced, lost_before + lost));
            }
        }
        Ok(all)
    }

    async fn view(&self, kept: KeptTunnel) -> Result<TunnelView, EngineError> {
        let newest = self.base.inbox.gaps(kept.id, None, 1).await?.items.into_iter().next();
        let running = self.register.one(kept.id);
        let seen = running.as_ref().map_or_else(|| self.unrun(&kept), |running| running.seen());
        let public_url = match kept.kind {
            TunnelKind::Relay | TunnelKind::Smee => kept.public_url,
            TunnelKind::Cloudflared | TunnelKind::Ngrok => {
                running.as_ref().and_then(|running| running.public_url())
            }
        };
        let unserved = running.as_ref().map(|running| running.unserved()).unwrap_or_default();
        let last_event_at = running.and_then(|running| running.last_event_at()).max(kept.last_event_at);
        let kept = KeptTunnel { last_event_at, public_url, ..kept };
        let newest = match newest {
            Some(gap) => Some(self.gap_view(gap).await?),
            None => None,
        };
        Ok(TunnelView { unserved, ..view(kept, seen, newest) })
    }

    /// Returns this device's credentials for a tunnel.
    pub(super) async fn credentials(&self, kept: &KeptTunnel) -> Result<Credentials, EngineError> {
        let damaged = || EngineError::BadInput(format!("the tunnel {:?} is damaged", kept.label));
        let relay = kept.url.as_deref().and_then(|url| Url::parse(url).ok()).ok_or_else(damaged)?;
        let tunnel = kept.name.clone().ok_or_else(damaged)?;
        let keys = self.keys.read(kept.keys.as_deref().unwrap_or_default()).await?;
        let DeviceKeys { device, mut sealing, owner, .. } = keys;
        let older = sealing.split_off(1);
        let sealing = sealing.pop().ok_or_else(damaged)?;
        Ok(Credentials { relay, tunnel, device, sealing, older, owner })
    }

    /// Returns the state of a tunnel that this process doesn't run.
    fn unrun(&self, kept: &KeptTunnel) -> Seen {
        let since = kept.connected_until.unwrap_or(kept.created_at);
        if !kept.enabled {
            return Seen::new(TunnelState::Off, since);
        }
        match self.place() {
            Place::Here | Place::Nowhere => {
                let why = Some(GapWhy::AppClosed);
                Seen { why, hindrance: why, ..Seen::new(TunnelState::Offline, since) }
            }
            Place::Elsewhere(trouble) => Seen { error: Some(trouble), ..Seen::new(TunnelState::Off, since) },
        }
    }

    /// Says which process runs the tunnels. A process that doesn't capture is a command that found none running.
    pub(super) fn place(&self) -> Place {
        if self.settings.own.capture_urls().is_empty() {
            return Place::Nowhere;
        }
        if *self.owner.borrow() {
            return Place::Here;
        }
        let message = "another hookmitt on this data directory runs the tunnels";
        let hint = "see its window, or run `hookmitt tunnel list`";
        Place::Elsewhere(Trouble::new("other-process", message, hint))
    }
}
