//! The URL of a target, which is parsed once and kept as it was written.

use std::{fmt, net::IpAddr, str::FromStr};

use hookmitt_call::is_localhost;
use url::{Host, Url};

use crate::TargetUrlError;

/// The URL of a target: `http` or `https`, with the path and query as they were written.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct TargetUrl {
    text: String,
    tls: bool,
    host: Host<String>,
    port: u16,
    authority: String,
    path: String,
    query: Option<String>,
}

impl TargetUrl {
    /// Parses a whole URL.
    ///
    /// # Errors
    /// Fails with [`TargetUrlError`] for anything but `http(s)://host[:port][/path][?query]`.
    pub fn parse(text: &str) -> Result<Self, TargetUrlError> {
        let (tls, rest) = split_scheme(text).ok_or(TargetUrlError::Scheme)?;
        if let Some(bad) = text.chars().find(|letter| !letter.is_ascii_graphic() || *letter == '\\') {
            // Only a host may have other than ASCII characters; the url crate gives it its ASCII form (IDNA).
            let in_host = rest.split(['/', '?', '#']).next().is_some_and(|host| host.contains(bad));
            if bad.is_ascii() || !in_host {
                return Err(TargetUrlError::Character(bad));
            }
        }
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (written_host, tail) = rest.split_at(end);
        if written_host.contains('@') {
            return Err(TargetUrlError::Login);
        }
        if tail.contains('#') {
            return Err(TargetUrlError::Fragment);
        }
        let (host, port, authority) = parse_authority(tls, written_host)?;
        let (path, query) = match tail.split_once('?') {
            Some((path, query)) => (path.to_owned(), Some(query.to_owned())),
            None => (tail.to_owned(), None),
        };
        check_ascii(&path)?;
        check_ascii(query.as_deref().unwrap_or_default())?;
        Ok(Self { text: text.to_owned(), tls, host, port, authority, path, query })
    }

    /// Parses what people type: `3000`, `:3000/hooks`, `localhost:3000`, or a whole URL.
    ///
    /// # Errors
    /// Fails like [`parse`](Self::parse).
    pub fn from_shorthand(text: &str) -> Result<Self, TargetUrlError> {
        let text = text.trim();
        if text.contains("://") || text.is_empty() {
            return Self::parse(text);
        }
        let head = text.split(['/', '?']).next().unwrap_or_default();
        let port = head.strip_prefix(':').unwrap_or(head);
        let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        // A single word is more likely a slip of the user than the name of a server.
        if !is_port && !head.contains(['.', ':', '[']) && !head.eq_ignore_ascii_case("localhost") {
            return Err(TargetUrlError::Scheme);
        }
        match is_port {
            true => Self::parse(&format!("http://localhost:{}", text.strip_prefix(':').unwrap_or(text))),
            false => Self::parse(&format!("http://{text}")),
        }
    }

    /// Returns the host: a name in ASCII, or an address (IPv6 in brackets).
    pub fn host(&self) -> String {
        self.host.to_string()
    }

    /// Returns the port, or the scheme's default if none is written.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns whether the scheme is `https`.
    pub fn is_tls(&self) -> bool {
        self.tls
    }

    /// Returns the URL as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns whether the host is this machine's loopback. `0.0.0.0` and `[::]` count, because they lead there, too.
    pub fn is_loopback(&self) -> bool {
        match &self.host {
            Host::Domain(name) => is_localhost(name),
            Host::Ipv4(address) => address.is_loopback() || address.is_unspecified(),
            Host::Ipv6(address) => {
                let plain = IpAddr::V6(*address).to_canonical();
                plain.is_loopback() || plain.is_unspecified()
            }
        }
    }

    /// Returns the value of the Host line: the host, and the port unless it is the scheme's default.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    pub(crate) fn parsed_host(&self) -> &Host<String> {
        &self.host
    }

    /// Returns the request target for an event with this path and query. Nothing is encoded again.
    ///
    /// An empty query adds nothing: an event's `?` after the target's `?a=1` gives `?a=1`.
    pub fn request_target(&self, path: &str, query: Option<&str>) -> String {
        let mut out = match path {
            "" => self.path.clone(),
            _ => format!("{}{path}", self.path.strip_suffix('/').unwrap_or(&self.path)),
        };
        if !out.starts_with('/') {
            out.insert(0, '/');
        }
        let parts = [self.query.as_deref(), query];
        if parts.iter().any(Option::is_some) {
            let filled: Vec<_> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
            out.push('?');
            out.push_str(&filled.join("&"));
        }
        out
    }
}

fn split_scheme(text: &str) -> Option<(bool, &str)> {
    let (scheme, rest) = text.split_once("://")?;
    match scheme.to_ascii_lowercase().as_str() {
        "http" => Some((false, rest)),
        "https" => Some((true, rest)),
        _ => None,
    }
}

fn parse_authority(tls: bool, written: &str) -> Result<(Host<String>, u16, String), TargetUrlError> {
    if written.is_empty() || written.starts_with(':') {
        return Err(TargetUrlError::Host("it is missing".to_owned()));
    }
    let scheme = if tls { "https" } else { "http" };
    let url = Url::parse(&format!("{scheme}://{written}/"));
    let url = url.map_err(|error| TargetUrlError::Host(error.to_string()))?;
    let host = url.host().ok_or_else(|| TargetUrlError::Host("it is missing".to_owned()))?.to_owned();
    let port = url.port_or_known_default().filter(|port| *port != 0).ok_or(TargetUrlError::Port)?;
    let authority = match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_string(),
    };
    Ok((host, port, authority))
}

fn check_ascii(part: &str) -> Result<(), TargetUrlError> {
    part.chars().find(|letter| !letter.is_ascii()).map_or(Ok(()), |bad| Err(TargetUrlError::Character(bad)))
}

impl FromStr for TargetUrl {
    type Err = TargetUrlError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

impl fmt::Display for TargetUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(&self.text)
    }
}

impl fmt::Debug for TargetUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "TargetUrl({:?})", self.text)
    }
}

#[cfg(test)]
mod tests {
    use hookmitt_event::Explain as _;

    use super::*;

    fn target(text: &str) -> TargetUrl {
        TargetUrl::parse(text).unwrap()
    }

    #[test]
    fn an_event_goes_to_the_targets_path_and_its_own() {
        let cases = [
            ("http://h", "", None, "/"),
            ("http://h", "/x", None, "/x"),
            ("http://h/a/", "", None, "/a/"),
            ("http://h/a/", "/", None, "/a/"),
            ("http://h/a//", "//b/../c%2Fd", None, "/a///b/../c%2Fd"),
            ("http://h/a", "/x", Some("x=%20&y"), "/a/x?x=%20&y"),
            ("http://h/a?t=1", "/x", Some("y"), "/a/x?t=1&y"),
            ("http://h?t=1", "", None, "/?t=1"),
            ("http://h", "", Some(""), "/?"),
            ("http://h?t=1", "/x", Some(""), "/x?t=1"),
            ("http://h/a/../b", "", None, "/a/../b"),
        ];
        for (url, path, query, want) in cases {
            assert_eq!(target(url).request_target(path, query), want, "{url} {path} {query:?}");
        }
    }

    #[test]
    fn what_is_no_target_is_refused_with_a_hint() {
        let cases = [
            ("localhost:3000", "target-not-http"),
            ("ftp://h", "target-not-http"),
            ("http://", "target-bad-host"),
            ("http:///x", "target-bad-host"),
            ("http://:80/", "target-bad-host"),
            ("http://h:99999/", "target-bad-host"),
            ("http://h:0/", "target-port-zero"),
            ("http://u:p@h/", "target-with-login"),
            ("http://@h/", "target-with-login"),
            ("http://h/#x", "target-with-fragment"),
            ("http://h/a b", "target-bad-character"),
            ("http://h\\@evil/", "target-bad-character"),
            ("http://h/\r\nX: y", "target-bad-character"),
            ("http://h/é", "target-bad-character"),
        ];
        for (text, code) in cases {
            let error = TargetUrl::parse(text).unwrap_err();
            assert_eq!(error.code(), code, "{text}");
            assert!(error.hint().is_some());
        }
    }

    #[test]
    fn people_may_type_a_port_or_a_host() {
        let cases = [
            ("3000", "http://localhost:3000"),
            (":3000/hooks", "http://localhost:3000/hooks"),
            ("3000/hooks?a", "http://localhost:3000/hooks?a"),
            ("localhost:3000", "http://localhost:3000"),
            ("[::1]:80", "http://[::1]:80"),
            ("https://h/x", "https://h/x"),
        ];
        for (text, want) in cases {
            assert_eq!(TargetUrl::from_shorthand(text).unwrap().as_str(), want);
        }
        assert!(TargetUrl::from_shorthand("99999").is_err());
    }

    #[test]
    fn loopback_has_many_names() {
        let names = ["localhost", "app.localhost", "127.8.0.1", "0.0.0.0", "[::1]", "[::ffff:127.0.0.1]"];
        for name in names {
            assert!(target(&format!("http://{name}/")).is_loopback(), "{name}");
        }
        assert!(!target("http://localhost.example/").is_loopback());
        assert_eq!(target("https://Exämple.com:443/").authority(), "xn--exmple-cua.com");
        assert_eq!(target("http://[::1]:81").authority(), "[::1]:81");
    }
}
