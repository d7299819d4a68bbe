//! The core that the window shows: a hookmitt in this process, or the one that already works on the data directory.

use std::{path::PathBuf, sync::Arc};

use bytes::Bytes;
use hookmitt_api::{BoxBody, Door, Host, HostOptions, StartError};
use http::{Request, Response};
use http_body_util::BodyExt as _;
use serde::Deserialize;
use tokio::sync::{Mutex, watch};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::state::{Failure, State};

/// The core of one data directory, from the start of the window to its end.
#[derive(Debug)]
pub(crate) struct Core {
    data_dir: PathBuf,
    seat: Mutex<Seat>,
    state: watch::Sender<State>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

/// Who does the work.
#[derive(Debug, Default)]
struct Seat {
    /// The port that was asked for last.
    port: u16,
    /// Counts the starts, so that a loss is answered once.
    start: u64,
    /// The way in, while there is one.
    door: Option<Door>,
    /// The host behind it, where that is this process.
    host: Option<Host>,
}

/// What `/api/urls` says.
#[derive(Deserialize)]
struct Urls {
    capture: Vec<String>,
}

impl Core {
    /// One that has not started yet.
    pub(crate) fn new(data_dir: PathBuf) -> Arc<Self> {
        Arc::new(Self {
            data_dir,
            seat: Mutex::default(),
            state: watch::Sender::default(),
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
        })
    }

    /// Announces how far it is.
    pub(crate) fn watch(&self) -> watch::Receiver<State> {
        self.state.subscribe()
    }

    /// The data directory.
    pub(crate) fn data_dir(&self) -> &std::path::Path {
        &self.data_dir
    }

    /// How far it is.
    pub(crate) fn state(&self) -> State {
        self.state.borrow().clone()
    }

    /// Starts, or starts again after a failure, to capture on that port; without one, on the one asked for last. Does
    /// nothing while it runs.
    pub(crate) async fn start(self: &Arc<Self>, port: Option<u16>) {
        let mut seat = self.seat.lock().await;
        if seat.door.is_none() {
            seat.port = port.unwrap_or(seat.port);
            self.take(&mut seat).await;
        }
    }

    /// Attaches to the hookmitt that runs; where none does, hosts.
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
            Ok(opened) => opened,
            Err(error) => {
                tracing::warn!(%error, "can't catch");
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

    /// Takes over when the process that we are attached to ends: its stream of news ends with it.
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

    /// Calls the API, as soon as it is there.
    ///
    /// # Errors
    /// Why the core could not start, or the process that did the work is gone.
    pub(crate) async fn call(&self, request: Request<Bytes>) -> Result<Response<BoxBody>, Failure> {
        let mut state = self.watch();
        let state = state.wait_for(|state| *state != State::Starting).await.map(|state| state.clone());
        if let Ok(State::Failed(failure)) = state {
            return Err(failure);
        }
        let door = self.seat.lock().await.door.clone();
        let Some(door) = door else {
            return Err(Failure::new("stopping", "hookmitt is ending", None));
        };
        door.call(request).await.map_err(|error| Failure::from(&error))
    }

    /// Ends when we stop.
    pub(crate) fn stopping(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// Stops: what is in flight is finished.
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

/// Where the process that we are attached to captures.
async fn capture_of(door: &Door) -> Vec<String> {
    let request = Request::get("/api/urls").body(Bytes::new()).unwrap_or_default();
    let Ok(answer) = door.call(request).await else { return Vec::new() };
    let Ok(body) = answer.into_body().collect().await else { return Vec::new() };
    serde_json::from_slice::<Urls>(&body.to_bytes()).map(|urls| urls.capture).unwrap_or_default()
}
