//! Which header lines of an answer may reach the sender (Threat 12).
//!
//! A tunnel's owner decides what its senders are answered, and some senders are browsers. Under the relay's own host
//! all tunnels are one site to a browser: a cookie, a permission or a script of one tunnel would apply to all. So there
//! only lines pass that describe the answer itself, and the relay adds headers that take all rights from the page. A
//! tunnel with a host of its own may answer anything, as long as it stays below that host.

use hookmitt_catch::{INERT, Reply};

/// Beginnings of header names that describe an answer, or what the sender does next.
const DESCRIBING: [&str; 3] = ["content-", "webhook-", "x-"];
/// Whole header names that do the same.
const ALSO: [&str; 2] = ["location", "retry-after"];

/// Exceptions: lines that tell a browser how to treat the answer. The relay sets these itself.
const OURS: [&str; 4] =
    ["content-security-policy", "x-content-security-policy", "x-webkit-csp", "x-content-type-options"];

/// Exceptions: lines that apply to the whole host.
const FOR_THE_HOST: [&str; 1] = ["x-permitted-cross-domain-policies"];

/// Beginnings of lines that are commands to a web server in front of the relay: to send one of its own files, to ask
/// another server, or to change its cache. A tunnel's owner must not give these, whatever the host.
const ORDERS: [&str; 6] =
    ["x-accel-", "x-sendfile", "x-send-file", "x-lighttpd-", "x-litespeed-", "x-reproxy-"];

/// Schemes of URLs that are themselves scripts or pages.
const SCRIPTS: [&str; 4] = ["javascript:", "data:", "vbscript:", "blob:"];

/// The web origin that an answer has for a browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The relay's own, shared by all tunnels: `https://relay.example.com/acme/github`.
    Shared,
    /// The tunnel's own, with this host: `https://acme.relay.example.com/github`.
    Own(String),
}

impl Origin {
    /// Returns the answer without the lines that would affect other tunnels' visitors.
    pub(crate) fn guard(&self, mut reply: Reply) -> Reply {
        reply.headers.retain(|(name, _)| !begins(name, &ORDERS));
        match self {
            Self::Shared => {
                reply.headers.retain(|(name, value)| describes(name) && !is_script(name, value));
                let inert = INERT.map(|(name, value)| (name.to_owned(), value.as_bytes().to_vec()));
                reply.headers.extend(inert);
            }
            Self::Own(host) => {
                let cookies = reply.headers.iter_mut().filter(|(name, _)| is(name, "set-cookie"));
                cookies.for_each(|(_, cookie)| stay_below(host, cookie));
            }
        }
        reply
    }
}

fn describes(name: &str) -> bool {
    let passes = begins(name, &DESCRIBING) || ALSO.iter().any(|known| is(name, known));
    passes && !begins(name, &OURS) && !begins(name, &FOR_THE_HOST)
}

/// Returns whether a `Location` line leads to a script instead of a place.
fn is_script(name: &str, value: &[u8]) -> bool {
    let plain = |byte: &&u8| !byte.is_ascii_whitespace() && !byte.is_ascii_control();
    let begin: String = value.iter().filter(plain).take(16).map(|byte| char::from(*byte)).collect();
    is(name, "location") && begins(&begin, &SCRIPTS)
}

/// Removes the domain from a cookie that would be set for a host above this one, and so for other tunnels.
fn stay_below(host: &str, cookie: &mut Vec<u8>) {
    let reaches_out = |part: &&[u8]| domain(part).is_some_and(|domain| is_above(domain, host));
    if cookie.split(|byte| *byte == b';').skip(1).any(|part| reaches_out(&part)) {
        let mut parts = cookie.split(|byte| *byte == b';');
        let pair = parts.next().unwrap_or_default();
        let rest = parts.filter(|part| domain(part).is_none());
        *cookie = std::iter::once(pair).chain(rest).collect::<Vec<_>>().join(&b';');
    }
}

/// Returns the domain that an attribute of a cookie names.
fn domain(part: &[u8]) -> Option<&[u8]> {
    let at = part.iter().position(|byte| *byte == b'=')?;
    let (name, value) = (part[..at].trim_ascii(), part[at + 1..].trim_ascii());
    name.eq_ignore_ascii_case(b"domain").then(|| value.strip_prefix(b".").unwrap_or(value))
}

fn is_above(domain: &[u8], host: &str) -> bool {
    let domain = domain.strip_suffix(b".").unwrap_or(domain);
    let at = host.len().checked_sub(domain.len()).filter(|at| *at > 0);
    let above = |at: usize| {
        let (below, rest) = host.as_bytes().split_at(at);
        rest.eq_ignore_ascii_case(domain) && (domain.is_empty() || below.ends_with(b"."))
    };
    !domain.is_empty() && at.is_some_and(above)
}

fn is(name: &str, known: &str) -> bool {
    name.eq_ignore_ascii_case(known)
}

fn begins(name: &str, with: &[&str]) -> bool {
    with.iter().any(|known| name.get(..known.len()).is_some_and(|begin| is(begin, known)))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bytes::Bytes;

    use super::*;

    fn guarded(origin: &Origin, lines: &[(&str, &str)]) -> Vec<(String, String)> {
        let headers = lines.iter().map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec()));
        let reply =
            Reply { status: 200, headers: headers.collect(), body: Bytes::new(), delay: Duration::ZERO };
        let text = |value: Vec<u8>| String::from_utf8(value).unwrap();
        origin.guard(reply).headers.into_iter().map(|(name, value)| (name, text(value))).collect()
    }

    fn passes(origin: &Origin, name: &str, value: &str) -> bool {
        guarded(origin, &[(name, value)]).contains(&(name.to_owned(), value.to_owned()))
    }

    #[test]
    fn threat_12_under_a_shared_host_only_what_describes_the_answer_passes() {
        for (name, value) in [
            ("Content-Type", "text/html"),
            ("content-encoding", "gzip"),
            ("Content-Disposition", "attachment; filename=a.csv"),
            ("Content-Language", "de"),
            ("Location", "https://app.example/done"),
            ("location", "/acme/github"),
            ("Retry-After", "5"),
            ("WebHook-Allowed-Origin", "*"),
            ("X-Request-Id", "7"),
            ("x-frame-options", "DENY"),
            ("X-Hookmitt-Event-Id", "1"),
        ] {
            assert!(passes(&Origin::Shared, name, value), "{name}: {value}");
        }
        for (name, value) in [
            ("Set-Cookie", "sid=1"),
            ("SET-COOKIE", "sid=1"),
            ("Set-Cookie2", "sid=1"),
            ("Clear-Site-Data", "\"*\""),
            ("Service-Worker-Allowed", "/"),
            ("Strict-Transport-Security", "max-age=1"),
            ("Public-Key-Pins", "x"),
            ("Access-Control-Allow-Origin", "*"),
            ("Link", "</x>; rel=preload"),
            ("Refresh", "0; url=/other"),
            ("Alt-Svc", "h3=\":1\""),
            ("NEL", "{}"),
            ("Report-To", "{}"),
            ("Reporting-Endpoints", "a=\"/x\""),
            ("WWW-Authenticate", "Basic"),
            ("Authentication-Info", "x"),
            ("Origin-Agent-Cluster", "?0"),
            ("Cache-Control", "max-age=9"),
            ("Expires", "0"),
            ("ETag", "\"1\""),
            ("Use-As-Dictionary", "match=\"/*\""),
            ("Accept-CH", "x"),
            ("Content-Security-Policy", "sandbox allow-scripts allow-same-origin"),
            ("content-security-policy-report-only", "default-src *"),
            ("X-Content-Security-Policy", "default-src *"),
            ("X-WebKit-CSP", "default-src *"),
            ("X-Content-Type-Options", "sniff"),
            ("X-Permitted-Cross-Domain-Policies", "all"),
            ("Location", "javascript:alert(1)"),
            ("Location", " java\tscript:alert(1)"),
            ("Location", "DATA:text/html,x"),
            ("Contents", "x"),
            ("Locations", "x"),
            ("X", "x"),
            ("é", "x"),
        ] {
            assert!(!passes(&Origin::Shared, name, value), "{name}: {value}");
        }
        let added = guarded(&Origin::Shared, &[("X-Content-Type-Options", "sniff")]);
        assert_eq!(added, INERT.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }

    #[test]
    fn threat_12_an_answer_gives_the_web_server_before_a_relay_no_orders() {
        for origin in [Origin::Shared, Origin::Own("acme.relay.example.com".to_owned())] {
            for name in [
                "X-Accel-Redirect",
                "x-accel-expires",
                "X-Sendfile",
                "X-Sendfile2",
                "X-Send-File",
                "X-LIGHTTPD-send-file",
                "X-LiteSpeed-Location",
                "X-LiteSpeed-Purge",
                "X-Reproxy-URL",
            ] {
                assert!(!passes(&origin, name, "/etc/passwd"), "{name}");
            }
        }
    }

    #[test]
    fn threat_12_a_host_of_its_own_may_answer_what_it_likes_below_itself() {
        let own = Origin::Own("acme.relay.example.com".to_owned());
        for (name, value) in [
            ("Set-Cookie", "sid=1; Path=/; Secure"),
            ("Set-Cookie", "sid=1; Domain=acme.relay.example.com"),
            ("Set-Cookie", "sid=1; Domain=.Acme.Relay.Example.com"),
            ("Set-Cookie", "sid=domain=relay.example.com"),
            ("Set-Cookie", "sid=1; Domain=elay.example.com"),
            ("Access-Control-Allow-Origin", "*"),
            ("Content-Security-Policy", "default-src 'self'"),
            ("Cache-Control", "max-age=9"),
            ("WWW-Authenticate", "Basic"),
            ("Location", "javascript:1"),
        ] {
            assert_eq!(guarded(&own, &[(name, value)]), [(name.to_owned(), value.to_owned())]);
        }
        for (told, kept) in [
            ("sid=1; Domain=relay.example.com; Path=/", "sid=1; Path=/"),
            ("sid=1;domain = .RELAY.example.com. ;Secure", "sid=1;Secure"),
            ("sid=1; Domain=com", "sid=1"),
            ("sid=1; Domain=acme.relay.example.com; Domain=example.com; Secure", "sid=1; Secure"),
        ] {
            let line = ("set-cookie".to_owned(), kept.to_owned());
            assert_eq!(guarded(&own, &[("set-cookie", told)]), [line], "{told}");
        }
    }
}
