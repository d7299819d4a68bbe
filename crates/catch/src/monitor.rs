//! A port that tells a monitor how things are, and nothing else.

use std::{convert::Infallible, time::Duration};

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use crate::{Bound, Connections, accept};

/// The format of the text (OpenMetrics).
const CONTENT_TYPE: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");

/// How many connections a monitor may have.
const CONNECTIONS: usize = 16;

/// Answers `GET /metrics` with what `tell` returns, in the OpenMetrics format, until `stop`. `None` stands for numbers
/// that can't be read at the moment; old ones would pass for current ones. A request whose Host, which may be missing,
/// `is_ours` doesn't know is answered 403.
pub async fn monitor<T, F>(bound: Bound, is_ours: fn(Option<&str>) -> bool, tell: T, stop: CancellationToken)
where
    T: Fn() -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Option<String>> + Send,
{
    let serve = move |stream: TcpStream, _| {
        let tell = tell.clone();
        let service = service_fn(move |request: Request<Incoming>| {
            let tell = tell.clone();
            async move { Ok::<_, Infallible>(answer(&request, is_ours, tell).await) }
        });
        async move {
            let mut builder = http1::Builder::new();
            builder.timer(TokioTimer::new()).keep_alive(false).half_close(true);
            let _ended_early = builder.serve_connection(TokioIo::new(stream), service).await;
        }
    };
    accept(bound.listeners, Connections { most: CONNECTIONS, grace: Duration::ZERO }, stop, serve).await;
}

async fn answer<B, F: Future<Output = Option<String>>>(
    request: &Request<B>,
    is_ours: fn(Option<&str>) -> bool,
    tell: impl Fn() -> F,
) -> Response<Full<Bytes>> {
    let host = called(request);
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let status = match request.uri().path() {
        _ if !is_ours(host) => StatusCode::FORBIDDEN,
        "/metrics" if is_read => StatusCode::OK,
        "/metrics" => StatusCode::METHOD_NOT_ALLOWED,
        _ => StatusCode::NOT_FOUND,
    };
    let told = if status == StatusCode::OK { tell().await } else { None };
    let is_told = told.is_some();
    let mut response = Response::new(Full::from(told.unwrap_or_default()));
    let unread = status == StatusCode::OK && !is_told;
    *response.status_mut() = if unread { StatusCode::SERVICE_UNAVAILABLE } else { status };
    if is_told {
        response.headers_mut().insert(header::CONTENT_TYPE, CONTENT_TYPE);
    }
    response
}

/// Returns the one authority that a request names.
fn called<B>(request: &Request<B>) -> Option<&str> {
    if let Some(authority) = request.uri().authority() {
        return Some(authority.as_str());
    }
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let host = hosts.next().filter(|_| hosts.next().is_none())?;
    host.to_str().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_metrics_are_told_and_only_to_who_calls_a_name_of_ours() {
        let asked = async |method: &str, path: &str, host: &str, told: Option<&str>| {
            let request = Request::builder().method(method).uri(path).header("host", host).body(()).unwrap();
            let is_ours = |host: Option<&str>| host == Some("ours");
            answer(&request, is_ours, async || told.map(str::to_owned)).await
        };
        let told = asked("GET", "/metrics", "ours", Some("# EOF")).await;
        assert_eq!((told.status(), &told.headers()["content-type"]), (StatusCode::OK, &CONTENT_TYPE));
        for (method, path, host, told, status) in [
            ("GET", "/metrics", "evil.example", Some(""), 403),
            ("GET", "http://evil.example/metrics", "ours", Some(""), 403),
            ("GET", "/", "ours", Some(""), 404),
            ("GET", "/api/events", "ours", Some(""), 404),
            ("POST", "/metrics", "ours", Some(""), 405),
            ("GET", "/metrics", "ours", None, 503),
        ] {
            assert_eq!(asked(method, path, host, told).await.status(), status, "{method} {path} {host}");
        }
    }
}
