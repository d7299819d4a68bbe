//! The paths that are not captured: `/-/healthz`, and those by which devices open, join and enter a tunnel.

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use axum::{
    Extension, Json, Router,
    extract::{
        DefaultBodyLimit, State, WebSocketUpgrade, rejection::JsonRejection,
        ws::rejection::WebSocketUpgradeRejection,
    },
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
    routing::{get, post},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use hookmitt_catch::INERT;
use hookmitt_event::HeaderLines;
use hookmitt_mailbox::{Mailbox, MailboxError, NewDevice, NewTunnel, short};
use hookmitt_wire::{
    INTRODUCTION_HEADER, Join, LETTER_VERSION, MAX_FRAME, OpenTunnel, Opened, WORDS, WORDS_HEADER,
};
use ipnet::IpNet;

use crate::{
    address::is_tunnel_name,
    conversation,
    problem::Problem,
    proxies::Sender,
    relay::Relay,
    secret::{fresh_name, hash},
};

/// The path of the devices' WebSocket.
pub(crate) const TUNNEL: &str = "/-/v1/tunnel";

/// The size limit of a request body under `/-/`, in bytes.
const LARGEST: usize = 16 * 1024;

/// How long a request may take, its body included.
const LONGEST: Duration = Duration::from_secs(15);

/// How many characters of a device's display name are kept.
const LONGEST_NAME: usize = 100;

/// The size of each WebSocket's read and write buffers, in bytes. Small, because thousands of devices are idle most of
/// the time.
const BUFFER: usize = 8 * 1024;

/// The address from which a request under `/-/` comes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caller(pub(crate) IpAddr);

impl Caller {
    pub(crate) fn of(headers: &HeaderMap, peer: SocketAddr, trusted: &[IpNet]) -> Self {
        let lines = headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
        let lines = HeaderLines::from_pairs(lines).unwrap_or_default();
        Self(Sender::of(&lines, None, peer, trusted).ip)
    }
}

type Shared<M> = State<Arc<Relay<M>>>;

/// Returns the routes under `/-/`.
pub(crate) fn router<M: Mailbox>(relay: Arc<Relay<M>>) -> Router {
    Router::new()
        .route("/-/healthz", get(healthz::<M>))
        .route("/-/v1/tunnels", post(open::<M>))
        .route("/-/v1/join", post(join::<M>))
        .route(TUNNEL, get(tunnel::<M>))
        .method_not_allowed_fallback(async || {
            let hint = "docs/relay.md lists all routes";
            Problem::new(StatusCode::METHOD_NOT_ALLOWED, "bad-method", "method not allowed", hint)
        })
        .fallback(async || Problem::new(StatusCode::NOT_FOUND, "not-found", "not found", ""))
        .layer(DefaultBodyLimit::max(LARGEST))
        .layer(axum::middleware::from_fn(in_time))
        .layer(axum::middleware::map_response(inert))
        .with_state(relay)
}

async fn in_time(request: axum::extract::Request, next: axum::middleware::Next) -> Response {
    let late = || {
        let (status, hint) = (StatusCode::REQUEST_TIMEOUT, "send the whole body without long pauses");
        Problem::new(status, "too-slow", "the request took too long", hint).into_response()
    };
    tokio::time::timeout(LONGEST, next.run(request)).await.unwrap_or_else(|_| late())
}

/// Adds headers that keep browsers from treating an answer as a page.
async fn inert(mut response: Response) -> Response {
    for (name, value) in INERT {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

async fn healthz<M: Mailbox>(State(relay): Shared<M>) -> Result<Json<serde_json::Value>, Problem> {
    if relay.is_healthy().await {
        return Ok(Json(serde_json::json!({ "ok": true, "version": env!("CARGO_PKG_VERSION") })));
    }
    let (message, hint) = ("the relay can't store anything at the moment", "the relay's log says why");
    Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "not-healthy", message, hint).retry_after(5))
}

async fn open<M: Mailbox>(
    State(relay): Shared<M>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    order: Result<Json<OpenTunnel>, JsonRejection>,
) -> Result<Response, Problem> {
    patience(&relay, caller)?;
    let token = bearer(&headers).ok_or_else(Problem::no_token)?;
    let Some(token) = relay.mailbox.token(hash(token)).await? else {
        relay.guesses.wrong(caller.0);
        return Err(Problem::no_token());
    };
    let Json(order) = order?;
    let sealing_key = key(&order.sealing_key, "sealing_key")?;
    let device = device(&order.device_key, order.device_name)?;
    if let Some(name) = &order.name
        && !is_tunnel_name(name)
    {
        let hint = "use 3 to 63 of a-z, 0-9 and -, starting with a letter or digit";
        return Err(Problem::bad_input("bad-name", "not a tunnel's name", hint));
    }
    // Anybody could open letters that are sealed to a key of small order.
    hookmitt_seal::Sealer::new(sealing_key, "check")
        .map_err(|error| Problem::bad_input("bad-key", &error.to_string(), "send a fresh X25519 key"))?;
    slowly(&relay, &token, caller)?;
    let name = order.name.unwrap_or_else(fresh_name);
    let tunnel = NewTunnel { name: name.clone(), token: token.clone(), sealing_key, device };
    relay.mailbox.open_tunnel(tunnel).await?;
    tracing::info!(token, tunnel = short(&name), "a tunnel was opened");
    let opened = Opened { public_url: relay.public_url(&name), tunnel: name };
    Ok((StatusCode::CREATED, Json(opened)).into_response())
}

async fn join<M: Mailbox>(
    State(relay): Shared<M>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    order: Result<Json<Join>, JsonRejection>,
) -> Result<Json<Opened>, Problem> {
    patience(&relay, caller)?;
    let Json(order) = order?;
    let device = device(&order.device_key, order.device_name)?;
    let joins = device.key;
    let most = relay.options.devices;
    let joined = relay.mailbox.join(&order.tunnel, hash(&order.code), device, most).await;
    if let Err(MailboxError::Unknown { .. }) = joined {
        relay.guesses.wrong(caller.0);
        let message = "this invitation is unknown, was already used, or has expired";
        return Err(Problem::new(StatusCode::NOT_FOUND, "unknown-code", message, "ask for a new one"));
    }
    let is_new = joined?;
    if is_new
        && let Some((letters, proof)) = introduction(&headers)
        && let Err(error) = relay.mailbox.introduce(&order.tunnel, &joins, letters, proof).await
    {
        tracing::warn!(%error, "a device's details could not be stored; it will send them again");
    }
    tracing::info!(tunnel = short(&order.tunnel), "a device joined");
    Ok(Json(Opened { public_url: relay.public_url(&order.tunnel), tunnel: order.tunnel }))
}

async fn tunnel<M: Mailbox>(
    State(relay): Shared<M>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
    upgrade: Result<WebSocketUpgrade, WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    let upgrade = upgrade.map_err(|refused| {
        let hint = "ask for a WebSocket of version 13, without a body";
        Problem::new(refused.status(), "no-websocket", &refused.body_text(), hint)
    })?;
    let busy = || {
        let message = "too many devices are connecting at once";
        let problem = Problem::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message, "try again in a moment");
        problem.retry_after(5)
    };
    let of_network = relay.strangers_of.enter(caller.0).ok_or_else(busy)?;
    let stranger = Arc::clone(&relay.strangers).try_acquire_owned().map_err(|_| busy())?;
    let place = Arc::clone(&relay.devices).try_acquire_owned().map_err(|_| busy())?;
    let counted = relay.tasks.token();
    let upgrade = upgrade
        .max_frame_size(MAX_FRAME)
        .max_message_size(MAX_FRAME)
        .read_buffer_size(BUFFER)
        .write_buffer_size(BUFFER)
        .max_write_buffer_size(4 * MAX_FRAME);
    let told = headers.get(WORDS_HEADER).and_then(|words| words.to_str().ok()?.parse().ok());
    let words = told.unwrap_or(1).min(WORDS);
    let mut response = upgrade.on_upgrade(async move |socket| {
        conversation::receive(relay, (caller.0, words), socket, (stranger, of_network)).await;
        drop((place, counted));
    });
    response.headers_mut().insert(WORDS_HEADER, HeaderValue::from(u16::from(WORDS)));
    Ok(response)
}

/// Refuses a caller who guessed wrongly too often.
fn patience<M: Mailbox>(relay: &Relay<M>, caller: Caller) -> Result<(), Problem> {
    let Some(wait) = relay.guesses.wait(caller.0) else { return Ok(()) };
    let message = "too many wrong tokens or codes from this address";
    let problem = Problem::new(StatusCode::TOO_MANY_REQUESTS, "too-many-guesses", message, "wait a minute");
    Err(problem.retry_after(wait.as_secs() + 1))
}

/// Refuses a caller who has just opened many tunnels, until the rate allows the next one.
fn slowly<M: Mailbox>(relay: &Relay<M>, token: &str, caller: Caller) -> Result<(), Problem> {
    let wait = relay.openings.as_ref().and_then(|openings| openings.wait(token, caller.0));
    let Some(seconds) = wait else { return Ok(()) };
    let message = "too many tunnels were just opened with this token or from this network";
    let hint = format!("try again in {seconds} s, or raise the relay's --openings");
    let problem = Problem::new(StatusCode::TOO_MANY_REQUESTS, "too-many-openings", message, &hint);
    Err(problem.retry_after(seconds))
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

/// Reads the introduction: the newest letter version that the device reads, and the proof that it was invited.
fn introduction(headers: &HeaderMap) -> Option<(u8, [u8; 32])> {
    let (letters, proof) = headers.get(INTRODUCTION_HEADER)?.to_str().ok()?.split_once(' ')?;
    let letters = letters.parse::<u8>().ok()?.clamp(1, LETTER_VERSION);
    Some((letters, STANDARD.decode(proof).ok()?.try_into().ok()?))
}

fn device(text: &str, name: String) -> Result<NewDevice, Problem> {
    let key = key(text, "device_key")?;
    // Nothing can be sealed to a weak key, that is one of small order.
    if ed25519_dalek::VerifyingKey::from_bytes(&key).map_or(true, |key| key.is_weak()) {
        return Err(Problem::bad_input(
            "bad-key",
            "device_key isn't an Ed25519 key",
            "send a fresh Ed25519 key",
        ));
    }
    let name = name.chars().filter(|letter| !letter.is_control()).take(LONGEST_NAME).collect();
    Ok(NewDevice { key, name })
}

fn key(text: &str, what: &str) -> Result<[u8; 32], Problem> {
    let bytes = STANDARD.decode(text).ok().and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
    bytes.ok_or_else(|| {
        let message = format!("{what} isn't the base64 of 32 bytes");
        Problem::bad_input("bad-key", &message, "use standard base64 with padding")
    })
}
