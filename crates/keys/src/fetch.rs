//! One GET for one key, over TLS, with limits on size and time.

use std::{error::Error as _, time::Duration};

use bytes::Bytes;
use hookmitt_call::{Network, ReachError, Stream};
use http::{Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Empty, Limited};
use hyper::body::Incoming;
use tokio::time::{Instant, timeout};
use url::{Host, Url};

use crate::KeyProblem;

/// The maximum size of an answer's body in bytes.
pub const LARGEST: usize = 10 * 1024;

/// The maximum time of a fetch, from the name lookup to the last byte.
pub const TIME_LIMIT: Duration = Duration::from_secs(5);

/// Sends one GET to a URL and returns the status. The status of a redirect is returned like any other; the redirect is
/// not followed. The caller must have checked that the URL may be called.
///
/// # Errors
/// Returns a [`KeyProblem`] if there is no answer in time over trusted TLS.
pub async fn call(network: &Network, url: &Url) -> Result<u16, KeyProblem> {
    bounded(network, get(network, url, async |response| Ok(response.status().as_u16()))).await
}

async fn bounded<T>(
    network: &Network,
    call: impl Future<Output = Result<T, KeyProblem>>,
) -> Result<T, KeyProblem> {
    timeout(network.limit(TIME_LIMIT), Box::pin(call)).await.unwrap_or(Err(KeyProblem::Slow))
}

/// A published answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) body: Bytes,
    /// How long the answer says that it may be kept.
    pub(crate) max_age: Option<Duration>,
}

/// Fetches what is published at `url`. The caller must have checked that the URL may be called.
pub(crate) async fn fetch(network: &Network, url: &Url) -> Result<Answer, KeyProblem> {
    bounded(network, get(network, url, read)).await
}

async fn get<T>(
    network: &Network,
    url: &Url,
    read: impl AsyncFnOnce(Response<Incoming>) -> Result<T, KeyProblem>,
) -> Result<T, KeyProblem> {
    let host = url.host().ok_or_else(|| KeyProblem::Unreachable("its URL has no host".to_owned()))?;
    let stream = connected(network, &host).await?;
    let target = &url[url::Position::BeforePath..url::Position::AfterQuery];
    let request = Request::get(target)
        .header(header::HOST, host.to_string())
        .header(header::USER_AGENT, "hookmitt")
        .header(header::ACCEPT, "*/*")
        .body(Empty::<Bytes>::new())
        .map_err(|error| KeyProblem::Unreachable(error.to_string()))?;
    hookmitt_call::exchange(stream, request, read).await.map_err(|error| said(&error))?
}

async fn connected(network: &Network, host: &Host<&str>) -> Result<impl Stream + use<>, KeyProblem> {
    let failed = |error: ReachError| match error {
        ReachError::Connect { error, .. } if error.is_slow() => KeyProblem::Slow,
        other => KeyProblem::Unreachable(other.to_string()),
    };
    let deadline = Instant::now() + network.limit(TIME_LIMIT);
    let tcp = network.connect(host, 443, deadline, |_| true).await.map_err(failed)?;
    network.secure(host, tcp).await.map_err(failed)
}

async fn read(response: Response<Incoming>) -> Result<Answer, KeyProblem> {
    match response.status() {
        StatusCode::OK => {}
        status if status.is_redirection() => return Err(KeyProblem::Redirect),
        status => return Err(KeyProblem::Status(status.as_u16())),
    }
    let max_age =
        response.headers().get(header::CACHE_CONTROL).and_then(|value| max_age(value.to_str().ok()?));
    match Limited::new(response.into_body(), LARGEST).collect().await {
        Ok(body) => Ok(Answer { body: body.to_bytes(), max_age }),
        Err(error) if error.is::<http_body_util::LengthLimitError>() => Err(KeyProblem::TooLarge),
        Err(error) => Err(KeyProblem::Unreachable(format!("the answer was cut off: {error}"))),
    }
}

/// Returns `max-age` of a Cache-Control line (RFC 9111, 5.2.2.1).
fn max_age(value: &str) -> Option<Duration> {
    let seconds = value.split(',').find_map(|part| part.trim().strip_prefix("max-age="))?;
    seconds.parse().ok().map(Duration::from_secs)
}

fn said(error: &hyper::Error) -> KeyProblem {
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    KeyProblem::Unreachable(format!("{error}{cause}"))
}
