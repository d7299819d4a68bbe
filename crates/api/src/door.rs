//! The way from a command to the inbox: through the hookmitt process that is running, or else in the command's own
//! process.

use std::{path::Path, sync::Arc, time::Duration};

use axum::Router;
use bytes::Bytes;
use hookmitt_engine::{Engine, Resources};
use hookmitt_event::Actor;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio_util::task::AbortOnDropHandle;
use tower::ServiceExt as _;

use crate::{StartError, origin, router, session::Sessions, socket};

/// The body of an answer, received piece by piece.
pub type BoxBody =
    http_body_util::combinators::UnsyncBoxBody<Bytes, Box<dyn std::error::Error + Send + Sync>>;

/// How long the running process may take to answer that it is there.
const SILENCE: Duration = Duration::from_secs(5);

/// Access to the management API of a data directory.
#[derive(Clone, Debug)]
pub struct Door {
    way: Way,
    /// Who uses it.
    actor: Actor,
}

#[derive(Clone, Debug)]
enum Way {
    Attached(Arc<Path>),
    Inside(Router, Arc<Engine>),
}

impl Door {
    /// Attaches to the process that runs on this data directory. If there is none, opens the directory in this process.
    ///
    /// # Errors
    /// Fails if the data directory is unreadable or from a newer version, or if the running process does not answer.
    pub async fn open(data_dir: &Path) -> Result<Self, StartError> {
        if let Some(door) = Self::attach(data_dir).await? {
            return Ok(door);
        }
        let engine = Engine::open(Resources::of(data_dir)?).await?;
        Ok(Self::inside(engine, Arc::default()))
    }

    /// Attaches to the process that runs on this data directory. Returns `None` if there is none.
    ///
    /// # Errors
    /// Fails with [`StartError::Silent`] if the process accepts the connection but does not answer.
    pub async fn attach(data_dir: &Path) -> Result<Option<Self>, StartError> {
        if socket::connect(data_dir).await.is_err() {
            return Ok(None);
        }
        let door = Self::by(Way::Attached(data_dir.into()));
        let ask = http::Request::get("/healthz").body(Bytes::new()).unwrap_or_default();
        match tokio::time::timeout(SILENCE, door.call(ask)).await {
            Ok(Ok(_)) => Ok(Some(door)),
            Ok(Err(_)) => Ok(None), // the process has just ended
            Err(_) => Err(StartError::Silent { pid: hookmitt_engine::owner(data_dir) }),
        }
    }

    pub(crate) fn inside(engine: Arc<Engine>, sessions: Arc<Sessions>) -> Self {
        Self::by(Way::Inside(router::private(Arc::clone(&engine), sessions), engine))
    }

    /// A door for commands.
    const fn by(way: Way) -> Self {
        Self { way, actor: Actor::Cli }
    }

    /// Returns the same door for somebody else than a command: what they do is put down to them.
    #[must_use]
    pub fn used_by(self, actor: Actor) -> Self {
        Self { actor, ..self }
    }

    /// Returns whether another process answers the calls.
    pub fn is_attached(&self) -> bool {
        matches!(self.way, Way::Attached(_))
    }

    /// Calls the API. The answer's body arrives as it is produced; a stream's body may never end.
    ///
    /// # Errors
    /// Fails with [`StartError::Unreachable`] if the other process is gone.
    pub async fn call(
        &self,
        mut request: http::Request<Bytes>,
    ) -> Result<http::Response<BoxBody>, StartError> {
        let actor = http::HeaderValue::from_static(self.actor.as_str());
        request.headers_mut().insert(origin::ACTOR, actor);
        match &self.way {
            Way::Attached(data_dir) => over_socket(data_dir, request).await,
            Way::Inside(router, _) => {
                let request = request.map(axum::body::Body::from);
                let answer = router.clone().oneshot(request).await;
                let answer = answer.unwrap_or_else(|never| match never {});
                Ok(answer.map(|body| body.map_err(Into::into).boxed_unsync()))
            }
        }
    }

    /// Stops the engine if it runs in this process, and closes its inbox. Attempts in flight are finished first.
    pub async fn close(self) {
        if let Way::Inside(_, engine) = self.way {
            engine.stop().await;
            engine.close().await;
        }
    }
}

async fn over_socket(
    data_dir: &Path,
    mut request: http::Request<Bytes>,
) -> Result<http::Response<BoxBody>, StartError> {
    let unreachable = |error: &dyn std::fmt::Display| StartError::Unreachable(error.to_string());
    let stream = socket::connect(data_dir).await.map_err(|error| unreachable(&error))?;
    let (mut sender, connection) =
        http1::handshake(TokioIo::new(stream)).await.map_err(|error| unreachable(&error))?;
    let host = http::HeaderValue::from_static("hookmitt");
    request.headers_mut().entry(http::header::HOST).or_insert(host);
    // A task drives the connection during the call. It ends together with the body that it feeds.
    let driver = AbortOnDropHandle::new(drive(connection));
    let answer = sender.send_request(request.map(Full::new)).await.map_err(|error| unreachable(&error))?;
    Ok(answer.map(|body| {
        body.map_frame(move |frame| {
            let _alive = (&driver, &sender);
            frame
        })
        .map_err(Into::into)
        .boxed_unsync()
    }))
}

#[expect(
    clippy::disallowed_methods,
    reason = "its handle is held by the body that it feeds, and aborts with it"
)]
fn drive(
    connection: http1::Connection<
        TokioIo<impl tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static>,
        Full<Bytes>,
    >,
) -> tokio::task::JoinHandle<()> {
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "the connection to the running hookmitt was closed");
        }
    })
}
