//! Serves a router on a stream, with time-outs of its own: axum's server sets none.

use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

/// How long a head may take, and a connection may idle.
const HEAD_TIME: Duration = Duration::from_secs(30);

/// Who is at the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    /// Anybody: one that closes its side may still wait for the answer.
    Anybody,
    /// A command of ours: one that closes its side has ended, and what it listened for ends with it.
    Command,
}

/// Serves one connection until it ends or we stop.
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
