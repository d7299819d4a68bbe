//! The host and port that a request names: `uri-host [":" port]` (RFC 9110, 7.2), parsed strictly.

use std::net::Ipv6Addr;

/// A host with an optional port, as written in a Host line or a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Authority<'a> {
    text: &'a str,
    host: &'a str,
    port: Option<u16>,
}

impl<'a> Authority<'a> {
    /// Parses the whole text as `host`, `host:` or `host:port`. Returns `None` for anything else, for example a text
    /// with a user, a path, a space or a list of hosts.
    pub fn parse(text: &'a str) -> Option<Self> {
        let end =
            if text.starts_with('[') { text.find(']')? + 1 } else { text.find(':').unwrap_or(text.len()) };
        let (host, rest) = text.split_at(end);
        let is_host = match host.strip_prefix('[') {
            Some(literal) => is_ip_literal(literal.strip_suffix(']')?),
            None => !host.is_empty() && is_name(host),
        };
        let port = match rest.strip_prefix(':') {
            None if rest.is_empty() => None,
            Some("") => None,
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => Some(digits.parse().ok()?),
            _ => return None,
        };
        is_host.then_some(Self { text, host, port })
    }

    /// Returns the whole text, as it was written.
    pub const fn as_str(&self) -> &'a str {
        self.text
    }

    /// Returns the host without the port, as it was written: a name, an IPv4 address, or an address in brackets.
    pub const fn host(&self) -> &'a str {
        self.host
    }

    /// Returns the port, if there is one.
    pub const fn port(&self) -> Option<u16> {
        self.port
    }
}

/// Returns whether the text is a `reg-name` of RFC 3986, 3.2.2, which includes IPv4 addresses. Commas are not allowed,
/// because a proxy that merges two Host lines into one separates them with a comma.
fn is_name(host: &str) -> bool {
    let mut bytes = host.bytes();
    while let Some(byte) = bytes.next() {
        let encoded = byte == b'%'
            && bytes.next().is_some_and(|digit| digit.is_ascii_hexdigit())
            && bytes.next().is_some_and(|digit| digit.is_ascii_hexdigit());
        if !encoded && !is_plain(byte) {
            return false;
        }
    }
    true
}

/// Returns whether the text is an IPv6 address or an `IPvFuture` of RFC 3986, 3.2.2.
fn is_ip_literal(inside: &str) -> bool {
    let future = inside.strip_prefix(['v', 'V']).and_then(|rest| rest.split_once('.'));
    inside.parse::<Ipv6Addr>().is_ok()
        || future.is_some_and(|(version, address)| {
            let is_version = !version.is_empty() && version.bytes().all(|digit| digit.is_ascii_hexdigit());
            is_version && !address.is_empty() && address.bytes().all(|byte| byte == b':' || is_plain(byte))
        })
}

/// Returns whether the byte is one of RFC 3986's `unreserved` characters or `sub-delims`, except the comma.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()*+;=".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_and_its_port_are_read_as_they_are_written() {
        let table = [
            ("h", "h", None),
            ("H.example.", "H.example.", None),
            ("a_b-c~1.example:80", "a_b-c~1.example", Some(80)),
            ("127.0.0.1:65535", "127.0.0.1", Some(65535)),
            ("[::1]", "[::1]", None),
            ("[2001:DB8::7]:4400", "[2001:DB8::7]", Some(4400)),
            ("[::ffff:192.0.2.1]:0", "[::ffff:192.0.2.1]", Some(0)),
            ("[v1f.a:b]", "[v1f.a:b]", None),
            ("%C3%a9.example", "%C3%a9.example", None),
            ("h:", "h", None),
            ("h:00080", "h", Some(80)),
        ];
        for (text, host, port) in table {
            assert_eq!(Authority::parse(text), Some(Authority { text, host, port }), "{text}");
        }
    }

    #[test]
    fn threat_1_whatever_else_it_is_it_is_no_host() {
        let table = [
            "",
            ":80",
            "::1",
            "h.example/other",
            "h\\other",
            "h?q",
            "h#f",
            "user@h",
            "user:secret@h",
            "h@evil:80",
            "a b",
            " h",
            "h\t",
            "a,b",
            "a, b",
            "é.example",
            "h\0",
            "h\u{7f}",
            "\"h\"",
            "<h>",
            "h%",
            "h%2",
            "h%2g",
            "[h]",
            "[::1",
            "[]",
            "[1.2.3.4]",
            "[fe80::1%eth0]",
            "[fe80::1%25eth0]",
            "[v.a]",
            "[v1.]",
            "[v1.a/b]",
            "[::1]x",
            "[::1]80",
            "::1]",
            "h]",
            "h:x",
            "h:-1",
            "h: 80",
            "h:80 ",
            "h:80/x",
            "h:65536",
            "h:99999999999999999999",
            "h:80:80",
            "http://h",
        ];
        for text in table {
            assert_eq!(Authority::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn what_is_read_holds_nothing_that_ends_an_authority() {
        // Tests every text made of three of these pieces, so that no combination slips through.
        let signs = ["a", "1", ":", "[", "]", "/", "@", "%", "2", "?", "#", " ", ",", ".", "\\", "é"];
        for first in signs {
            for second in signs {
                for third in signs {
                    let text = [first, second, third].concat();
                    let Some(found) = Authority::parse(&text) else { continue };
                    assert!(!text.contains(['/', '@', '?', '#', ' ', ',', '\\', 'é']), "{text}");
                    assert!(found.as_str() == text && text.starts_with(found.host()), "{text}");
                }
            }
        }
    }
}
