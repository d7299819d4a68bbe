//! Reads from a request's URL which tunnel and source it names.

/// The prefix of the paths that are not captured.
pub(crate) const CONTROL: &str = "/-/";

/// Where a request target leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Address<'a> {
    /// To the relay itself.
    Control,
    /// To a source of a tunnel, if they exist.
    Source {
        /// The tunnel's name.
        tunnel: &'a str,
        /// The source's slug.
        slug: &'a str,
        /// The raw path after the slug.
        path: &'a str,
        /// The raw query, without its `?`.
        query: Option<&'a str>,
    },
    /// Nowhere: the path does not name a tunnel and a source.
    Nowhere,
    /// The request target is not a path.
    NoPath,
}

impl<'a> Address<'a> {
    /// Reads a raw path and query. `tunnel` is the tunnel that the host names, if it names one.
    ///
    /// Nothing is decoded, and `.` and `..` are not resolved. Names are taken literally, and the path after them
    /// belongs to the sender.
    pub(crate) fn read(target: &'a str, tunnel: Option<&'a str>) -> Self {
        if !target.starts_with('/') {
            return Self::NoPath;
        }
        if target.starts_with(CONTROL) {
            return Self::Control;
        }
        let (whole, query) = match target.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (target, None),
        };
        let (tunnel, rest) = match tunnel {
            Some(tunnel) => (tunnel, whole),
            None => first(whole),
        };
        let (slug, path) = first(rest);
        if is_tunnel_name(tunnel) && is_slug(slug) {
            Self::Source { tunnel, slug, path, query }
        } else {
            Self::Nowhere
        }
    }
}

/// Splits `/a/b/c` into `a` and `/b/c`.
fn first(path: &str) -> (&str, &str) {
    let inner = path.strip_prefix('/').unwrap_or(path);
    inner.split_at(inner.find('/').unwrap_or(inner.len()))
}

/// Returns the tunnel that a host names: `acme` for `acme.relay.example.com` under `relay.example.com`. Ports, letter
/// case and a trailing dot don't matter.
///
/// For a host under the domain that can't be a tunnel's, it returns an empty name, which no tunnel has, so that the
/// request's path is not searched for a tunnel.
pub(crate) fn tunnel_of_host(host: &str, domain: &str) -> Option<String> {
    let (host, domain) = (plain(host), plain(domain));
    let label = host.strip_suffix(&domain)?.strip_suffix('.')?;
    Some(if is_tunnel_name(label) { label.to_owned() } else { String::new() })
}

/// Returns whether a host is `authority` or a host below it, with the same port. Letter case and a trailing dot don't
/// matter.
pub(crate) fn is_below(host: &str, authority: &str) -> bool {
    let port = |host: &str| host[without_port(host).len()..].to_owned();
    let (name, own) = (plain(host), plain(authority));
    let is_name = name == own || name.strip_suffix(&own).is_some_and(|label| label.ends_with('.'));
    is_name && port(host) == port(authority)
}

/// Returns a host without its port and trailing dot, in lower case.
pub(crate) fn plain(host: &str) -> String {
    let host = without_port(host);
    host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase()
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

/// Returns whether a text matches `[a-z0-9][a-z0-9-]{2,62}`.
pub(crate) fn is_tunnel_name(text: &str) -> bool {
    let plain = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = text.as_bytes();
    (3..=63).contains(&bytes.len())
        && plain(&bytes[0])
        && bytes.iter().all(|byte| plain(byte) || *byte == b'-')
}

fn is_slug(text: &str) -> bool {
    text.parse::<hookmitt_event::Slug>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_ours_by_its_name_and_port_however_it_is_written() {
        for host in ["relay.dev:8443", "Relay.DEV:8443", "acme.relay.dev:8443", "ACME.relay.dev.:8443"] {
            assert!(is_below(host, "relay.dev:8443"), "{host}");
        }
        assert!(is_below("relay.dev.", "relay.dev"));
        for host in ["relay.dev", "relay.dev:80", "notrelay.dev:8443", "relay.dev.evil.example:8443", ""] {
            assert!(!is_below(host, "relay.dev:8443"), "{host}");
        }
    }

    #[test]
    fn a_target_names_tunnel_and_source_and_the_rest_is_the_senders() {
        let read = |target, host| match Address::read(target, host) {
            Address::Source { tunnel, slug, path, query } => Some((tunnel, slug, path, query)),
            _ => None,
        };
        let table = [
            ("/acme/github", None, Some(("acme", "github", "", None))),
            ("/acme/github/", None, Some(("acme", "github", "/", None))),
            (
                "/acme/github//a/../b%2Fc?x=%20&y",
                None,
                Some(("acme", "github", "//a/../b%2Fc", Some("x=%20&y"))),
            ),
            ("/acme/github?", None, Some(("acme", "github", "", Some("")))),
            ("/github/x", Some("acme"), Some(("acme", "github", "/x", None))),
        ];
        for (target, host, expected) in table {
            assert_eq!(read(target, host), expected, "{target}");
        }
    }

    #[test]
    fn tricks_lead_nowhere() {
        for target in [
            "/",
            "/acme",
            "/acme/",
            "//acme/github",
            "/../acme/github",
            "/acme/../other/github",
            "/acme%2fgithub",
            "/acme/%2e%2e/x",
            "/ACME/github",
            "/acme/GitHub",
            "/-",
            "/%2d/v1/tunnels",
            "//-/v1/tunnels",
            "/./-/x",
            "/acme?/github",
            "/ac/github",
            "/acme /github",
        ] {
            assert_eq!(Address::read(target, None), Address::Nowhere, "{target}");
        }
        for target in ["http://relay/acme/github", "*", "relay:443", "", "acme/github"] {
            assert_eq!(Address::read(target, None), Address::NoPath, "{target}");
        }
        for target in ["/-/", "/-/healthz", "/-/../acme/github", "/-/x/y"] {
            assert_eq!(Address::read(target, None), Address::Control, "{target}");
            assert_eq!(Address::read(target, Some("acme")), Address::Control, "{target}");
        }
    }

    #[test]
    fn a_host_names_a_tunnel_under_the_domain_alone() {
        let named = |host| tunnel_of_host(host, "Relay.example.com:8443");
        for host in [
            "acme.relay.example.com",
            "acme.Relay.Example.com:8443",
            "ACME.relay.example.com",
            "acme.relay.example.com.",
            "acme.relay.example.com.:8443",
        ] {
            assert_eq!(named(host).as_deref(), Some("acme"), "{host}");
        }
        for host in [
            "relay.example.com",
            "Relay.example.com.",
            "acmerelay.example.com",
            "x",
            "",
            "relay.example.com:1",
        ] {
            assert_eq!(named(host), None, "{host}");
        }
        for host in
            ["a.b.relay.example.com", "é.relay.example.com", ".relay.example.com", "a_b.relay.example.com"]
        {
            assert_eq!(named(host).as_deref(), Some(""), "{host}");
            assert_eq!(Address::read("/github/x", named(host).as_deref()), Address::Nowhere, "{host}");
            assert_eq!(Address::read("/-/healthz", named(host).as_deref()), Address::Control, "{host}");
        }
    }
}
