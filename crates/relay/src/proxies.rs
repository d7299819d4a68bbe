//! What proxies write about a sender, and which proxies are believed.

use std::net::{IpAddr, SocketAddr};

use hookmitt_event::{Authority, HeaderLines};
use ipnet::IpNet;

/// A sender, as far as trusted proxies reveal it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sender {
    /// Its address as text: with the port if the sender itself is connected.
    pub(crate) remote: String,
    /// Its IP address.
    pub(crate) ip: IpAddr,
    /// The host that it called.
    pub(crate) host: Option<String>,
    /// The scheme of the URL that it called. `None` if no proxy named it.
    pub(crate) scheme: Option<&'static str>,
    /// Whether a trusted proxy is in between. Then the proxy's lines are removed from the headers.
    pub(crate) through_proxy: bool,
}

impl Sender {
    /// Returns the sender of a head that came from `peer`. `called` is the host that the head itself names.
    pub(crate) fn of(
        headers: &HeaderLines,
        called: Option<&str>,
        peer: SocketAddr,
        trusted: &[IpNet],
    ) -> Self {
        let called = called.map(str::to_owned);
        let is_trusted = |ip: &IpAddr| trusted.iter().any(|net| net.contains(ip));
        // A listener for both versions of IP shows IPv4 callers as ::ffff:192.0.2.1.
        let own = peer.ip().to_canonical();
        let peer = SocketAddr::new(own, peer.port());
        if !is_trusted(&own) {
            let remote = peer.to_string();
            return Self { remote, ip: own, host: called, scheme: None, through_proxy: false };
        }
        let said = Said::read(headers);
        let mut ip = own;
        for hop in said.hops.iter().rev() {
            let Some(hop) = hop else { break };
            ip = *hop;
            if !is_trusted(&ip) {
                break;
            }
        }
        let remote = if ip == own { peer.to_string() } else { ip.to_string() };
        let host = said.host.filter(|host| Authority::parse(host).is_some()).or(called);
        Self { remote, ip, host, scheme: said.scheme, through_proxy: true }
    }
}

/// What proxies wrote into the headers. If several did, the last entry is from the nearest.
#[derive(Debug, Default)]
struct Said {
    hops: Vec<Option<IpAddr>>,
    host: Option<String>,
    scheme: Option<&'static str>,
}

impl Said {
    fn read(headers: &HeaderLines) -> Self {
        let mut said = Self::default();
        for part in parts(headers, "forwarded") {
            for pair in part.split(';') {
                let Some((name, value)) = pair.split_once('=') else { continue };
                let value = value.trim().trim_matches('"');
                match name.trim().to_ascii_lowercase().as_str() {
                    "for" => said.hops.push(ip_in(value)),
                    "host" => said.host = Some(value.to_owned()),
                    "proto" => said.scheme = scheme(value),
                    _ => {}
                }
            }
        }
        let hops: Vec<_> = parts(headers, "x-forwarded-for").map(|hop| ip_in(&hop)).collect();
        if !hops.is_empty() {
            said.hops = hops;
        } else if said.hops.is_empty() {
            said.hops.extend(headers.get_str("x-real-ip").map(ip_in));
        }
        said.host = parts(headers, "x-forwarded-host").last().or(said.host);
        let proto = parts(headers, "x-forwarded-proto").last();
        said.scheme = proto.and_then(|value| scheme(&value)).or(said.scheme);
        said
    }
}

/// Returns the comma-separated parts of every line with this name, in order.
fn parts(headers: &HeaderLines, name: &'static str) -> impl Iterator<Item = String> {
    let values: Vec<_> =
        headers.get_all(name).map(|value| String::from_utf8_lossy(value).into_owned()).collect();
    let parts = values
        .into_iter()
        .flat_map(|value| value.split(',').map(|part| part.trim().to_owned()).collect::<Vec<_>>());
    parts.filter(|part| !part.is_empty())
}

/// Reads an IP address, with or without port and brackets.
fn ip_in(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    let bare = text.strip_prefix('[').and_then(|rest| rest.split_once(']')).map(|(inside, _)| inside);
    let ip: Option<IpAddr> = bare.unwrap_or(text).parse().ok();
    ip.or_else(|| text.parse::<SocketAddr>().ok().map(|address| address.ip())).map(|ip| ip.to_canonical())
}

fn scheme(text: &str) -> Option<&'static str> {
    ["https", "http"].into_iter().find(|scheme| text.eq_ignore_ascii_case(scheme))
}

/// Splits header lines into the sender's own and those that proxies write.
pub(crate) fn part(headers: &HeaderLines) -> (HeaderLines, HeaderLines) {
    headers.parted(is_a_proxys)
}

fn is_a_proxys(name: &str) -> bool {
    let starts = name.get(..12).is_some_and(|start| start.eq_ignore_ascii_case("x-forwarded-"));
    starts || ["forwarded", "x-real-ip", "via"].iter().any(|known| name.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn sender(lines: &[(&str, &str)], peer: &str) -> Sender {
        let headers = HeaderLines::from_pairs(lines.iter().copied()).unwrap();
        let trusted = ["10.0.0.0/8".parse().unwrap(), "fd00::/8".parse().unwrap()];
        Sender::of(&headers, headers.get_str("host"), peer.parse().unwrap(), &trusted)
    }

    #[test]
    fn a_stranger_is_believed_nothing() {
        let lines = [("Host", "relay"), ("X-Forwarded-For", "1.2.3.4"), ("X-Forwarded-Host", "other")];
        let found = sender(&lines, "203.0.113.5:80");
        assert_eq!((found.remote.as_str(), found.host.as_deref()), ("203.0.113.5:80", Some("relay")));
        assert!(!found.through_proxy);
        assert_eq!(sender(&lines, "[::ffff:203.0.113.5]:80"), found, "by a listener for both");
    }

    #[test]
    fn a_trusted_proxy_tells_the_sender_and_forged_hops_before_it_do_not_count() {
        let lines = [
            ("Host", "inner"),
            ("X-Forwarded-For", "6.6.6.6, 198.51.100.7"),
            ("x-forwarded-for", "10.1.1.1"),
            ("X-Forwarded-Proto", "https"),
            ("X-Forwarded-Host", "relay.example.com"),
        ];
        let found = sender(&lines, "10.0.0.1:4000");
        assert_eq!((found.remote.as_str(), found.scheme), ("198.51.100.7", Some("https")));
        assert_eq!(found.host.as_deref(), Some("relay.example.com"));
        let found = sender(&[("X-Forwarded-For", "198.51.100.7, nonsense")], "10.0.0.1:4000");
        assert_eq!(found.remote, "10.0.0.1:4000");
    }

    #[test]
    fn threat_1_a_host_that_is_none_is_not_believed_of_a_proxy_either() {
        for odd in ["a/b?c@d", "relay/other", "user@relay", "a b", "\u{fffd}", "[::1", "relay:x", "relay%"] {
            let lines = [("Host", "relay"), ("X-Forwarded-Host", odd)];
            assert_eq!(sender(&lines, "10.0.0.1:4000").host.as_deref(), Some("relay"), "{odd}");
            let quoted = format!("for=192.0.2.1;host=\"{odd}\"");
            let lines = [("Host", "relay"), ("Forwarded", quoted.as_str())];
            assert_eq!(sender(&lines, "10.0.0.1:4000").host.as_deref(), Some("relay"), "{odd}");
        }
        for host in ["relay:4410", "[::1]:80", "a_b.example", "relay."] {
            assert_eq!(sender(&[("Host", host)], "203.0.113.5:80").host.as_deref(), Some(host));
        }
    }

    #[test]
    fn the_standard_line_is_read_too() {
        let lines = [("Forwarded", r#"for="[2001:db8::1]:99";proto=https;host=relay"#)];
        let found = sender(&lines, "[fd00::1]:4000");
        assert_eq!(found.ip, "2001:db8::1".parse::<IpAddr>().unwrap());
        assert_eq!((found.scheme, found.host.as_deref()), (Some("https"), Some("relay")));
        assert_eq!(sender(&[("X-Real-IP", "198.51.100.9")], "10.0.0.1:1").remote, "198.51.100.9");
    }

    #[test]
    fn lines_are_parted_byte_for_byte() {
        let block = b"Host: a\r\nX-FORWARDED-For:  1 \r\nX-A:1\r\nVia: 1.1 p\r\nviaduct: 1\r\n";
        let (own, forwarded) = part(&HeaderLines::from_wire(Bytes::from_static(block)).unwrap());
        assert_eq!(own.as_wire()[..], b"Host: a\r\nX-A:1\r\nviaduct: 1\r\n"[..]);
        assert_eq!(forwarded.as_wire()[..], b"X-FORWARDED-For:  1 \r\nVia: 1.1 p\r\n"[..]);
    }
}
