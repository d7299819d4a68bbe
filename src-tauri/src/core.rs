//! The core behind the window: it runs in this process, or in the hookmitt that already uses the data directory.

use std::{path::PathBuf, sync::Arc};

use bytes::Bytes;
use hookmitt_api::{Actor, BoxBody, Door, Host, HostOptions, StartError};
use http::{Request, Response};
use http_body_util::BodyExt as _;
use serde::Deserialize;
use tokio::sync::{Mutex, watch};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::state::{Failure, State};

/// The core of one data directory, from the window's start to its end.
#[derive(Debug)]
pub(crate) struct Core {
    data_dir: PathBuf,
    seat: Mutex<Seat>,
    state: watch::Sender<State>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

/// Where the core runs.
#[derive(Debug, Default)]
struct Seat {
    /// The capture port that was last requested.
    port: u16,
    /// Counts the starts, so that the loss of one process is handled only once.
    start: u64,
    /// The way to the API, while the core runs.
    door: Option<Door>,
    /// The host, if the core runs in this process.
    host: Option<Host>,
}

/// The part of the answer of `/api/urls` that is needed here.
#[derive(Deserialize)]
struct Urls {
    capture: Vec<String>,
}

impl Core {
    /// Makes a core that has not started yet.
    pub(crate) fn new(data_dir: PathBuf) -> Arc<Self> {
        Arc::new(Self {
            data_dir,
            seat: Mutex::default(),
            state: watch::Sender::default(),
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
        })
    }

    /// Returns a receiver of the core's state and its changes.
    pub(crate) fn watch(&self) -> watch::Receiver<State> {
        self.state.subscribe()
    }

    /// Returns the data directory.
    pub(crate) fn data_dir(&self) -> &std::path::Path {
        &self.data_dir
    }

    /// Returns the core's current state.
    pub(crate) fn state(&self) -> State {
        self.state.borrow().clone()
    }

    /// Starts the core, also again after a failure. It captures on `port`, or else on the port that was last requested.
    /// Does nothing if the core already runs.
    pub(crate) async fn start(self: &Arc<Self>, port: Option<u16>) {
        let mut seat = self.seat.lock().await;
        if seat.door.is_none() {
            seat.port = port.unwrap_or(seat.port);
            self.take(&mut seat).await;
        }
    }

    /// Attaches to the hookmitt that runs on the data directory, or hosts one if there is none.
    async fn take(self: &Arc<Self>, seat: &mut Seat) {
        if self.stop.is_cancelled() {
            return;
        }
        self.state.send_replace(State::Starting);
        seat.start += 1;
        let door = match Door::attach(&self.data_dir).await {
            Ok(Some(door)) => Ok((door, None)),
            Ok(None) => self.host(seat.port).await.map(|host| (host.door(), Some(host))),
            Err(silent) => Err(silent),
        };
        let (door, host) = match door {
            Ok((door, host)) => (door.used_by(Actor::Window), host),
            Err(error) => {
                tracing::warn!(%error, "can't capture");
                self.state.send_replace(State::Failed(Failure::from(&error)));
                return;
            }
        };
        let attached = host.is_none();
        let (capture, warnings) = match &host {
            Some(host) => (host.capture_urls(), host.warnings()),
            None => (capture_of(&door).await, Vec::new()),
        };
        if attached {
            self.watch_owner(door.clone(), seat.start);
        }
        (seat.door, seat.host) = (Some(door), host);
        self.state.send_replace(State::Running { capture, attached, warnings });
    }

    async fn host(&self, port: u16) -> Result<Host, StartError> {
        Host::start(HostOptions { data_dir: self.data_dir.clone(), port, ..HostOptions::default() }).await
    }

    /// Takes over when the process that we are attached to ends, which also ends its event stream.
    fn watch_owner(self: &Arc<Self>, door: Door, start: u64) {
        let (core, stop) = (Arc::clone(self), self.stop.clone());
        self.tasks.spawn(async move {
            let gone = async {
                let request = Request::get("/api/live?brief=true").body(Bytes::new()).unwrap_or_default();
                let Ok(mut news) = door.call(request).await else { return };
                while let Some(Ok(_)) = news.body_mut().frame().await {}
            };
            if stop.run_until_cancelled(gone).await.is_some() {
                core.take_over(start).await;
            }
        });
    }

    async fn take_over(self: &Arc<Self>, start: u64) {
        let mut seat = self.seat.lock().await;
        if seat.start == start {
            seat.door = None;
            self.take(&mut seat).await;
        }
    }

    /// Calls the API, once the core has started.
    ///
    /// # Errors
    /// Fails if the core could not start or has stopped, or if the process that it runs in is gone.
    pub(crate) async fn call(&self, request: Request<Bytes>) -> Result<Response<BoxBody>, Failure> {
        let mut state = self.watch();
        let state = state.wait_for(|state| *state != State::Starting).await.map(|state| state.clone());
        if let Ok(State::Failed(failure)) = state {
            return Err(failure);
        }
        let door = self.seat.lock().await.door.clone();
        let Some(door) = door else {
            return Err(Failure::new("stopping", "hookmitt is stopping", None));
        };
        door.call(request).await.map_err(|error| Failure::from(&error))
    }

    /// Returns a token that is cancelled when the core stops.
    pub(crate) fn stopping(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// Stops the core, after work in flight is finished.
    pub(crate) async fn stop(&self) {
        self.stop.cancel();
        let mut seat = self.seat.lock().await;
        if let Some(host) = seat.host.take() {
            host.stop().await;
        }
        seat.door = None;
        self.tasks.close();
        self.tasks.wait().await;
    }
}

/// Returns the capture URLs of the process that we are attached to.
async fn capture_of(door: &Door) -> Vec<String> {
    let request = Request::get("/api/urls").body(Bytes::new()).unwrap_or_default();
    let Ok(answer) = door.call(request).await else { return Vec::new() };
    let Ok(body) = answer.into_body().collect().await else { return Vec::new() };
    serde_json::from_slice::<Urls>(&body.to_bytes()).map(|urls| urls.capture).unwrap_or_default()
}
