//! Controls who may call the API over TCP: the Host must be exactly ours, the Origin ours or absent, and the token
//! right (Threat 1).

use std::{net::SocketAddr, sync::Arc};

use axum::{
    Router,
    extract::{Request, State},
    http::{HeaderMap, StatusCode, header},
    middleware::{self, Next},
    response::Response,
};
use hookmitt_event::{Actor, Timestamp};
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use crate::{Problem, session::Sessions};

/// The access checks of one API port.
pub struct Gate {
    hosts: Vec<String>,
    token: Zeroizing<String>,
    sessions: Arc<Sessions>,
}

impl Gate {
    pub(crate) fn new(
        addresses: &[SocketAddr],
        token: Zeroizing<String>,
        sessions: Arc<Sessions>,
    ) -> Arc<Self> {
        let mut hosts: Vec<_> = addresses.iter().map(ToString::to_string).collect();
        hosts.extend(addresses.iter().map(|address| format!("localhost:{}", address.port())));
        Arc::new(Self { hosts, token, sessions })
    }

    /// Adds the checks to the API's routes. Pages need no token because they contain no user data.
    pub(crate) fn guard(self: Arc<Self>, api: Router, pages: Router) -> Router {
        let api = api.layer(middleware::from_fn_with_state(Arc::clone(&self), check_token));
        api.merge(pages).layer(middleware::from_fn_with_state(self, check_origin))
    }

    /// Returns the error for a request with a foreign Host or Origin. Such a request is refused even with a token.
    fn foreign(&self, headers: &HeaderMap) -> Option<Problem> {
        if !self.is_our_host(headers) {
            let hint = "use 127.0.0.1, [::1] or localhost, with the port";
            return Some(Problem::new(
                StatusCode::FORBIDDEN,
                "foreign-host",
                "that Host isn't this API's",
                hint,
            ));
        }
        if !self.is_our_origin(headers) {
            let hint = "web pages of other origins may not call this API";
            return Some(Problem::new(
                StatusCode::FORBIDDEN,
                "foreign-origin",
                "that Origin isn't this API's",
                hint,
            ));
        }
        None
    }

    /// Returns whose token a request has, or the error for a request without one. Some routes need none.
    fn caller(&self, request: &Request) -> Result<Actor, Problem> {
        let open = matches!(request.uri().path(), "/healthz" | "/api/session");
        let caller = self.owner_of_token(request.headers()).or(open.then_some(Actor::Page));
        let hint = "send `Authorization: Bearer` with the token from the token file in the data directory";
        caller.ok_or_else(|| {
            Problem::new(StatusCode::UNAUTHORIZED, "bad-token", "the token is missing or wrong", hint)
        })
    }

    fn is_our_host(&self, headers: &HeaderMap) -> bool {
        let mut hosts = headers.get_all(header::HOST).iter();
        let host = hosts.next().and_then(|host| host.to_str().ok());
        hosts.next().is_none() && host.is_some_and(|host| self.hosts.iter().any(|ours| ours == host))
    }

    fn is_our_origin(&self, headers: &HeaderMap) -> bool {
        headers.get_all(header::ORIGIN).iter().all(|origin| {
            let host = origin.to_str().ok().and_then(|origin| origin.strip_prefix("http://"));
            host.is_some_and(|host| self.hosts.iter().any(|ours| ours == host))
        })
    }

    /// The API's own token is a program's; a session's is the page's.
    fn owner_of_token(&self, headers: &HeaderMap) -> Option<Actor> {
        let (kind, given) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
        if !kind.eq_ignore_ascii_case("bearer") {
            return None;
        }
        let given = given.trim();
        if bool::from(given.as_bytes().ct_eq(self.token.as_bytes())) {
            return Some(Actor::Api);
        }
        self.sessions.hold(given, Timestamp::now()).then_some(Actor::Page)
    }
}

impl std::fmt::Debug for Gate {
    /// Leaves out the token.
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Gate").field("hosts", &self.hosts).finish_non_exhaustive()
    }
}

type Gated = Result<Response, Problem>;

async fn check_origin(State(gate): State<Arc<Gate>>, request: Request, next: Next) -> Gated {
    match gate.foreign(request.headers()) {
        Some(problem) => Err(problem),
        None => Ok(next.run(request).await),
    }
}

async fn check_token(State(gate): State<Arc<Gate>>, mut request: Request, next: Next) -> Gated {
    let caller = gate.caller(&request)?;
    request.extensions_mut().insert(caller);
    Ok(next.run(request).await)
}
