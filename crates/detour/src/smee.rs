//! Listens to a smee channel: reads server-sent events from one long answer, and connects again when it ends.

use std::{error::Error as _, future::Future, io, time::Duration};

use futures_util::TryStreamExt as _;
use hookmitt_call::{Messages, Sse, Trust, is_of_tls};
use hookmitt_event::{NoConnection, Timestamp};
use reqwest::{
    Client, Url,
    header::{ACCEPT, LOCATION},
    redirect::Policy,
};
use tokio_util::sync::CancellationToken;

use crate::{DetourError, MessageError, SmeeMessage};

/// A channel that sends nothing for this long is dead, because smee pings every 30 s.
pub const SILENCE: Duration = Duration::from_secs(75);

/// The largest size of one message, in bytes: a body of 25 MiB, sent both as base64 and as JSON.
const LARGEST: usize = 96 * 1024 * 1024;

/// How long connecting may take.
const CONNECT: Duration = Duration::from_secs(10);

/// A change in the state of the channel.
#[derive(Clone, Debug)]
pub enum Progress {
    /// The channel is open.
    Connected,
    /// The channel is not open, and will be tried again.
    Offline {
        /// When something last came from the channel.
        since: Timestamp,
        /// Why.
        why: DetourError,
    },
}

/// What takes the messages of a channel.
pub trait Listener: Send + Sync {
    /// Takes a message. The next one is not read before this is done.
    fn message(&self, message: SmeeMessage) -> impl Future<Output = ()> + Send;
    /// Called whenever the channel sends anything, even a ping.
    fn heard(&self);
    /// Called for a message that could not be read, and is lost.
    fn unreadable(&self, error: &MessageError);
    /// Called when the channel opens or closes.
    fn progress(&self, progress: Progress);
}

/// A smee channel, given by its URL.
#[derive(Clone, Debug)]
pub struct Channel {
    url: Url,
    client: Client,
}

impl Channel {
    /// Makes a channel. The URL must be `https`, or `http` on this machine.
    ///
    /// # Errors
    /// Fails with [`DetourError::BadUrl`] if the URL can't be a channel's, and with [`DetourError::Unreachable`] if no
    /// HTTP client can be made.
    pub fn new(url: &str) -> Result<Self, DetourError> {
        let bad = || DetourError::BadUrl(url.to_owned());
        let parsed = Url::parse(url).map_err(|_| bad())?;
        let local = matches!(parsed.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
        let scheme_fits = parsed.scheme() == "https" || parsed.scheme() == "http" && local;
        let names_one = parsed.path().len() > 1 && parsed.host_str().is_some();
        if !scheme_fits || !names_one || !parsed.username().is_empty() || parsed.password().is_some() {
            return Err(bad());
        }
        let client = client().map_err(|error| DetourError::Unreachable {
            host: host(&parsed),
            why: NoConnection::Hindered,
            error,
        })?;
        Ok(Self { url: parsed, client })
    }

    /// Has a smee server make a channel. `server` is its URL, such as `https://smee.io`.
    ///
    /// # Errors
    /// Fails if the server can't be reached, or if its answer names no channel.
    pub async fn fresh(server: &str) -> Result<Self, DetourError> {
        // A server that redirects to a channel is asked at `/new`; the name is that of smee.io's own button.
        let asked = Self::new(&format!("{}/new", server.trim_end_matches('/')))?;
        let sent = asked.client.get(asked.url.clone()).timeout(CONNECT).send().await;
        let answer = sent.map_err(|error| asked.unreachable(&error))?;
        let status = answer.status().as_u16();
        let location = answer.headers().get(LOCATION).and_then(|location| location.to_str().ok());
        let channel = location.and_then(|location| asked.url.join(location).ok());
        // A channel of another host would send the requests to somebody whom nobody chose.
        let channel = channel.filter(|channel| channel.host() == asked.url.host());
        Self::new(channel.ok_or(DetourError::Answered { host: asked.host(), status })?.as_str())
    }

    /// Returns the channel's URL, which is given to the provider.
    pub fn url(&self) -> &str {
        self.url.as_str()
    }

    /// Returns the channel's host.
    pub fn host(&self) -> String {
        host(&self.url)
    }

    /// Listens until `stop`. `pause` returns how long to wait before the next try; it is told whether the channel had
    /// been open.
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

    /// Listens until the channel closes or can't be opened.
    async fn once(&self, listener: &impl Listener) -> Ended {
        let gone = |why, error: String| DetourError::Unreachable { host: self.host(), why, error };
        let mut events = match self.open().await {
            Ok(events) => events,
            Err(why) => return Ended { why, since: Timestamp::now(), was_open: false },
        };
        listener.progress(Progress::Connected);
        let mut heard = Timestamp::now();
        let why = loop {
            match tokio::time::timeout(SILENCE, events.next()).await {
                Err(_) => {
                    let error = format!("nothing arrived for {} s", SILENCE.as_secs());
                    break gone(NoConnection::NoAnswer, error);
                }
                Ok(None) => break gone(NoConnection::BrokenOff, "it closed the connection".to_owned()),
                Ok(Some(Err(error))) => break gone(NoConnection::BrokenOff, error.to_string()),
                Ok(Some(Ok(event))) => {
                    listener.heard();
                    self.take(&event, listener).await;
                    heard = Timestamp::now();
                }
            }
        };
        Ended { why, since: heard, was_open: true }
    }

    fn unreachable(&self, error: &reqwest::Error) -> DetourError {
        DetourError::Unreachable { host: self.host(), why: why(error), error: told(error) }
    }

    async fn take(&self, event: &Sse, listener: &impl Listener) {
        // `ready` and `ping` only say that the channel is there.
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
        let answer = asked.map_err(|error| self.unreachable(&error))?;
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

/// Why listening ended, when something last came, and whether the channel had been open.
struct Ended {
    why: DetourError,
    since: Timestamp,
    was_open: bool,
}

/// Returns the innermost cause of reqwest's error, without the URL, because the URL is the channel's only secret.
fn told(error: &reqwest::Error) -> String {
    let mut last: &dyn std::error::Error = error;
    while let Some(deeper) = last.source() {
        last = deeper;
    }
    if std::ptr::addr_eq(last, error) { "the connection failed".to_owned() } else { last.to_string() }
}

/// Returns why there is no connection, as far as the causes of reqwest's error tell.
fn why(error: &reqwest::Error) -> NoConnection {
    let causes = || std::iter::successors(error.source(), |&cause| cause.source());
    if causes().any(is_of_tls) {
        return NoConnection::Untrusted;
    }
    // hyper-util has no type for it.
    if causes().any(|cause| cause.to_string().starts_with("dns error")) {
        return NoConnection::UnknownName;
    }
    let io = causes().find_map(|cause| cause.downcast_ref::<io::Error>());
    match io.map(io::Error::kind) {
        Some(io::ErrorKind::ConnectionRefused) => NoConnection::ConnectionRefused,
        Some(
            io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable | io::ErrorKind::NetworkDown,
        ) => NoConnection::NoRoute,
        Some(io::ErrorKind::TimedOut) => NoConnection::NoAnswer,
        _ if error.is_timeout() => NoConnection::NoAnswer,
        _ => NoConnection::BrokenOff,
    }
}

fn host(url: &Url) -> String {
    url.host_str().unwrap_or_default().to_owned()
}

fn client() -> Result<Client, String> {
    let mut tls = Trust::with_system().into_config();
    tls.alpn_protocols.clear(); // reqwest decides which HTTP is spoken
    Client::builder()
        .tls_backend_preconfigured(tls)
        .redirect(Policy::none())
        .pool_max_idle_per_host(0)
        .connect_timeout(CONNECT)
        .user_agent(concat!("hookmitt/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| error.to_string())
}
