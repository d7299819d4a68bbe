//! The whole of hookmitt in one process: capture, API, delivery.

use std::{
    io,
    net::SocketAddr,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use axum::Router;
use hookmitt_catch::{Bound, Connections, Limits, accept, bind, catch};
use hookmitt_clock::MachineClock;
use hookmitt_engine::{Engine, Network, Resources, StoreChoice};
use hookmitt_event::Timestamp;
use tokio_util::task::TaskTracker;
use zeroize::Zeroizing;

use crate::{
    Door, Gate, StartError,
    open_page::{self, OpenPage},
    router, server,
    session::Sessions,
    socket, token,
};

/// Where to start.
#[derive(Clone, Debug, Default)]
pub struct HostOptions {
    /// The data directory; made where it is missing.
    pub data_dir: PathBuf,
    /// The address of the capture port; loopback without.
    pub host: Option<String>,
    /// The capture port; 0 takes a free one.
    pub port: u16,
    /// The port of the API, on loopback; 0 takes a free one. Without, only this process and those that attach have it.
    pub api_port: Option<u16>,
    /// What browsers get from the API's port without a token: the web UI.
    pub pages: Option<Router>,
    /// Where the API's token is; `token` in the data directory without.
    pub token_file: Option<PathBuf>,
    /// Where secrets may be kept; where `HOOKMITT_KEYRING` says, without.
    pub secrets: Option<StoreChoice>,
    /// How the hosts of providers are reached.
    pub network: Network,
    /// How long a sender waits for the local server, where its source says so; 2.5 s without.
    pub hold: Option<Duration>,
}

/// A running hookmitt.
#[derive(Debug)]
pub struct Host {
    engine: Arc<Engine>,
    capture: Vec<SocketAddr>,
    api: Vec<SocketAddr>,
    sessions: Arc<Sessions>,
    tasks: TaskTracker,
}

impl Host {
    /// Takes the ports, opens the inbox, and starts to capture, answer and deliver.
    ///
    /// # Errors
    /// A port that is taken, a data directory that can't be used.
    pub async fn start(options: HostOptions) -> Result<Self, StartError> {
        let capture = bind(options.host.as_deref(), options.port)?;
        let api = options.api_port.map(|port| bind(None, port)).transpose()?;
        let network = options.network;
        let resources = match options.secrets {
            Some(secrets) => Resources {
                data_dir: options.data_dir.clone(),
                secrets,
                network,
                clock: Arc::new(MachineClock),
            },
            None => Resources { network, ..Resources::of(&options.data_dir)? },
        };
        let engine = Engine::open(resources).await?;
        let addresses = api.as_ref().map(Bound::addresses).unwrap_or_default();
        let token = match &api {
            Some(_) => token::load(options.token_file.as_deref(), &options.data_dir)?,
            None => Zeroizing::new(token::fresh()),
        };
        clear_pages(&options.data_dir);
        let host = Self {
            engine,
            capture: capture.addresses(),
            sessions: Arc::new(Sessions::of(addresses.first().copied(), &token)),
            api: addresses,
            tasks: TaskTracker::new(),
        };
        if let Some(hold) = options.hold {
            host.engine.holds_senders_for(hold);
        }
        host.engine.captures_on(&host.capture);
        host.engine.listens_on(&host.api);
        if let Some(api) = api {
            host.answer_on(api, token, options.pages.unwrap_or_default());
        }
        host.capture_on(capture);
        host.answer_attached();
        host.engine.deliver().await;
        Ok(host)
    }

    fn capture_on(&self, bound: Bound) {
        let (port, stop) = (Arc::new(self.engine.capture_port()), self.engine.stopping());
        self.tasks.spawn(catch(bound, port, Limits::default(), stop));
    }

    fn answer_on(&self, bound: Bound, token: Zeroizing<String>, pages: Router) {
        let gate = Gate::new(&self.api, token, Arc::clone(&self.sessions));
        let router = gate.guard(router::public(Arc::clone(&self.engine), Arc::clone(&self.sessions)), pages);
        let stop = self.engine.stopping();
        let each = stop.clone();
        let serve =
            move |stream, _| server::serve(stream, server::Caller::Anybody, router.clone(), each.clone());
        self.tasks.spawn(accept(bound.listeners, Connections::default(), stop, serve));
    }

    /// Serves other processes, from when this one is the one that delivers.
    fn answer_attached(&self) {
        let (engine, stop) = (Arc::clone(&self.engine), self.engine.stopping());
        let router = router::private(Arc::clone(&engine), Arc::clone(&self.sessions));
        self.tasks.spawn(async move {
            let mut owner = engine.owns_delivery();
            let became = stop.run_until_cancelled(owner.wait_for(|owner| *owner)).await;
            if !matches!(became, Some(Ok(_))) {
                return;
            }
            drop(became);
            let data_dir = engine.data_dir().to_owned();
            if let Err(error) = socket::serve(&data_dir, router, stop).await {
                tracing::warn!(%error, "other commands can't attach; each works on the inbox by itself");
            }
        });
    }

    /// The URLs of the capture port.
    pub fn capture_urls(&self) -> Vec<String> {
        self.capture.iter().map(|address| format!("http://{address}")).collect()
    }

    /// The URLs of the API.
    pub fn api_urls(&self) -> Vec<String> {
        self.api.iter().map(|address| format!("http://{address}")).collect()
    }

    /// A way in for this process.
    pub fn door(&self) -> Door {
        Door::inside(Arc::clone(&self.engine), Arc::clone(&self.sessions))
    }

    /// What a person should know about.
    pub fn warnings(&self) -> Vec<String> {
        self.engine.warnings()
    }

    /// Whether another process is the one that delivers.
    pub fn waits_for_another(&self) -> bool {
        !*self.engine.owns_delivery().borrow() && !self.engine.is_hindered()
    }

    /// A URL for the browser, with a code that works once within a minute; none without a port for the API.
    pub fn open_url(&self) -> Option<String> {
        self.sessions.open_url(Instant::now(), Timestamp::now()).map(|open| open.url)
    }

    /// A private file that leads a browser to such a URL; none without a port for the API. Its path can be an argument
    /// of a program, which the URL can't: everybody sees arguments. It is removed when the code was used or has ended.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn open_page(&self) -> io::Result<Option<PathBuf>> {
        let Some(open) = self.sessions.open_url(Instant::now(), Timestamp::now()) else { return Ok(None) };
        let page = OpenPage::write(self.engine.data_dir(), open, Arc::clone(&self.sessions))?;
        let (path, stop) = (page.path().to_owned(), self.engine.stopping());
        self.tasks.spawn(async move {
            stop.run_until_cancelled(page.until_used()).await;
        });
        Ok(Some(path))
    }

    /// Stops: no new requests, those in flight are answered, attempts in flight are finished.
    pub async fn stop(self) {
        self.engine.stopping().cancel();
        self.tasks.close();
        self.tasks.wait().await;
        self.engine.stop().await;
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place that compares the times of files with now")]
fn clear_pages(data_dir: &std::path::Path) {
    open_page::clear(data_dir, SystemTime::now());
}
