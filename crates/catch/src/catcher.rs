//! Serves the capture port: head and body are gathered within limits and handed to the [`Sink`].

use std::{
    convert::Infallible,
    future::Future,
    net::SocketAddr,
    sync::{Arc, PoisonError},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use hookmitt_event::{Slug, Timestamp};
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::TcpStream,
    sync::{OwnedSemaphorePermit, Semaphore},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use crate::{
    Bound, Connections, Head, HeadError, Refusal, Reply, accept,
    head::{BodyLength, MAX_HEAD, MAX_LINES},
    recorder::{Heads, Recorder},
    refusal::RefusalReason,
};

/// What a sender may use (Threat 7).
#[derive(Clone, Debug)]
pub struct Limits {
    /// The most bytes of one body.
    pub body: usize,
    /// The most bytes of all bodies that are being taken in.
    pub in_flight: usize,
    /// How long a head may take, and a connection may idle.
    pub head_time: Duration,
    /// How long a body may pause.
    pub body_pause: Duration,
    /// How long a body may take altogether.
    pub body_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 25 * 1024 * 1024,
            in_flight: 256 * 1024 * 1024,
            head_time: Duration::from_secs(10),
            body_pause: Duration::from_secs(10),
            body_time: Duration::from_secs(120),
        }
    }
}

/// A whole request under a well-formed source name.
#[derive(Debug)]
pub struct Caught {
    /// The source that the path names; it may not exist.
    pub slug: Slug,
    /// The path after it.
    pub path: String,
    /// The query, without its `?`.
    pub query: Option<String>,
    /// The head as it came.
    pub head: Head,
    /// The body.
    pub body: Bytes,
    /// Who sent it.
    pub remote: SocketAddr,
    /// When its last byte was in.
    pub received_at: Timestamp,
    /// Its share of what may be in flight; given back when this is dropped.
    pub share: OwnedSemaphorePermit,
}

/// Who takes what is caught.
pub trait Sink: Send + Sync + 'static {
    /// Stores a request and says what to answer. Nothing may be answered 2xx that is not stored durably.
    fn caught(&self, caught: Caught) -> impl Future<Output = Reply> + Send;

    /// Notes that a request was not taken.
    fn refused(&self, refusal: Refusal);
}

/// Serves the capture port until `stop`; requests in flight are answered first.
pub async fn catch<S: Sink>(bound: Bound, sink: Arc<S>, limits: Limits, stop: CancellationToken) {
    let in_flight = Arc::new(Semaphore::new(limits.in_flight / SHARE));
    let catcher = Catcher { sink, limits: Arc::new(limits), in_flight, stop: stop.clone() };
    let serve = move |stream, remote| {
        let catcher = Catcher { sink: Arc::clone(&catcher.sink), ..catcher.clone() };
        async move { catcher.connection(stream, remote).await }
    };
    accept(bound.listeners, Connections::default(), stop, serve).await;
}

/// A sender that pauses for so long has stopped writing, and waits for the answer.
const DRAIN_PAUSE: Duration = Duration::from_millis(500);

/// Bytes in flight are counted in pieces of this size.
const SHARE: usize = 1_024;

struct Catcher<S> {
    sink: Arc<S>,
    limits: Arc<Limits>,
    in_flight: Arc<Semaphore>,
    stop: CancellationToken,
}

impl<S> Clone for Catcher<S> {
    fn clone(&self) -> Self {
        Self {
            sink: Arc::clone(&self.sink),
            limits: Arc::clone(&self.limits),
            in_flight: Arc::clone(&self.in_flight),
            stop: self.stop.clone(),
        }
    }
}

impl<S: Sink> Catcher<S> {
    async fn connection(self, stream: TcpStream, remote: SocketAddr) {
        let (recorder, heads) = Recorder::new(stream);
        let stop = self.stop.clone();
        let mut builder = http1::Builder::new();
        // Half closed: a sender may close its side after its last byte, and still wants an answer. No `pipeline_flush`:
        // with it an answer stays unsent while bytes of a broken body wait to be read.
        builder.timer(TokioTimer::new()).header_read_timeout(self.limits.head_time).half_close(true);
        let service = service_fn(|request: Request<Incoming>| {
            let head = heads.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            let catcher = self.clone();
            async move { Ok::<_, Infallible>(catcher.answer(head, request.into_body(), remote).await) }
        });
        let connection = builder.serve_connection(TokioIo::new(recorder), service);
        tokio::pin!(connection);
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            () = stop.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%remote, %error, "a connection to the capture port ended early");
        }
        let _: &Heads = &heads;
    }

    async fn answer(
        &self,
        head: Option<Result<Head, HeadError>>,
        body: Incoming,
        remote: SocketAddr,
    ) -> Response<Full<Bytes>> {
        let reply = match head {
            Some(Ok(head)) => self.take(head, body, remote).await,
            Some(Err(error)) => self.refuse_head(&error, remote),
            None => Reply::problem(500, "no-head", "the request's head was not recorded", "report this"),
        };
        if !reply.delay.is_zero() {
            tokio::time::sleep(reply.delay).await;
        }
        reply.into_response()
    }

    async fn take(&self, head: Head, body: Incoming, remote: SocketAddr) -> Reply {
        let target = origin_form(&head.target);
        let (path, query) = match target.split_once('?') {
            Some((path, query)) => (path, Some(query.to_owned())),
            None => (target, None),
        };
        if path == "/" && head.method == "GET" {
            return Reply::json(200, r#"{"listening":true,"post":"/<source>"}"#.to_owned());
        }
        let Some((slug, path)) = split(path) else {
            let message = "the path names no source";
            let hint = "post to /<source>, such as /github: 1 to 63 of a-z, 0-9, - and _";
            self.drain_unless_asked(&head, body).await;
            return self.refuse(404, RefusalReason::Source, message, hint, &head, remote);
        };
        let path = path.to_owned();
        let (body, share) = match self.gather(&head, body).await {
            Ok(gathered) => gathered,
            Err(Short { status, reason, message, hint }) => {
                return self.refuse(status, reason, &message, hint, &head, remote);
            }
        };
        let received_at = Timestamp::now();
        self.sink.caught(Caught { slug, path, query, head, body, remote, received_at, share }).await
    }

    /// Gathers the body within the limits.
    async fn gather(&self, head: &Head, mut body: Incoming) -> Result<(Bytes, OwnedSemaphorePermit), Short> {
        let started = Instant::now();
        let mut share = self.share(0, 0)?;
        if let BodyLength::Known(length) = head.body
            && length > self.limits.body as u64
        {
            self.drain_unless_asked(head, body).await;
            return Err(self.too_large());
        }
        let mut gathered = Gathered::default();
        loop {
            let rest = self.limits.body_time.saturating_sub(started.elapsed());
            let frame = tokio::time::timeout(rest.min(self.limits.body_pause), body.frame());
            let frame = match frame.await {
                Err(_) => return Err(Short::slow(gathered.size())),
                Ok(None) => return Ok((gathered.whole(), share)),
                Ok(Some(Err(_))) => return Err(Short::truncated(gathered.size(), head.body)),
                Ok(Some(Ok(frame))) => frame,
            };
            let Ok(data) = frame.into_data() else { continue }; // trailers
            if gathered.size() + data.len() > self.limits.body {
                self.drain(body).await;
                return Err(self.too_large());
            }
            match self.share(gathered.size() + data.len(), share.num_permits()) {
                Ok(more) => share.merge(more),
                Err(short) => {
                    drop((gathered, share));
                    self.drain(body).await;
                    return Err(short);
                }
            }
            gathered.add(data);
        }
    }

    /// What a body of so many bytes needs beyond the pieces that it has.
    fn share(&self, bytes: usize, held: usize) -> Result<OwnedSemaphorePermit, Short> {
        let pieces = u32::try_from(bytes.div_ceil(SHARE).saturating_sub(held)).unwrap_or(u32::MAX);
        Arc::clone(&self.in_flight).try_acquire_many_owned(pieces).map_err(|_| Short {
            status: 503,
            reason: RefusalReason::Unavailable,
            message: format!("more than {} bytes are being taken in already", self.limits.in_flight),
            hint: "try again in a moment",
        })
    }

    /// As [`drain`](Self::drain); a sender that asked before it sends its body is told without having sent it.
    async fn drain_unless_asked(&self, head: &Head, body: Incoming) {
        if !head.headers.has("expect") {
            self.drain(body).await;
        }
    }

    /// Reads on for a while, so that a sender that is still writing gets to see the answer.
    async fn drain(&self, mut body: Incoming) {
        let mut rest = self.limits.body.saturating_mul(2);
        let drained = async {
            while let Ok(Some(Ok(frame))) = tokio::time::timeout(DRAIN_PAUSE, body.frame()).await {
                rest = rest.saturating_sub(frame.data_ref().map_or(0, Bytes::len));
                if rest == 0 {
                    break;
                }
            }
        };
        let _out_of_time = tokio::time::timeout(Duration::from_secs(5), drained).await;
    }

    fn too_large(&self) -> Short {
        Short {
            status: 413,
            reason: RefusalReason::TooLarge,
            message: format!("the body is larger than {} bytes", self.limits.body),
            hint: "send less at a time",
        }
    }

    fn refuse_head(&self, error: &HeadError, remote: SocketAddr) -> Reply {
        let (status, hint) = match error {
            HeadError::TooLarge => {
                (431, format!("send at most {MAX_LINES} header lines and {MAX_HEAD} bytes of head"))
            }
            HeadError::Tls => (400, "use http:// rather than https://".to_owned()),
            HeadError::Version => (505, "speak HTTP/1.1".to_owned()),
            HeadError::Malformed(_) => {
                (400, "send `METHOD /source HTTP/1.1` and plain header lines".to_owned())
            }
            HeadError::Framing(_) => {
                (400, "state the length once, with Content-Length or chunked".to_owned())
            }
        };
        let message = error.to_string();
        self.note(status, RefusalReason::Head, &message, None, remote);
        Reply::refusal(status, RefusalReason::Head, &message, &hint)
    }

    fn refuse(
        &self,
        status: u16,
        reason: RefusalReason,
        message: &str,
        hint: &str,
        head: &Head,
        remote: SocketAddr,
    ) -> Reply {
        self.note(status, reason, message, Some(head.target.clone()), remote);
        Reply::refusal(status, reason, message, hint)
    }

    fn note(
        &self,
        status: u16,
        reason: RefusalReason,
        message: &str,
        target: Option<String>,
        remote: SocketAddr,
    ) {
        let at = Timestamp::now();
        let (code, message) = (reason.code(), message.to_owned());
        self.sink.refused(Refusal { at, remote, target, status, code, message });
    }
}

/// The path and query of a target; a sender may write the whole URL (RFC 9112, 3.2.2).
fn origin_form(target: &str) -> &str {
    let rest = target.strip_prefix("http://").or_else(|| target.strip_prefix("https://"));
    rest.map_or(target, |rest| rest.find('/').map_or("/", |path| &rest[path..]))
}

/// `/github/a//b` into the source's name and the raw rest.
fn split(path: &str) -> Option<(Slug, &str)> {
    let inner = path.strip_prefix('/')?;
    let end = inner.find('/').unwrap_or(inner.len());
    Some((inner[..end].parse().ok()?, &inner[end..]))
}

/// A body that was not gathered whole.
struct Short {
    status: u16,
    reason: RefusalReason,
    message: String,
    hint: &'static str,
}

impl Short {
    fn slow(so_far: usize) -> Self {
        Self {
            status: 408,
            reason: RefusalReason::TooSlow,
            message: format!("the body stopped for too long after {so_far} bytes"),
            hint: "send the whole body without long pauses",
        }
    }

    fn truncated(so_far: usize, length: BodyLength) -> Self {
        let message = match length {
            BodyLength::Known(length) => format!("the body ended after {so_far} of {length} bytes"),
            BodyLength::Chunked => format!("the chunked body broke off after {so_far} bytes"),
        };
        let hint = "send the whole body; nothing was stored";
        Self { status: 400, reason: RefusalReason::Truncated, message, hint }
    }
}

/// The pieces of a body. One piece, the usual case, is kept as it is.
#[derive(Default)]
struct Gathered {
    first: Bytes,
    rest: BytesMut,
}

impl Gathered {
    fn size(&self) -> usize {
        if self.rest.is_empty() { self.first.len() } else { self.rest.len() }
    }

    fn add(&mut self, piece: Bytes) {
        if self.first.is_empty() {
            self.first = piece;
            return;
        }
        if self.rest.is_empty() {
            self.rest.extend_from_slice(&self.first);
        }
        self.rest.extend_from_slice(&piece);
    }

    fn whole(self) -> Bytes {
        if self.rest.is_empty() { self.first } else { self.rest.freeze() }
    }
}
