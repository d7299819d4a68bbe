//! The public port: decides by its head where a request goes, and takes webhooks.

use std::{net::SocketAddr, sync::Arc};

use axum::{Router, body::Body};
use hookmitt_catch::{BrokenOff, Called, Caught, Denial, Head, Port, Refusal, Reply, Room, Served, Way};
use hookmitt_mailbox::{Mailbox, Tunnel, short};
use hookmitt_wire::SourceOffer;
use http::{Request, Response};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use tower::ServiceExt as _;

use crate::{
    address::{Address, plain, tunnel_of_host},
    control::{self, Caller},
    origin::Origin,
    proxies::Sender,
    relay::Relay,
};

/// The public port of a relay.
pub(crate) struct Door<M> {
    pub(crate) relay: Arc<Relay<M>>,
    control: Router,
}

/// The source that a request is for, and who sent it.
pub(crate) struct Destination {
    pub(crate) tunnel: Arc<Tunnel>,
    /// The index of the source in the tunnel's sources.
    source: usize,
    /// Path and query as they were called.
    pub(crate) target: String,
    /// The part of the path after the source.
    pub(crate) path: String,
    pub(crate) query: Option<String>,
    pub(crate) sender: Sender,
    /// Whose page the answer is, to a browser.
    origin: Origin,
}

impl Destination {
    pub(crate) fn offer(&self) -> &SourceOffer {
        &self.tunnel.sources[self.source]
    }
}

impl<M: Mailbox> Door<M> {
    pub(crate) fn new(relay: Arc<Relay<M>>) -> Self {
        let control = control::router(Arc::clone(&relay));
        Self { relay, control }
    }

    async fn find(&self, target: &str, sender: Sender) -> Way<Destination> {
        let options = &self.relay.options;
        let host = sender.host.clone().unwrap_or_default();
        let named = options.wildcard.then(|| tunnel_of_host(&host, options.public.authority())).flatten();
        let (tunnel, slug, path, query) = match Address::read(target, named.as_deref()) {
            Address::Control => return Way::Serve,
            Address::NoPath => return Way::Refuse(no_path()),
            Address::Nowhere => return Way::Refuse(nowhere()),
            Address::Source { tunnel, slug, path, query } => (tunnel, slug, path, query),
        };
        let found = match self.relay.mailbox.tunnel(tunnel).await {
            Ok(Some(found)) if !found.revoked => found,
            Ok(_) => return Way::Refuse(nowhere()),
            Err(error) => {
                tracing::error!(%error, "the store can't be read");
                return Way::Refuse(unavailable());
            }
        };
        let source = found.sources.iter().position(|offer| offer.slug == slug);
        let Some(source) = source else {
            self.relay.count_refused(&found.name, true);
            self.relay.unserved.called(&found.name, slug);
            return Way::Refuse(nowhere());
        };
        if let Some(seconds) = self.relay.too_fast(tunnel) {
            self.relay.count_refused(&found.name, false);
            return Way::Refuse(too_fast(seconds));
        }
        let (target, path, query) = (target.to_owned(), path.to_owned(), query.map(str::to_owned));
        let origin = named.map_or(Origin::Shared, |_| Origin::Own(plain(&host)));
        Way::Take(Destination { tunnel: found, source, target, path, query, sender, origin })
    }
}

impl<M: Mailbox> Port for Door<M> {
    type Destination = Destination;

    fn upgrades_at(&self) -> Option<&'static str> {
        Some(control::TUNNEL)
    }

    fn lets_in(&self, remote: SocketAddr) -> Option<Box<dyn Send + Sync>> {
        let Some(place) = self.relay.callers_of.enter(remote.ip()) else {
            self.relay.metrics.refused("too-many-connections");
            return None;
        };
        Some(Box::new(place))
    }

    async fn admit(&self, head: &Head, called: &Called<'_>, remote: SocketAddr) -> Way<Destination> {
        let host = called.authority.map(|authority| authority.as_str());
        let sender = Sender::of(&head.headers, host, remote, &self.relay.options.trusted);
        self.find(called.target, sender).await
    }

    fn rooms(&self, place: &Destination) -> Vec<Room> {
        self.relay.rooms.of(&place.tunnel, place.sender.ip)
    }

    async fn caught(&self, place: Destination, caught: Caught) -> Reply {
        let origin = place.origin.clone();
        origin.guard(self.relay.take(place, caught).await)
    }

    async fn serve(&self, mut request: Request<Incoming>, remote: SocketAddr) -> Response<Served> {
        let caller = Caller::of(request.headers(), remote, &self.relay.options.trusted);
        request.extensions_mut().insert(caller);
        let answered = self.control.clone().oneshot(request.map(Body::new)).await;
        let response = answered.unwrap_or_else(|never| match never {});
        response.map(|body| body.map_err(|error| BrokenOff(error.to_string())).boxed_unsync())
    }

    fn refused(&self, refusal: Refusal, place: Option<&Destination>) {
        let Refusal { status, code, message, .. } = refusal;
        self.relay.metrics.refused(code);
        // The target is not logged, because it names the tunnel and may contain secrets.
        match place {
            Some(place) => {
                let tunnel = short(&place.tunnel.name);
                tracing::info!(tunnel, status, code, message, "a request was refused");
                self.relay.count_refused(&place.tunnel.name, false);
            }
            None => tracing::debug!(status, code, message, "a request was refused"),
        }
    }
}

fn no_path() -> Denial {
    Denial::new(
        400,
        "no-path",
        "the request target isn't a path",
        "send a path, POST /<tunnel>/<source>, or the whole URL",
    )
}

/// The same answer for unknown tunnels, revoked tunnels and unknown sources, so that they can't be told apart.
fn nowhere() -> Denial {
    let hint = "use the path /<tunnel>/<source>, as the app shows it";
    Denial::new(404, "not-found", "not found", hint)
}

fn too_fast(seconds: u64) -> Denial {
    let hint = "send more slowly, or raise the relay's --rate";
    Denial::new(429, "too-fast", "this tunnel receives too many requests", hint).retry_after(seconds)
}

fn unavailable() -> Denial {
    Denial::new(503, "not-stored", "the relay's store can't be reached; nothing was stored", "try again")
}
