//! The host names that requests call.

use hookmitt_event::{Authority, is_host_name};

/// Returns the scheme and the authority of a request target that is a whole `http` or `https` URL.
pub(crate) fn absolute(target: &str) -> Option<(&'static str, &str)> {
    let (scheme, rest) = target.split_once("://")?;
    let scheme = ["http", "https"].into_iter().find(|known| known.eq_ignore_ascii_case(scheme))?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    Some((scheme, &rest[..end]))
}

/// The longest text that is kept of a name.
const LONGEST: usize = 255;

/// Returns the host that an authority names, in the form in which names are compared: lower case, ASCII, no port, no
/// final dot, and addresses as browsers write them. A text that is no authority is returned as it is, and matches no
/// name of ours.
pub(crate) fn name_of(authority: &str) -> String {
    let host = Authority::parse(authority).and_then(|authority| url::Host::parse(authority.host()).ok());
    match host {
        Some(url::Host::Domain(name)) => name.strip_suffix('.').unwrap_or(&name).to_owned(),
        Some(address) => address.to_string(),
        None => authority.chars().take(LONGEST).collect(),
    }
}

/// Returns the host name in a URL.
pub(crate) fn name_in_url(url: &str) -> Option<String> {
    let url = url::Url::parse(url).ok()?;
    url.host_str().map(name_of)
}

/// Whether a name, in lower case, is resolved on this machine or in its network alone: it has no dot, or an ending that
/// is reserved for that.
pub(crate) fn is_local_name(name: &str) -> bool {
    let ends_local = [".localhost", ".internal", ".test"].iter().any(|ending| name.ends_with(ending));
    !name.is_empty() && is_host_name(name) && (ends_local || !name.contains('.'))
}

/// Whether a Host line names an address or a name that only this machine's network knows, which no web page's server
/// can take for its own.
pub fn is_near_host(authority: &str) -> bool {
    let name = name_of(authority);
    let bare = name.trim_start_matches('[').trim_end_matches(']');
    bare.parse::<std::net::IpAddr>().is_ok() || is_local_name(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_compared_as_a_browser_calls_it() {
        for (authority, name) in [
            ("evil.example", "evil.example"),
            ("EVIL.example.:4400", "evil.example"),
            ("evil.example:", "evil.example"),
            ("127.0.0.1:4400", "127.0.0.1"),
            ("2130706433", "127.0.0.1"),
            ("0x7f.1:80", "127.0.0.1"),
            ("[::1]:4400", "[::1]"),
            ("me@localhost", "me@localhost"),
            ("localhost/x", "localhost/x"),
            ("", ""),
        ] {
            assert_eq!(name_of(authority), name, "{authority}");
        }
    }

    #[test]
    fn a_whole_url_for_a_target_says_itself_who_is_called() {
        assert_eq!(absolute("http://evil.example:80/a?b"), Some(("http", "evil.example:80")));
        assert_eq!(absolute("HTTPS://me@evil.example"), Some(("https", "me@evil.example")));
        assert_eq!(absolute("/a?u=http://evil.example/"), None);
        assert_eq!(absolute("ftp://evil.example/"), None);
    }
}
