//! Reads where events go: a port, a host and port, or a URL.

use std::{fmt, str::FromStr};

use hookmitt_event::Plain;
use url::Url;

/// A target's URL as the API gets it. A missing scheme or host is filled in (`3000` becomes `http://localhost:3000`);
/// the rest stays as it was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Destination(String);

impl Destination {
    /// Returns the URL's text.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the URL names no path.
    pub(crate) fn is_root(&self) -> bool {
        Url::parse(&self.0).is_ok_and(|url| url.path() == "/")
    }

    /// Appends a path to the URL's own path, before its query.
    pub(crate) fn below(&self, path: &str) -> Self {
        let (base, query) = match self.0.split_once('?') {
            Some((base, query)) => (base, format!("?{query}")),
            None => (self.0.as_str(), String::new()),
        };
        let (base, path) = (base.trim_end_matches('/'), path.trim_start_matches('/'));
        Self(format!("{base}/{path}{query}"))
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        Plain(&self.0).fmt(out)
    }
}

impl FromStr for Destination {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || {
            format!(
                "{} isn't a target: use a port such as 3000, or a URL such as http://localhost:3000/hooks",
                Plain(text)
            )
        };
        let short = text.strip_prefix(':').unwrap_or(text);
        let (port, rest) =
            short.split_at(short.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(short.len()));
        let written = match rest.chars().next() {
            None | Some('/' | '?') if !port.is_empty() => {
                let port: u16 = port.parse().map_err(|_| wrong())?;
                if port == 0 {
                    return Err(wrong());
                }
                format!("http://localhost:{port}{rest}")
            }
            _ if text.contains("://") => text.to_owned(),
            _ => format!("http://{text}"),
        };
        let url = Url::parse(&written).map_err(|_| wrong())?;
        let is_web = matches!(url.scheme(), "http" | "https") && url.has_host();
        if is_web && !written.contains([' ', '#']) { Ok(Self(written)) } else { Err(wrong()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, String> {
        text.parse::<Destination>().map(|target| target.0)
    }

    #[test]
    fn a_port_a_host_and_a_url_are_targets() {
        assert_eq!(read("3000").unwrap(), "http://localhost:3000");
        assert_eq!(read(":3000").unwrap(), "http://localhost:3000");
        assert_eq!(read("3000/hooks?x").unwrap(), "http://localhost:3000/hooks?x");
        assert_eq!(read("localhost:3000/a").unwrap(), "http://localhost:3000/a");
        assert_eq!(read("127.0.0.1:3000").unwrap(), "http://127.0.0.1:3000");
        assert_eq!(read("https://example.com//a/../b%2F?x=1").unwrap(), "https://example.com//a/../b%2F?x=1");
        assert_eq!(read("http://[::1]:3000").unwrap(), "http://[::1]:3000");
        for text in ["", "0", "70000", "ftp://x", "http://", "http://a b", "://x", "http://h/#x"] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_url_without_a_path_is_the_root() {
        let is_root = |target: &str| target.parse::<Destination>().unwrap().is_root();
        assert!(is_root("3000") && is_root("http://h:1/") && is_root("3000?x"));
        assert!(!is_root("3000/hooks"));
    }

    #[test]
    fn a_path_goes_behind_the_targets_own() {
        let below = |target: &str, path: &str| target.parse::<Destination>().unwrap().below(path).0;
        assert_eq!(below("3000", "/hooks"), "http://localhost:3000/hooks");
        assert_eq!(below("http://h:1/a/?k=v", "b/c"), "http://h:1/a/b/c?k=v");
    }
}
