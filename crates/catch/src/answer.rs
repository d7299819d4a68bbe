//! What the capture port answers.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Response, StatusCode, header};
use http_body_util::Full;

/// Header lines that belong to one connection (RFC 9110, 7.6.1). Only this server sets them.
const HOP_BY_HOP: [&str; 8] = [
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Header lines that keep a browser from using an answer that it shows or stores: none of its scripts runs as a page of
/// the answering host, its type is not guessed, and no cache keeps it.
pub const INERT: [(&str, &str); 3] = [
    ("cache-control", "no-store"),
    ("content-security-policy", "sandbox"),
    ("x-content-type-options", "nosniff"),
];

/// Returns whether a header line belongs to one connection and must not be passed on.
pub fn is_hop_by_hop(name: &str) -> bool {
    HOP_BY_HOP.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// An answer to a sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The status, 200 to 599.
    pub status: u16,
    /// The header lines. Names and values that HTTP does not allow are left out.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body.
    pub body: Bytes,
    /// How long to wait before the answer is sent.
    pub delay: Duration,
}

impl Reply {
    /// Makes a JSON answer.
    pub fn json(status: u16, body: String) -> Self {
        let headers = vec![("content-type".to_owned(), b"application/json".to_vec())];
        Self { status, headers, body: Bytes::from(body), delay: Duration::ZERO }
    }

    /// Makes a refusal: `application/problem+json` (RFC 9457) with a stable code and the next step.
    pub fn problem(status: u16, code: &str, message: &str, hint: &str) -> Self {
        let body = serde_json::json!({
            "type": "about:blank",
            "title": StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason()),
            "status": status,
            "code": code,
            "detail": message,
            "hint": hint,
        });
        let mut reply = Self::json(status, body.to_string());
        reply.headers[0].1 = b"application/problem+json".to_vec();
        reply.headers.extend(INERT.map(|(name, value)| (name.to_owned(), value.as_bytes().to_vec())));
        if status == 503 {
            reply.headers.push(("retry-after".to_owned(), b"5".to_vec()));
        }
        reply
    }

    pub(crate) fn refusal(status: u16, code: &str, message: &str, hint: &str) -> Self {
        let mut reply = Self::problem(status, code, message, hint);
        reply.headers.push(("connection".to_owned(), b"close".to_vec()));
        reply
    }

    pub(crate) fn into_response(self) -> Response<Full<Bytes>> {
        let mut response = Response::new(Full::new(self.body));
        *response.status_mut() = StatusCode::from_u16(self.status).unwrap_or(StatusCode::OK);
        for (name, value) in self.headers {
            let name = HeaderName::from_bytes(name.as_bytes());
            if let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(&value))
                && name != header::CONTENT_LENGTH
                && name != header::TRANSFER_ENCODING
                && response.headers_mut().try_append(name, value).is_err()
            {
                break; // more lines than an HTTP head can hold
            }
        }
        response
    }
}
