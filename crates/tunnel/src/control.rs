//! Requests to a relay over plain HTTP, outside of a tunnel: open a tunnel, and join one.

use std::time::Duration;

use bytes::Bytes;
use hookmitt_call::Stream;
use hookmitt_wire::{INTRODUCTION_HEADER, Join, Joined, OpenTunnel, Opened};
use http::{HeaderName, HeaderValue, Request, Response, header};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use tokio::time::timeout;
use url::Url;

use crate::{
    Network, RelayProblem, TunnelError,
    dial::{Dialled, authority, dial},
    relay_url::{check_name, check_public},
};

/// How long one request may take, from connecting to the end of the answer.
const LIMIT: Duration = Duration::from_secs(20);

/// How many bytes an answer's body may have.
const LARGEST: usize = 64 * 1024;

/// Opens a tunnel with one of the relay's tokens.
///
/// # Errors
/// See [`TunnelError`]. If the relay refuses, [`TunnelError::Refused`] holds what it said.
pub async fn open(
    network: &Network,
    relay: &Url,
    token: &str,
    order: &OpenTunnel,
) -> Result<Opened, TunnelError> {
    let bearer = HeaderValue::from_str(&format!("Bearer {token}"));
    let mut bearer = bearer.map_err(|_| TunnelError::Refused(no_token()))?;
    bearer.set_sensitive(true);
    let opened = ask(network, relay, "/-/v1/tunnels", Some((header::AUTHORIZATION, bearer)), order).await;
    checked(opened.map_err(|error| without(error, token))?)
}

/// Joins a tunnel with the code of an invite. `introduction` proves that this device was invited.
///
/// # Errors
/// See [`TunnelError`]. If the relay refuses, [`TunnelError::Refused`] holds what it said.
pub async fn join(
    network: &Network,
    relay: &Url,
    join: &Join,
    introduction: &str,
) -> Result<Joined, TunnelError> {
    let introduction = HeaderValue::from_str(introduction).ok();
    let line = introduction.map(|introduction| (HeaderName::from_static(INTRODUCTION_HEADER), introduction));
    let joined = ask(network, relay, "/-/v1/join", line, join).await;
    checked(joined.map_err(|error| without(error, &join.code))?)
}

/// Removes the secret that the relay was given from its answer. The answer is shown and logged, and might repeat the
/// secret.
fn without(error: TunnelError, secret: &str) -> TunnelError {
    let cut = |text: String| if secret.is_empty() { text } else { text.replace(secret, "…") };
    match error {
        TunnelError::Refused(RelayProblem { code, message, hint }) => {
            TunnelError::Refused(RelayProblem { code: cut(code), message: cut(message), hint: hint.map(cut) })
        }
        other => other,
    }
}

/// Reads an answer that reports an error, if it is one of a relay.
pub(crate) fn problem(status: u16, body: &[u8]) -> TunnelError {
    /// The members of `application/problem+json` (RFC 9457) that we use.
    #[derive(Deserialize)]
    struct Problem {
        code: String,
        detail: Option<String>,
        title: Option<String>,
        hint: Option<String>,
    }
    match serde_json::from_slice::<Problem>(body) {
        Ok(problem) => {
            let message =
                problem.detail.or(problem.title).unwrap_or_else(|| format!("the relay answered {status}"));
            TunnelError::Refused(RelayProblem { code: problem.code, message, hint: problem.hint })
        }
        Err(_) => TunnelError::NoRelay(status),
    }
}

fn checked(opened: Opened) -> Result<Opened, TunnelError> {
    check_name(&opened.tunnel)?;
    check_public(&opened.public_url)?;
    Ok(opened)
}

async fn ask<T: DeserializeOwned>(
    network: &Network,
    relay: &Url,
    path: &str,
    line: Option<(HeaderName, HeaderValue)>,
    body: &impl Serialize,
) -> Result<T, TunnelError> {
    // The body holds only strings, so that it can always be written as JSON.
    let body = serde_json::to_vec(body).unwrap_or_default();
    let mut request = Request::post(path)
        .header(header::HOST, authority(relay))
        .header(header::USER_AGENT, "hookmitt")
        .header(header::CONTENT_TYPE, "application/json")
        .body(Full::new(Bytes::from(body)))
        .map_err(|_| TunnelError::Url("its host can't be used"))?;
    if let Some((name, value)) = line {
        request.headers_mut().insert(name, value);
    }
    let asked = async {
        let Dialled { stream, .. } = dial(relay, network).await?;
        talk(stream, request).await
    };
    let (status, body) = timeout(LIMIT, Box::pin(asked)).await.unwrap_or(Err(TunnelError::Slow(LIMIT)))?;
    if !(200..300).contains(&status) {
        return Err(problem(status, &body));
    }
    serde_json::from_slice(&body).map_err(|_| TunnelError::NoRelay(status))
}

async fn talk(
    stream: impl Stream + 'static,
    request: Request<Full<Bytes>>,
) -> Result<(u16, Bytes), TunnelError> {
    let broken = |error: hyper::Error| TunnelError::Closed(error.to_string());
    let read = async |response: Response<Incoming>| {
        let status = response.status().as_u16();
        let body = Limited::new(response.into_body(), LARGEST).collect().await;
        let body = body.map_err(|error| TunnelError::Closed(format!("its answer was cut off: {error}")))?;
        Ok((status, body.to_bytes()))
    };
    hookmitt_call::exchange(stream, request, read).await.map_err(broken)?
}

fn no_token() -> RelayProblem {
    RelayProblem {
        code: "bad-token".to_owned(),
        message: "the token contains invalid characters".to_owned(),
        hint: Some("copy it exactly as `hookmitt relay token create` printed it".to_owned()),
    }
}
