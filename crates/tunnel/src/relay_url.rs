//! Which URLs can be a relay's.

use hookmitt_call::is_localhost;
use url::{Host, Url};

use crate::TunnelError;

/// Reads a relay's URL as a person typed it. If the scheme is missing, it is `https`, or `http` on this machine.
///
/// # Errors
/// Returns [`TunnelError::Url`] or [`TunnelError::PlainHttp`] if it can't be a relay's URL.
pub fn relay_url(typed: &str) -> Result<Url, TunnelError> {
    let typed = typed.trim();
    let with = |scheme: &str| Url::parse(&format!("{scheme}://{typed}"));
    let url = match with("http") {
        _ if typed.contains("://") => Url::parse(typed),
        Ok(plain) if plain.host().is_some_and(|host| is_loopback(&host)) => Ok(plain),
        _ => with("https"),
    };
    let url = url.map_err(|_| TunnelError::Url("it can't be read"))?;
    check_relay(&url)?;
    Ok(url)
}

/// Checks that a URL can be a relay's: `https://host[:port]`, or `http://` on this machine.
///
/// # Errors
/// Returns [`TunnelError::Url`] or [`TunnelError::PlainHttp`] if it can't.
pub fn check_relay(url: &Url) -> Result<(), TunnelError> {
    let host = url.host().ok_or(TunnelError::Url("it has no host"))?;
    match url.scheme() {
        "https" => {}
        "http" if is_loopback(&host) => {}
        "http" => return Err(TunnelError::PlainHttp(host.to_string())),
        _ => return Err(TunnelError::Url("it must start with https:// or http://")),
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(TunnelError::Url("it contains a user or password"));
    }
    if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
        return Err(TunnelError::Url("it has more after the host"));
    }
    Ok(())
}

/// Checks the tunnel name that a relay gave. It is shown to people, and the letters' encryption is bound to it.
pub(crate) fn check_name(name: &str) -> Result<(), TunnelError> {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if (3..=63).contains(&name.len()) && name.bytes().all(fits) && !name.starts_with('-') {
        return Ok(());
    }
    Err(TunnelError::Protocol("it gave the tunnel an invalid name"))
}

/// Checks the public URL that a relay gave for a tunnel. It is shown to people, who copy it to providers.
pub(crate) fn check_public(url: &str) -> Result<(), TunnelError> {
    let parsed = Url::parse(url).ok().filter(|parsed| matches!(parsed.scheme(), "http" | "https"));
    let plain = url.len() <= 2048 && url.bytes().all(|byte| byte.is_ascii_graphic());
    match parsed {
        Some(parsed) if plain && !url.ends_with('/') && parsed.username().is_empty() => Ok(()),
        _ => Err(TunnelError::Protocol("it gave an invalid public URL")),
    }
}

fn is_loopback(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => is_localhost(name),
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.to_canonical().is_loopback(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(url: &str) -> Result<(), TunnelError> {
        check_relay(&url.parse().unwrap())
    }

    #[test]
    fn a_relay_is_reached_by_tls_or_on_this_machine() {
        for url in [
            "https://relay.example.com",
            "https://relay.example.com:8443/",
            "http://127.0.0.1:4410",
            "http://[::1]:4410",
            "http://localhost:4410",
            "http://relay.localhost",
        ] {
            assert_eq!(checked(url), Ok(()), "{url}");
        }
    }

    #[test]
    fn one_relay_is_the_same_however_it_is_written() {
        let read = |typed: &str| relay_url(typed).unwrap().to_string();
        for typed in ["relay.acme.dev", " https://relay.acme.dev/ ", "https://RELAY.acme.dev:443"] {
            assert_eq!(read(typed), "https://relay.acme.dev/");
        }
        for (typed, url) in [
            ("127.0.0.1:4410", "http://127.0.0.1:4410/"),
            ("localhost:4410", "http://localhost:4410/"),
            ("[::1]:4410", "http://[::1]:4410/"),
            ("https://localhost:4410", "https://localhost:4410/"),
            ("localhost.acme.dev:4410", "https://localhost.acme.dev:4410/"),
        ] {
            assert_eq!(read(typed), url);
        }
        for typed in
            ["", " ", "relay acme", "relay.acme.dev/path", "ftp://relay.acme.dev", "http://relay.acme.dev"]
        {
            assert!(relay_url(typed).is_err(), "{typed:?}");
        }
    }

    #[test]
    fn plain_http_beyond_this_machine_is_refused() {
        for url in [
            "http://relay.example.com",
            "http://192.168.1.2:4410",
            "http://localhost.example.com",
            "http://[::2]",
        ] {
            assert!(matches!(checked(url), Err(TunnelError::PlainHttp(_))), "{url}");
        }
    }

    #[test]
    fn what_a_relay_makes_up_for_a_name_or_a_public_url_is_not_believed() {
        for url in
            ["https://relay.example.com/acme", "https://acme.relay.example.com", "http://127.0.0.1:4410/acme"]
        {
            assert_eq!(check_public(url), Ok(()), "{url}");
        }
        for url in [
            "",
            "javascript:alert(1)",
            "https://r.example/a/",
            "https://r.example/\u{202e}a",
            "https://me@r.example/a",
        ] {
            check_public(url).unwrap_err();
        }
        check_name("acme-dev").unwrap();
        for name in ["", "ab", "-abc", "Acme", "a/b", "../x", "acme\0", &"a".repeat(64)] {
            check_name(name).unwrap_err();
        }
    }

    #[test]
    fn what_is_no_base_of_a_relay_is_refused_in_words() {
        for (url, words) in [
            ("ftp://relay.example.com", "must start with https:// or http://"),
            ("wss://relay.example.com", "must start with https:// or http://"),
            ("https://me:pass@relay.example.com", "user or password"),
            ("https://relay.example.com/acme", "has more after the host"),
            ("https://relay.example.com/?x", "has more after the host"),
            ("data:text/plain,relay", "no host"),
        ] {
            let error = checked(url).unwrap_err().to_string();
            assert!(error.contains(words), "{url}: {error}");
        }
    }
}
