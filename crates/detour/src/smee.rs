//! Listens to a smee channel: server-sent events over one long request, again and again.

use std::{error::Error as _, future::Future, io, time::Duration};

use futures_util::TryStreamExt as _;
use hookmitt_call::{Messages, Sse, Trust};
use hookmitt_event::Timestamp;
use reqwest::{Client, Url, header::ACCEPT, redirect::Policy};
use tokio_util::sync::CancellationToken;

use crate::{DetourError, MessageError, SmeeMessage};

/// A channel that says nothing for so long is dead: smee pings every 30 s.
pub const SILENCE: Duration = Duration::from_secs(75);

/// The most bytes of one message: a body of 25 MiB, written as base64 and as JSON.
const LARGEST: usize = 96 * 1024 * 1024;

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);

/// How the listening goes.
#[derive(Clone, Debug)]
pub enum Progress {
    /// The channel is open.
    Connected,
    /// It is not, and will be tried again.
    Offline {
        /// When it was heard last.
        since: Timestamp,
        /// Why.
        why: DetourError,
    },
}

/// Who takes what a channel says.
pub trait Listener: Send + Sync {
    /// Takes a message; nothing more is read before it is done.
    fn message(&self, message: SmeeMessage) -> impl Future<Output = ()> + Send;
    /// It said something, if only that it is there.
    fn heard(&self);
    /// A message could not be read, and is lost.
    fn unreadable(&self, error: &MessageError);
    /// The channel opened or closed.
    fn progress(&self, progress: Progress);
}

/// A channel by its URL.
#[derive(Clone, Debug)]
pub struct Channel {
    url: Url,
    client: Client,
}

impl Channel {
    /// A channel; `https`, or `http` on this machine.
    ///
    /// # Errors
    /// [`DetourError::BadUrl`].
    pub fn new(url: &str) -> Result<Self, DetourError> {
        let bad = || DetourError::BadUrl(url.to_owned());
        let parsed = Url::parse(url).map_err(|_| bad())?;
        let local = matches!(parsed.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
        let scheme_fits = parsed.scheme() == "https" || parsed.scheme() == "http" && local;
        let names_one = parsed.path().len() > 1 && parsed.host_str().is_some();
        if !scheme_fits || !names_one || !parsed.username().is_empty() || parsed.password().is_some() {
            return Err(bad());
        }
        let client = client().map_err(|why| DetourError::Unreachable { host: host(&parsed), why })?;
        Ok(Self { url: parsed, client })
    }

    /// Its URL: what the provider is given.
    pub fn url(&self) -> &str {
        self.url.as_str()
    }

    /// Its host.
    pub fn host(&self) -> String {
        host(&self.url)
    }

    /// Listens until the stop. `pause` says how long to wait before the next try, by whether the channel had been open.
    pub async fn listen(
        &self,
        listener: &impl Listener,
        mut pause: impl FnMut(bool) -> Duration + Send,
        stop: &CancellationToken,
    ) {
        loop {
            let Some(ended) = stop.run_until_cancelled(self.once(listener)).await else { return };
            let Ended { why, since, was_open } = ended;
            listener.progress(Progress::Offline { since, why });
            if stop.run_until_cancelled(tokio::time::sleep(pause(was_open))).await.is_none() {
                return;
            }
        }
    }

    /// Listens until the channel closes.
    async fn once(&self, listener: &impl Listener) -> Ended {
        let gone = |why: String| DetourError::Gone { host: self.host(), why };
        let mut events = match self.open().await {
            Ok(events) => events,
            Err(why) => return Ended { why, since: Timestamp::now(), was_open: false },
        };
        listener.progress(Progress::Connected);
        let mut heard = Timestamp::now();
        let why = loop {
            match tokio::time::timeout(SILENCE, events.next()).await {
                Err(_) => {
                    let why = format!("nothing came for {} s", SILENCE.as_secs());
                    break DetourError::Unreachable { host: self.host(), why };
                }
                Ok(None) => break gone("it closed the connection".to_owned()),
                Ok(Some(Err(error))) => break gone(error.to_string()),
                Ok(Some(Ok(event))) => {
                    listener.heard();
                    self.take(&event, listener).await;
                    heard = Timestamp::now();
                }
            }
        };
        Ended { why, since: heard, was_open: true }
    }

    async fn take(&self, event: &Sse, listener: &impl Listener) {
        // `ready` and `ping` say only that the channel is there.
        let is_message = matches!(event.event.as_deref(), None | Some("" | "message"));
        let data = event.data.as_deref().filter(|data| is_message && !data.is_empty());
        let Some(data) = data else { return };
        match SmeeMessage::parse(data) {
            Ok(message) => listener.message(message).await,
            Err(error) => listener.unreadable(&error),
        }
    }

    async fn open(&self) -> Result<Messages, DetourError> {
        let asked = self.client.get(self.url.clone()).header(ACCEPT, "text/event-stream").send().await;
        let answer = asked.map_err(|error| {
            let (host, why) = (self.host(), told(&error));
            if is_refused(&error) {
                DetourError::Gone { host, why }
            } else {
                DetourError::Unreachable { host, why }
            }
        })?;
        if !answer.status().is_success() {
            return Err(DetourError::Answered { host: self.host(), status: answer.status().as_u16() });
        }
        let kind =
            answer.headers().get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if !kind.starts_with("text/event-stream") {
            let why = format!("its content type is {:?}", kind.chars().take(80).collect::<String>());
            return Err(DetourError::Nonsense { host: self.host(), why });
        }
        Ok(Messages::new(answer.bytes_stream().map_err(|error| told(&error)), LARGEST))
    }
}

/// Why a channel is listened to no more.
struct Ended {
    why: DetourError,
    since: Timestamp,
    was_open: bool,
}

/// The cause beneath reqwest's own words, without the URL: that is the channel's only secret.
fn told(error: &reqwest::Error) -> String {
    let mut last: &dyn std::error::Error = error;
    while let Some(deeper) = last.source() {
        last = deeper;
    }
    if std::ptr::addr_eq(last, error) { "the connection failed".to_owned() } else { last.to_string() }
}

/// Whether the machine itself said that nobody listens: the network works.
fn is_refused(error: &reqwest::Error) -> bool {
    let mut causes = std::iter::successors(error.source(), |&cause| cause.source());
    causes.any(|cause| {
        let io = cause.downcast_ref::<io::Error>();
        io.is_some_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
    })
}

fn host(url: &Url) -> String {
    url.host_str().unwrap_or_default().to_owned()
}

fn client() -> Result<Client, String> {
    let mut tls = Trust::with_system().into_config();
    tls.alpn_protocols.clear(); // which HTTP is spoken is reqwest's to say
    Client::builder()
        .tls_backend_preconfigured(tls)
        .redirect(Policy::none())
        .pool_max_idle_per_host(0)
        .connect_timeout(CONNECT)
        .user_agent(concat!("hookmitt/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| error.to_string())
}
