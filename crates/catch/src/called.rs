//! What a request calls: the host, and the path and query.

use hookmitt_event::{Authority, HttpVersion};

use crate::{Denial, Head};

/// What the head of a request says was called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Called<'a> {
    /// The path and query as they were written. They begin with `/`, unless the target is neither a path nor a URL, for
    /// example the `*` of OPTIONS and the `host:port` of CONNECT.
    pub target: &'a str,
    /// The host: that of the target if the target is a whole URL, else that of the Host line. HTTP/1.0 requests may
    /// have none.
    pub authority: Option<Authority<'a>>,
    /// The target, if it is a whole URL.
    pub url: Option<&'a str>,
}

/// Why it can't be told which host a request calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Uncalled {
    #[error("the request has no Host line")]
    NoHost,
    #[error("the request has more than one Host line")]
    Hosts,
    #[error("the Host line isn't a host with an optional port")]
    BadHost,
    #[error("the URL in the request line has no valid host")]
    BadUrl,
}

impl From<Uncalled> for Denial {
    fn from(error: Uncalled) -> Self {
        let hint = "send exactly one Host line, with only the host that you call";
        Self::new(400, "bad-host", error.to_string(), hint)
    }
}

impl Head {
    /// Returns what the request calls, strictly by RFC 9112, 3.2, because signed URLs are put together from it.
    pub(crate) fn called(&self) -> Result<Called<'_>, Uncalled> {
        let (url, own, target) = split(&self.target);
        let own = own.map(|own| Authority::parse(own).ok_or(Uncalled::BadUrl)).transpose()?;
        let mut lines = self.headers.get_all("host");
        let (first, more) = (lines.next(), lines.next());
        let host = match first {
            _ if more.is_some() => return Err(Uncalled::Hosts),
            Some(line) => {
                let text = std::str::from_utf8(line).ok();
                Some(text.and_then(Authority::parse).ok_or(Uncalled::BadHost)?)
            }
            None if self.version == HttpVersion::Http11 => return Err(Uncalled::NoHost),
            None => None,
        };
        Ok(Called { target, authority: own.or(host), url })
    }
}

/// Splits a target into the whole URL that it may be (RFC 9112, 3.2.2), the URL's authority, and path and query.
fn split(target: &str) -> (Option<&str>, Option<&str>, &str) {
    let scheme = target.split_once("://").map(|(scheme, _)| scheme).unwrap_or_default();
    if !scheme.eq_ignore_ascii_case("http") && !scheme.eq_ignore_ascii_case("https") {
        return (None, None, target);
    }
    let rest = &target[scheme.len() + 3..];
    let (authority, rest) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    // Without a path the URL means the root, at which nothing is captured, whatever its query.
    let path = if rest.starts_with('/') { rest } else { "/" };
    (Some(target), Some(authority), path)
}

#[cfg(test)]
mod tests {
    use crate::parse_head;

    use super::*;

    fn head(request: &str) -> Head {
        parse_head(request.as_bytes()).unwrap().unwrap().0
    }

    /// Returns path and query, and the authority, of a request with this target and these lines.
    fn called(target: &str, lines: &str) -> Result<(String, Option<String>), Uncalled> {
        let head = head(&format!("POST {target} HTTP/1.1\r\n{lines}\r\n"));
        let called = head.called()?;
        Ok((called.target.to_owned(), called.authority.map(|authority| authority.as_str().to_owned())))
    }

    #[test]
    fn a_path_is_called_at_the_host_that_its_line_names() {
        for (line, host) in [("Host: h.example:80", "h.example:80"), ("hOsT:\t[::1]:4400 \t", "[::1]:4400")] {
            let found = called("/tw//a?b", &format!("{line}\r\n"));
            assert_eq!(found, Ok(("/tw//a?b".to_owned(), Some(host.to_owned()))));
        }
        let old = head("POST /tw HTTP/1.0\r\n\r\n");
        assert_eq!(old.called(), Ok(Called { target: "/tw", authority: None, url: None }));
    }

    #[test]
    fn a_whole_url_names_its_host_itself() {
        for (target, path) in [
            ("http://own.example/tw/a//b?c#d", "/tw/a//b?c#d"),
            ("HTTP://own.example", "/"),
            ("https://own.example?a/b", "/"),
            ("http://own.example//tw", "//tw"),
        ] {
            let found = called(target, "Host: other.example\r\n");
            assert_eq!(found, Ok((path.to_owned(), Some("own.example".to_owned()))), "{target}");
        }
        let old = head("POST http://own.example:80/tw HTTP/1.0\r\n\r\n");
        let called = old.called().unwrap();
        assert_eq!((called.authority.unwrap().port(), called.url), (Some(80), Some(old.target.as_str())));
    }

    #[test]
    fn threat_1_a_host_that_is_none_is_refused_wherever_it_stands() {
        assert_eq!(called("/tw", ""), Err(Uncalled::NoHost));
        assert_eq!(called("http://h/tw", ""), Err(Uncalled::NoHost));
        for lines in ["Host: a\r\nHost: b\r\n", "Host: a\r\nX: y\r\nhost: a\r\n", "Host:\r\nHost: a\r\n"] {
            assert_eq!(called("/tw", lines), Err(Uncalled::Hosts), "{lines}");
            assert_eq!(called("http://h/tw", lines), Err(Uncalled::Hosts), "{lines}");
        }
        for host in
            ["", "h.example/other", "user@h", "a b", "a,b", "h:x", "http://h", "é", "h?q", "h#f", "[::1"]
        {
            let found = called("/tw", &format!("Host: {host}\r\n"));
            assert_eq!(found, Err(Uncalled::BadHost), "{host}");
        }
        for url in
            ["http:///tw", "http://u@h/tw", "http://h:x/tw", "http://h,g/tw", "http://h\\g/tw", "http://?x"]
        {
            let found = called(url, "Host: h\r\n");
            assert_eq!(found, Err(Uncalled::BadUrl), "{url}");
        }
    }

    #[test]
    fn what_is_neither_a_path_nor_a_url_stays_what_it_is() {
        for target in ["*", "h:443", "tw", "ftp://h/tw", "http:/tw", "http:tw", "//", "://h", "httpx://h/"] {
            assert_eq!(called(target, "Host: h\r\n"), Ok((target.to_owned(), Some("h".to_owned()))));
        }
    }
}
