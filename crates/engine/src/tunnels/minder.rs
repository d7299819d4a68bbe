//! Stores in the inbox what has to outlive the process: until when a tunnel was connected, and its gaps.

use std::{sync::Arc, time::Duration};

use hookmitt_event::GapWhy;
use hookmitt_inbox::{KeptTunnel, Told};
use tokio::{sync::mpsc, time};

use super::{
    live_state::Step,
    running::Running,
    view::{GapView, Trouble},
};
use crate::{Change, EngineError, base::Base};

/// How often the time is stored up to which a tunnel was connected.
const NOTE_EVERY: Duration = Duration::from_secs(60);

/// How long to wait before storing a gap is tried again.
const AGAIN: Duration = Duration::from_secs(2);

/// The shortest time between two announcements of one tunnel.
const REST: Duration = Duration::from_millis(200);

/// Stores the steps of one tunnel that runs here.
pub(super) struct Minder {
    base: Arc<Base>,
    tunnel: i64,
    running: Arc<Running>,
    steps: mpsc::Receiver<Step>,
}

impl Minder {
    /// Opens a gap for the time in which nothing ran here, as soon as it can be stored.
    pub(super) async fn begin(
        base: Arc<Base>,
        kept: &KeptTunnel,
        running: Arc<Running>,
        steps: mpsc::Receiver<Step>,
    ) -> Self {
        while let Some(until) = kept.connected_until {
            match base.inbox.open_gap(kept.id, until, GapWhy::AppClosed).await {
                Ok(()) => break,
                Err(error) => running.stuck(Trouble::of(&error), running.clock.now()),
            }
            time::sleep(AGAIN).await;
        }
        Self { base, tunnel: kept.id, running, steps }
    }

    /// Stores the steps as they come. Returns only if no more can come.
    pub(super) async fn mind(&mut self) {
        let mut clock = time::interval(NOTE_EVERY);
        loop {
            tokio::select! {
                step = self.steps.recv() => match step {
                    Some(step) => self.take(step).await,
                    None => return,
                },
                _ = clock.tick() => {
                    if let Some(told) = self.running.told() {
                        self.warn(self.note(None, told).await);
                    }
                }
            }
        }
    }

    /// Stores the remaining steps when the tunnel has ended.
    pub(super) async fn finish(mut self) {
        while let Ok(step) = self.steps.try_recv() {
            self.take(step).await;
        }
        self.warn(self.keep(Step::Spoilt).await);
        if let Some(told) = self.running.told() {
            self.warn(self.note(None, told).await);
        }
    }

    async fn take(&self, step: Step) {
        // The step changes or ends the URL under which a source is called.
        let concerns_a_source = self.running.serves().is_some()
            && !matches!(step, Step::Told(_) | Step::Spoilt | Step::Reason { .. });
        self.warn(self.keep(step).await);
        self.running.handled();
        if concerns_a_source {
            self.base.announce(Change::Config);
        }
    }

    async fn keep(&self, step: Step) -> Result<(), EngineError> {
        let inbox = &self.base.inbox;
        match step {
            Step::Found { public_url, told } => self.note(Some(public_url), told).await,
            Step::Told(told) | Step::Closed { told } => self.note(None, told).await,
            Step::CaughtUp { since } => {
                let took = self.running.clock.now().since(since);
                if let Some(gap) = inbox.close_gap(self.tunnel, since, took).await? {
                    self.base.announce(Change::Gap(Box::new(GapView::from(gap))));
                }
                Ok(())
            }
            Step::Spoilt => {
                let (letters, waited) = self.running.take_spoilt();
                if letters == 0 {
                    return Ok(());
                }
                Ok(inbox.tunnel_spoilt(self.tunnel, letters, waited, self.running.clock.now()).await?)
            }
            Step::Lost { since, why } => Ok(inbox.open_gap(self.tunnel, since, why).await?),
            Step::Reason { why } => Ok(inbox.explain_gap(self.tunnel, why).await?),
        }
    }

    /// Stores that the tunnel is connected now.
    async fn note(&self, public_url: Option<String>, told: Told) -> Result<(), EngineError> {
        if let Some(until) = self.running.horizon.until() {
            self.base.inbox.tunnel_complete(self.tunnel, until).await?;
        }
        let (now, last) = (self.running.clock.now(), self.running.last_event_at());
        Ok(self.base.inbox.tunnel_connected(self.tunnel, now, public_url, told, last).await?)
    }

    fn warn(&self, done: Result<(), EngineError>) {
        if let Err(error) = done {
            tracing::warn!(tunnel = self.tunnel, %error, "the state of a tunnel can't be stored");
        }
    }
}

/// Announces changes of a tunnel, no more often than anybody can read. Never returns.
pub(super) async fn tell(base: &Base, tunnel: i64, running: &Running) {
    loop {
        running.changed.notified().await;
        base.announce(Change::Tunnel(tunnel));
        time::sleep(REST).await;
    }
}
