//! All of hookmitt in one process: capture, API and delivery.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use axum::Router;
use hookmitt_catch::{Bound, Connections, Limits, accept, bind, catch, monitor};
use hookmitt_clock::MachineClock;
use hookmitt_engine::{Engine, Network, Resources, StoreChoice, is_near_host};
use hookmitt_event::Timestamp;
use tokio_util::task::TaskTracker;
use zeroize::Zeroizing;

use crate::{
    Door, Gate, StartError, metrics,
    open_page::{self, OpenPage},
    router, server,
    session::Sessions,
    socket, token,
};

/// The options with which hookmitt starts.
#[derive(Clone, Debug, Default)]
pub struct HostOptions {
    /// The data directory. It is created if it does not exist.
    pub data_dir: PathBuf,
    /// The address of the capture port. `None` means loopback.
    pub host: Option<String>,
    /// The capture port. 0 takes a free port.
    pub port: u16,
    /// The port of the API, on loopback. 0 takes a free port. With `None`, only this process and processes that attach
    /// to it can call the API.
    pub api_port: Option<u16>,
    /// Where a monitor reads metrics. `None` means nowhere.
    pub metrics: Option<SocketAddr>,
    /// The pages that browsers get from the API's port without a token: the web UI.
    pub pages: Option<Router>,
    /// The file with the API's token. `None` means `token` in the data directory.
    pub token_file: Option<PathBuf>,
    /// Where secrets may be stored. `None` leaves it to `HOOKMITT_KEYRING`.
    pub secrets: Option<StoreChoice>,
    /// How to reach the hosts of providers.
    pub network: Network,
    /// How long a sender waits for the local server's answer, if its source is set so. `None` means 2.5 s.
    pub hold: Option<Duration>,
}

/// A running hookmitt.
#[derive(Debug)]
pub struct Host {
    engine: Arc<Engine>,
    capture: Vec<SocketAddr>,
    api: Vec<SocketAddr>,
    metrics: Vec<SocketAddr>,
    sessions: Arc<Sessions>,
    tasks: TaskTracker,
}

impl Host {
    /// Binds the ports, opens the inbox, and starts to capture, to serve the API and to deliver.
    ///
    /// # Errors
    /// Fails if a port is taken, or if the data directory or the API's token cannot be used.
    pub async fn start(options: HostOptions) -> Result<Self, StartError> {
        let capture = bind(options.host.as_deref(), options.port)?;
        let api = options.api_port.map(|port| bind(None, port)).transpose()?;
        let metrics = options.metrics.map(|at| bind(Some(&at.ip().to_string()), at.port())).transpose();
        let metrics = metrics.map_err(StartError::Metrics)?;
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
            metrics: metrics.as_ref().map(Bound::addresses).unwrap_or_default(),
            tasks: TaskTracker::new(),
        };
        if let Some(hold) = options.hold {
            host.engine.holds_senders_for(hold);
        }
        host.engine.captures_on(&host.capture);
        host.engine.listens_on(&host.api);
        if let Some(bound) = metrics {
            host.tell_on(bound);
        }
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

    /// Tells a monitor how things are.
    fn tell_on(&self, bound: Bound) {
        let (engine, stop) = (Arc::clone(&self.engine), self.engine.stopping());
        let tell = move || metrics::told(Arc::clone(&engine));
        self.tasks.spawn(monitor(bound, |host| host.is_some_and(is_near_host), tell, stop));
    }

    /// Serves other processes on the private socket, as soon as this process is the one that delivers.
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
                tracing::warn!(%error, "other commands can't attach to this process; each opens the inbox itself");
            }
        });
    }

    /// Returns the URLs of the capture port.
    pub fn capture_urls(&self) -> Vec<String> {
        self.capture.iter().map(|address| format!("http://{address}")).collect()
    }

    /// Returns the URLs of the API.
    pub fn api_urls(&self) -> Vec<String> {
        self.api.iter().map(|address| format!("http://{address}")).collect()
    }

    /// Returns the URLs at which a monitor reads metrics.
    pub fn metrics_urls(&self) -> Vec<String> {
        self.metrics.iter().map(|address| format!("http://{address}/metrics")).collect()
    }

    /// Returns access to the API for this process.
    pub fn door(&self) -> Door {
        Door::inside(Arc::clone(&self.engine), Arc::clone(&self.sessions))
    }

    /// Returns warnings for the user.
    pub fn warnings(&self) -> Vec<String> {
        let open = self.metrics.iter().filter(|at| !is_private(at.ip())).map(|at| {
            format!("whoever reaches {at} can read the metrics, with the names of your sources and targets")
        });
        self.engine.warnings().into_iter().chain(open).collect()
    }

    /// Returns whether this process waits because another one delivers.
    pub fn waits_for_another(&self) -> bool {
        !*self.engine.owns_delivery().borrow() && !self.engine.is_hindered()
    }

    /// Returns a URL for the browser, with a code that works once within a minute. `None` if the API has no port.
    pub fn open_url(&self) -> Option<String> {
        self.sessions.open_url(Instant::now(), Timestamp::now()).map(|open| open.url)
    }

    /// Writes a private file that sends a browser to such a URL, and returns its path. `None` if the API has no port.
    ///
    /// The path may be given to a program as an argument. The URL may not, because every user can see arguments. The
    /// file is removed when its code was used or has expired.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn open_page(&self) -> io::Result<Option<PathBuf>> {
        let Some(open) = self.sessions.open_url(Instant::now(), Timestamp::now()) else { return Ok(None) };
        let page = OpenPage::write(self.engine.data_dir(), open, Arc::clone(&self.sessions))?;
        let (path, stop) = (page.path().to_owned(), self.engine.stopping());
        self.tasks.spawn(async move {
            stop.run_until_cancelled(page.until_used()).await;
        });
        Ok(Some(path))
    }

    /// Stops: accepts no new requests, answers those in flight, and finishes attempts in flight.
    pub async fn stop(self) {
        self.engine.stopping().cancel();
        self.tasks.close();
        self.tasks.wait().await;
        self.engine.stop().await;
        self.engine.close().await;
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place that compares the times of files with now")]
fn clear_pages(data_dir: &std::path::Path) {
    open_page::clear(data_dir, SystemTime::now());
}

/// Whether only this machine or a private network can reach an address.
fn is_private(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.is_loopback() || ip.is_private() || ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local(),
    }
}
