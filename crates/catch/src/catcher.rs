//! Serves a port: records the head, asks the port what to do with it, gathers the body within limits, and hands over
//! the whole request.

use std::{
    convert::Infallible,
    net::SocketAddr,
    sync::{Arc, PoisonError},
};

use bytes::Bytes;
use hookmitt_event::Timestamp;
use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Either, Full};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};
use tokio_util::sync::CancellationToken;

use crate::{
    Bound, Caught, Connections, Denial, Head, HeadError, Limits, Opener, Port, Refusal, Reply, Served, Way,
    accept,
    head::{BodyLength, MAX_HEAD, MAX_LINES},
    intake::Intake,
    recorder::{Heads, Recorded, Recorder},
    refusal::{RefusalReason, RefusedHead, Short},
};

/// Serves a port until `stop`. Requests in flight are answered first.
pub async fn catch_on<P: Port, O: Opener>(
    bound: Bound,
    port: Arc<P>,
    opener: O,
    connections: Connections,
    limits: Limits,
    stop: CancellationToken,
) {
    let catcher = Catcher { port, intake: Intake::new(limits), stop: stop.clone() };
    let serve = move |stream: TcpStream, remote| {
        let (catcher, opener) = (catcher.clone(), opener.clone());
        async move {
            let Some(_place) = catcher.port.lets_in(remote) else {
                tracing::debug!(%remote, "too many connections from that address");
                return;
            };
            match tokio::time::timeout(catcher.intake.limits.head_time, opener.open(stream)).await {
                Ok(Ok(stream)) => catcher.connection(stream, remote).await,
                Ok(Err(error)) => tracing::debug!(%remote, %error, "a connection could not be opened"),
                Err(_) => tracing::debug!(%remote, "a connection took too long to open"),
            }
        }
    };
    accept(bound.listeners, connections, stop, serve).await;
}

/// Serves one connection of a port until it ends, whatever carries the connection.
pub(crate) async fn connection_on<P, S>(stream: S, remote: SocketAddr, port: Arc<P>, limits: Limits)
where
    P: Port,
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let catcher = Catcher { port, intake: Intake::new(limits), stop: CancellationToken::new() };
    catcher.connection(stream, remote).await;
}

struct Catcher<P> {
    port: Arc<P>,
    intake: Intake,
    stop: CancellationToken,
}

impl<P> Clone for Catcher<P> {
    fn clone(&self) -> Self {
        Self { port: Arc::clone(&self.port), intake: self.intake.clone(), stop: self.stop.clone() }
    }
}

type Body = Either<Full<Bytes>, Served>;

impl<P: Port> Catcher<P> {
    async fn connection<S>(self, stream: S, remote: SocketAddr)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (pause, room) = (self.intake.limits.answer_pause, self.intake.in_flight.clone());
        let (recorder, heads) = Recorder::new(stream, self.port.upgrades_at(), pause, room);
        let stop = self.stop.clone();
        let mut builder = http1::Builder::new();
        // Half-closed connections are allowed, because a sender may close its side after its last byte and still want
        // an answer. `pipeline_flush` stays off: it would hold an answer back while bytes of a malformed body wait to
        // be read.
        builder.timer(TokioTimer::new()).header_read_timeout(self.intake.limits.head_time).half_close(true);
        let service = service_fn(|request: Request<Incoming>| {
            let recorded = heads.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            let recorded =
                recorded.and_then(|(number, recorded)| is_of(&request, number).then_some(recorded));
            let catcher = self.clone();
            async move { Ok::<_, Infallible>(catcher.answer(recorded, request, remote).await) }
        });
        let connection = builder.serve_connection(TokioIo::new(recorder), service).with_upgrades();
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
        recorded: Option<Result<Recorded, HeadError>>,
        request: Request<Incoming>,
        remote: SocketAddr,
    ) -> Response<Body> {
        let recorded = match recorded {
            Some(Ok(recorded)) => recorded,
            Some(Err(error)) => return self.said(self.refuse_head(&error, remote)).await,
            None => {
                let (message, hint) = ("the request's head could not be recorded", "please report this");
                return self.said(Reply::refusal(500, "no-head", message, hint)).await;
            }
        };
        let head = &recorded.head;
        let way = match head.called() {
            Ok(called) => self.port.admit(head, &called, remote).await,
            Err(error) => Way::Refuse(error.into()),
        };
        let reply = match way {
            Way::Take(place) => self.take(recorded, place, request.into_body(), remote).await,
            Way::Answer(reply) => reply,
            Way::Refuse(Denial { code, message, mut reply }) => {
                self.intake.drain_unless_asked(head, request.into_body()).await;
                reply.headers.push(("connection".to_owned(), b"close".to_vec()));
                self.note(reply.status, code, message, Some(recorded.head), None, remote);
                reply
            }
            Way::Serve => return self.serve(head, request, remote).await.map(Either::Right),
        };
        self.said(reply).await
    }

    async fn take(
        &self,
        recorded: Recorded,
        place: P::Destination,
        body: Incoming,
        remote: SocketAddr,
    ) -> Reply {
        let Recorded { head, share, broken } = recorded;
        match self.intake.gather(&head, body, share, self.port.rooms(&place)).await {
            Ok((body, share)) => {
                let received_at = Timestamp::now();
                self.port.caught(place, Caught { head, body, remote, received_at, share }).await
            }
            Err(short) => {
                let malformed = broken.get().filter(|_| short.reason == RefusalReason::Truncated);
                let Short { status, reason, message, hint } =
                    malformed.map_or(short, |why| Short::chunks(why));
                let reply = Reply::refusal(status, reason.code(), &message, hint);
                self.note(status, reason.code(), message, Some(head), Some(&place), remote);
                reply
            }
        }
    }

    /// Returns the answer after its delay. A stop cuts the delay short, because the answer could not be sent later.
    async fn said(&self, reply: Reply) -> Response<Body> {
        if !reply.delay.is_zero() {
            let _stopped = self.stop.run_until_cancelled(tokio::time::sleep(reply.delay)).await;
        }
        reply.into_response().map(Either::Left)
    }

    /// Serves the request as it would be without the recorder.
    async fn serve(&self, head: &Head, request: Request<Incoming>, remote: SocketAddr) -> Response<Served> {
        let upgrades = head.upgrades_at(self.port.upgrades_at());
        let mut response = match head.restore(request) {
            Some(request) => self.port.serve(request, remote).await,
            None => {
                let reply =
                    Reply::refusal(400, "bad-request-head", "the target isn't a URL", "check the path");
                reply.into_response().map(|body| body.map_err(|never| match never {}).boxed_unsync())
            }
        };
        // What comes after a request for an upgrade was not recorded, so without the upgrade the connection ends.
        if upgrades && response.status() != StatusCode::SWITCHING_PROTOCOLS {
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }

    fn refuse_head(&self, error: &HeadError, remote: SocketAddr) -> Reply {
        let (reason, status, hint) = match error {
            HeadError::TooLarge => {
                let hint = format!("send at most {MAX_LINES} header lines and {MAX_HEAD} bytes of head");
                (RefusalReason::Head, 431, hint)
            }
            HeadError::NoRoom => (RefusalReason::Unavailable, 503, "try again in a moment".to_owned()),
            HeadError::Tls => (RefusalReason::Head, 400, "use http:// instead of https://".to_owned()),
            HeadError::Version => (RefusalReason::Head, 505, "use HTTP/1.1".to_owned()),
            HeadError::Malformed(_) => {
                let hint = "send `METHOD /source HTTP/1.1` and plain header lines".to_owned();
                (RefusalReason::Head, 400, hint)
            }
            HeadError::Framing(_) => {
                let hint = "state the length exactly once, with Content-Length or chunked".to_owned();
                (RefusalReason::Head, 400, hint)
            }
        };
        let (code, message) = (reason.code(), error.to_string());
        let reply = Reply::refusal(status, code, &message, &hint);
        self.note(status, code, message, None, None, remote);
        reply
    }

    fn note(
        &self,
        status: u16,
        code: &'static str,
        message: String,
        head: Option<Head>,
        place: Option<&P::Destination>,
        remote: SocketAddr,
    ) {
        let at = Timestamp::now();
        let size = head.as_ref().and_then(|head| match head.body {
            BodyLength::Known(size) => Some(size),
            BodyLength::Chunked => None,
        });
        let head = head.map(|Head { method, target, headers, .. }| RefusedHead { method, target, headers });
        self.port.refused(Refusal { at, remote, head, size, status, code, message }, place);
    }
}

/// Returns whether this is the request that hyper was given for the head of that number, and not a later one.
fn is_of<B>(request: &Request<B>, number: u32) -> bool {
    request.uri().path().strip_prefix('/').and_then(|path| path.parse().ok()) == Some(number)
}
