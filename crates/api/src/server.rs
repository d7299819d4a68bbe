//! Serves a router on a stream with its own timeouts, because axum's server sets none.

use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

/// The maximum time for receiving a request head. It also limits how long a connection may be idle.
const HEAD_TIME: Duration = Duration::from_secs(30);

/// Who is at the other end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    /// Anybody. A caller that closes its side may still wait for the answer.
    Anybody,
    /// A hookmitt command. If it closes its side, the command has ended, and its target of `listen` is removed.
    Command,
}

/// Serves one connection until it ends or `stop` is cancelled.
pub(crate) async fn serve<S>(stream: S, caller: Caller, router: Router, stop: CancellationToken)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = TowerToHyperService::new(router);
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME).half_close(caller == Caller::Anybody);
    let connection = builder.serve_connection(TokioIo::new(stream), service);
    tokio::pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection to the API ended early");
    }
}
