//! Runs the tunnels that are switched on, in the process that delivers.

use std::{collections::HashMap, sync::Arc, time::Duration};

use hookmitt_event::{GapWhy, TunnelKind};
use hookmitt_inbox::KeptTunnel;
use hookmitt_tunnel::{Credentials, Network, Options, TunnelError, keep};
use tokio::{
    sync::{Notify, watch},
    task::JoinHandle,
    time,
};

use super::{
    detours, kind,
    listed::Tunnels,
    live_state,
    mail::Mail,
    minder::{Minder, tell},
    register::PARTING,
    running::Running,
    view::Trouble,
};
use crate::{EngineError, capture::Capture};

/// How long to wait before keys that could not be read are read again.
const KEYS_AGAIN: Duration = Duration::from_secs(30);

/// The pause before a tunnel that ended by itself is started again, which happens only by a fault of ours.
const ANEW: Duration = Duration::from_secs(1);

/// Notifies when a tunnel's task has ended, in whatever way.
struct Bell<'a>(&'a Notify);

impl Drop for Bell<'_> {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

/// The running tunnels, each with its task.
type Tasks = HashMap<i64, (Arc<Running>, JoinHandle<()>)>;

/// Runs the tunnels.
#[derive(Debug)]
pub(crate) struct Runner {
    tunnels: Tunnels,
    capture: Arc<Capture>,
}

impl Runner {
    pub(crate) const fn new(tunnels: Tunnels, capture: Arc<Capture>) -> Self {
        Self { tunnels, capture }
    }

    /// Runs the tunnels from when this process becomes the one that delivers, until the stop.
    pub(crate) fn begin(self: &Arc<Self>, mut owner: watch::Receiver<bool>) {
        let this = Arc::clone(self);
        let work = async move {
            let (base, settings) = (&this.tunnels.base, &this.tunnels.settings);
            let stop = &base.tasks.stop;
            let mut reloads = settings.reloads();
            let became = stop.run_until_cancelled(owner.wait_for(|owner| *owner)).await;
            let is_owner = matches!(became, Some(Ok(_)));
            drop(became);
            base.tasks.spawn(tell_relays(Arc::clone(&this)));
            let mut tasks = Tasks::new();
            while is_owner && !stop.is_cancelled() {
                if let Err(error) = this.reconcile(&mut tasks).await {
                    tracing::warn!(%error, "the tunnels can't be read");
                }
                tokio::select! {
                    () = stop.cancelled() => {}
                    () = this.tunnels.register.task_ended.notified() => {}
                    _ = reloads.changed() => {}
                }
            }
        };
        self.tunnels.base.tasks.spawn(work);
    }

    /// Starts tunnels that are switched on and don't run; ends tunnels that run and are no longer switched on.
    async fn reconcile(self: &Arc<Self>, tasks: &mut Tasks) -> Result<(), EngineError> {
        let kept = self.tunnels.base.inbox.tunnels().await?;
        let over: Vec<_> =
            tasks.iter().filter(|(_, (_, task))| task.is_finished()).map(|(id, _)| *id).collect();
        for id in over {
            tracing::error!(tunnel = id, "a tunnel stopped unexpectedly; it is being restarted");
            tasks.remove(&id);
            self.tunnels.register.ended(id);
            time::sleep(ANEW).await;
        }
        let running: Vec<_> = tasks.keys().copied().collect();
        for id in running {
            let wanted = kept.iter().find(|tunnel| tunnel.id == id);
            if wanted.is_some_and(|tunnel| tunnel.enabled) {
                continue;
            }
            if let Some((running, task)) = tasks.remove(&id) {
                self.part(id, &running, task, wanted.is_none()).await;
            }
        }
        for tunnel in kept {
            match tasks.get(&tunnel.id) {
                Some((running, _)) => running.offer(&self.tunnels.settings, &tunnel.sources),
                None if tunnel.enabled => {
                    tasks.insert(tunnel.id, self.start(tunnel));
                }
                None => {}
            }
        }
        Ok(())
    }

    fn start(self: &Arc<Self>, kept: KeptTunnel) -> (Arc<Running>, JoinHandle<()>) {
        let base = &self.tunnels.base;
        let (running, steps) =
            Running::new(base.tasks.stop.child_token(), kept.connected_until, Arc::clone(&base.clock));
        let running = Arc::new(running.of(&kept));
        self.tunnels.register.runs(kept.id, Arc::clone(&running));
        running.offer(&self.tunnels.settings, &kept.sources);
        let (this, own) = (Arc::clone(self), Arc::clone(&running));
        let task = base.tasks.spawn(async move {
            let _told = Bell(&this.tunnels.register.task_ended);
            let begun = Minder::begin(Arc::clone(&this.tunnels.base), &kept, Arc::clone(&own), steps);
            if let Some(minder) = own.stop.run_until_cancelled(begun).await {
                this.keep(&kept, &own, minder).await;
            }
        });
        (running, task)
    }

    /// Runs a tunnel until it is stopped.
    async fn keep(&self, kept: &KeptTunnel, running: &Arc<Running>, mut minder: Minder) {
        let talking = async {
            match kind::program(kept.kind) {
                Some(program) => Box::pin(detours::lead(&self.capture, kept.id, program, running)).await,
                None if kept.kind == TunnelKind::Smee => {
                    Box::pin(detours::listen(&self.capture, kept, running)).await
                }
                None => self.talk(kept, running).await,
            }
        };
        tokio::select! {
            () = talking => {}
            () = minder.mind() => {}
            () = tell(&self.tunnels.base, kept.id, running) => {}
        }
        minder.finish().await;
    }

    /// Talks to a relay until the tunnel is stopped.
    async fn talk(&self, kept: &KeptTunnel, running: &Arc<Running>) {
        let reading = self.credentials_in_time(kept, running);
        let Some(credentials) = running.stop.run_until_cancelled(reading).await else { return };
        match options(kept, running) {
            Ok(options) => {
                let mail = Arc::new(Mail::new(&self.capture, &self.tunnels, kept.id, Arc::clone(running)));
                keep(credentials, mail, running.stop.clone(), options).await;
                // If this device has left, the task waits here until the tunnel is removed. The relay would not know
                // the device if it connected again.
                running.stop.cancelled().await;
            }
            Err(error) => {
                running.stuck(trouble(&error.into()), running.clock.now());
                running.stop.cancelled().await;
            }
        }
    }

    /// Returns the credentials of a tunnel, as soon as its keys can be read.
    async fn credentials_in_time(&self, kept: &KeptTunnel, running: &Running) -> Credentials {
        loop {
            match self.tunnels.credentials(kept).await {
                Ok(credentials) => return credentials,
                Err(error) => running.stuck(trouble(&error), running.clock.now()),
            }
            time::sleep(KEYS_AGAIN).await;
        }
    }

    /// Ends a tunnel. With `for_ever`, tells the relay that this device doesn't come back.
    async fn part(&self, id: i64, running: &Running, task: JoinHandle<()>, for_ever: bool) {
        if for_ever && running.serves().is_none() && !running.has_left() {
            match time::timeout(PARTING, running.line.leave()).await {
                Ok(Ok(())) => {}
                _ => tracing::warn!(
                    tunnel = id,
                    "the relay could not be told; it forgets this device in 30 days"
                ),
            }
        }
        running.stop.cancel();
        if time::timeout(PARTING, task).await.is_err() {
            tracing::warn!(tunnel = id, "a tunnel is slow to stop");
        }
        self.tunnels.register.ended(id);
        if !for_ever {
            self.note_off(id).await;
        }
    }

    /// Opens a gap for a tunnel that was connected until it was switched off.
    async fn note_off(&self, id: i64) {
        let noted = async {
            let kept = self.tunnels.base.inbox.tunnel(id).await?;
            match kept.connected_until {
                Some(until) => self.tunnels.base.inbox.open_gap(id, until, GapWhy::Off).await,
                None => Ok(()),
            }
        };
        if let Err(error) = noted.await {
            tracing::warn!(tunnel = id, %error, "the end of a tunnel can't be stored");
        }
    }
}

/// Tells each relay which sources its tunnel serves, whenever the settings change, until the stop.
async fn tell_relays(runner: Arc<Runner>) {
    let Tunnels { base, settings, register, .. } = &runner.tunnels;
    let mut reloads = settings.reloads();
    while let Some(Ok(())) = base.tasks.stop.run_until_cancelled(reloads.changed()).await {
        let kept = match base.inbox.tunnels().await {
            Ok(kept) => kept,
            Err(error) => {
                tracing::warn!(%error, "the relays can't be told about the settings");
                continue;
            }
        };
        for tunnel in kept {
            if let Some(running) = register.one(tunnel.id) {
                running.offer(settings, &tunnel.sources);
            }
        }
    }
}

fn options(kept: &KeptTunnel, running: &Running) -> Result<Options, TunnelError> {
    let network = Network::from_env()?;
    let (line, horizon) = (running.line.clone(), running.horizon.clone());
    Ok(Options { network, line, horizon, offline_since: kept.connected_until, ..Options::default() })
}

fn trouble(error: &EngineError) -> Trouble {
    if let EngineError::Tunnel(error) = error {
        return live_state::trouble(error);
    }
    Trouble::of(error)
}
