//! One HTTP request, byte for byte.

use std::{fmt, str::FromStr};

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::{Authority, HeaderLines};

/// A captured HTTP request: the exact bytes, immutable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The method as it was sent; any token.
    pub method: String,
    /// The raw path after the source's slug, for example `""`, `/` or `/a//b%2Fc`.
    pub path: String,
    /// The raw query: `None` if there is no `?`, `Some("")` if nothing follows the `?`.
    pub query: Option<String>,
    /// The HTTP version that the sender used.
    pub version: HttpVersion,
    /// The header lines as they were received.
    pub headers: HeaderLines,
    /// The body, with transfer coding removed and content coding kept.
    pub body: Bytes,
}

impl Request {
    /// Returns the path, followed by `?query` if there is a query.
    pub fn path_and_query(&self) -> String {
        match &self.query {
            Some(query) => format!("{}?{query}", self.path),
            None => self.path.clone(),
        }
    }

    /// Returns the host and port that the Host line names, or `None` unless there is exactly one Host line and it has
    /// the form `host[:port]`.
    pub fn authority(&self) -> Option<Authority<'_>> {
        let mut lines = self.headers.get_all("host");
        let only = lines.next().filter(|_| lines.next().is_none())?;
        Authority::parse(std::str::from_utf8(only).ok()?)
    }

    /// Returns the URL that the sender called if there is no proxy or tunnel in front of the capture port: `http://`,
    /// Host, slug, path and query. A Host that is not `host[:port]` is left out, so that it cannot change path or
    /// query.
    pub fn called_url(&self, slug: &str) -> String {
        let host = self.authority().map_or("", |authority| authority.as_str());
        format!("http://{host}/{slug}{}", self.path_and_query())
    }
}

/// The HTTP versions that a captured request may have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum HttpVersion {
    /// HTTP/1.0.
    #[serde(rename = "HTTP/1.0")]
    Http10,
    /// HTTP/1.1.
    #[default]
    #[serde(rename = "HTTP/1.1")]
    Http11,
}

impl fmt::Display for HttpVersion {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Http10 => "HTTP/1.0",
            Self::Http11 => "HTTP/1.1",
        })
    }
}

impl FromStr for HttpVersion {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "HTTP/1.0" => Ok(Self::Http10),
            "HTTP/1.1" => Ok(Self::Http11),
            other => Err(format!("not an HTTP version that hookmitt supports: {other}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threat_1_a_host_shapes_neither_path_nor_query_of_the_url_that_is_judged() {
        let called = |hosts: &[&str]| {
            let headers = HeaderLines::from_pairs(hosts.iter().map(|host| ("Host", host))).unwrap();
            let (method, path, body) = ("POST".to_owned(), "/a".to_owned(), Bytes::new());
            let request = Request {
                method,
                path,
                query: Some("b".to_owned()),
                version: HttpVersion::Http11,
                headers,
                body,
            };
            request.called_url("tw")
        };
        assert_eq!(called(&["h.example:8080"]), "http://h.example:8080/tw/a?b");
        for hosts in [
            &["h.example/other"][..],
            &["h.example?x="],
            &["h.example#"],
            &["me@h.example"],
            &["h.example", "h.example"],
            &[""],
            &[],
        ] {
            assert_eq!(called(hosts), "http:///tw/a?b", "{hosts:?}");
        }
    }
}
