//! Tunnels: what comes in through a relay is judged and stored like what is caught here.
//!
//! One process per data directory runs them, the one that delivers. What a tunnel is doing is known there; what has
//! to outlive it (gaps, until when it was connected) is in the inbox, its keys are in a vault of their own.

mod order;
mod view;

pub use order::{Invitation, TunnelChange, TunnelOrder};
pub use view::{GapView, RefusedCount, Trouble, TunnelState, TunnelView, Waiting};

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use hookmitt_event::GapWhy;
use hookmitt_inbox::{GapPage, KeptTunnel};

use crate::{Engine, EngineError};
use view::{Seen, view};

/// The tunnels that this process runs.
#[derive(Debug, Default)]
pub(crate) struct Tunnels {
    running: Mutex<HashMap<i64, Arc<Mutex<Seen>>>>,
}

impl Tunnels {
    fn seen(&self, id: i64) -> Option<Seen> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.get(&id).map(|seen| seen.lock().unwrap_or_else(PoisonError::into_inner).clone())
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

    async fn tunnel_view(&self, kept: KeptTunnel) -> Result<TunnelView, EngineError> {
        let newest = self.inbox.gaps(kept.id, None, 1).await?.items.into_iter().next();
        let seen = self.tunnels.seen(kept.id).unwrap_or_else(|| self.unrun(&kept));
        Ok(view(kept, seen, newest.map(GapView::from)))
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
