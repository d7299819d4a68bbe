//! The capture port of this machine: the name of a source, then any path.

use std::{future::Future, net::SocketAddr, sync::Arc};

use hookmitt_event::Slug;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use crate::{
    Bound, Called, Caught, Connections, Denial, Head, Limits, Port, Refusal, Reply, Unencrypted, Way,
    catch_on, catcher::connection_on,
};

/// What a request to the capture port is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The source that the path names. It may not exist.
    pub slug: Slug,
    /// The path after the source's name.
    pub path: String,
    /// The query, without its `?`.
    pub query: Option<String>,
}

/// Takes what is caught at the capture port.
pub trait Sink: Send + Sync + 'static {
    /// Stores a request and returns the answer. The answer may be a 2xx only if the request is stored durably.
    fn caught(&self, address: Address, caught: Caught) -> impl Future<Output = Reply> + Send;

    /// Notes that a request was refused.
    fn refused(&self, refusal: Refusal);
}

/// Serves the capture port until `stop`. Requests in flight are answered first.
pub async fn catch<S: Sink>(bound: Bound, sink: Arc<S>, limits: Limits, stop: CancellationToken) {
    catch_on(bound, Arc::new(Local(sink)), Unencrypted, Connections::default(), limits, stop).await;
}

/// Serves one connection like the capture port does, until it ends, whatever carries it.
pub async fn catch_stream<S, C>(stream: C, remote: SocketAddr, sink: Arc<S>, limits: Limits)
where
    S: Sink,
    C: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    connection_on(stream, remote, Arc::new(Local(sink)), limits).await;
}

struct Local<S>(Arc<S>);

impl<S: Sink> Port for Local<S> {
    type Destination = Address;

    async fn admit(&self, head: &Head, called: &Called<'_>, _remote: SocketAddr) -> Way<Address> {
        let (path, query) = match called.target.split_once('?') {
            Some((path, query)) => (path, Some(query.to_owned())),
            None => (called.target, None),
        };
        if path == "/" && head.method == "GET" {
            return Way::Answer(Reply::json(200, r#"{"listening":true,"post":"/<source>"}"#.to_owned()));
        }
        match split(path) {
            Some((slug, path)) => Way::Take(Address { slug, path: path.to_owned(), query }),
            None => Way::Refuse(Denial::new(
                404,
                "no-such-source",
                "the path doesn't contain a source",
                "post to /<source>, such as /github: 1 to 63 of a-z, 0-9, - and _",
            )),
        }
    }

    async fn caught(&self, address: Address, caught: Caught) -> Reply {
        self.0.caught(address, caught).await
    }

    fn refused(&self, refusal: Refusal, _place: Option<&Address>) {
        self.0.refused(refusal);
    }
}

/// Splits `/github/a//b` into the source's name and the raw rest.
fn split(path: &str) -> Option<(Slug, &str)> {
    let inner = path.strip_prefix('/')?;
    let end = inner.find('/').unwrap_or(inner.len());
    Some((inner[..end].parse().ok()?, &inner[end..]))
}
