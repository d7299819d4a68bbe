//! The settings with which a relay starts.

use std::{fmt, net::SocketAddr, num::NonZeroU32, str::FromStr, sync::Arc, time::Duration};

use hookmitt_catch::Limits;
use hookmitt_clock::{Clock, MachineClock};
use hookmitt_mailbox::{MOST_DEVICES, Quota};
use http::Uri;
use ipnet::IpNet;

/// The settings of a relay.
#[derive(Clone, Debug)]
pub struct Options {
    /// The URL under which the world reaches the relay.
    pub public: PublicUrl,
    /// Whether each tunnel also has a host name of its own: `https://<tunnel>.<host>/<source>`.
    pub wildcard: bool,
    /// How much one tunnel's mailbox may hold.
    pub quota: Quota,
    /// How many devices a tunnel may have.
    pub devices: usize,
    /// How many requests a second a tunnel may get over time. `None` means no limit.
    pub rate: Option<NonZeroU32>,
    /// How many requests may come at once, even if that exceeds the rate.
    pub burst: NonZeroU32,
    /// How many tunnels a token may open a minute over time. `None` means no limit.
    pub openings: Option<NonZeroU32>,
    /// The proxies whose forwarding headers are believed.
    pub trusted: Vec<IpNet>,
    /// The limits for senders.
    pub limits: Limits,
    /// How many connections of senders may be open at once.
    pub connections: usize,
    /// How long a sender is held for the app's answer.
    pub hold: Duration,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
}

impl Options {
    /// Returns the default settings for a public URL.
    pub fn new(public: PublicUrl) -> Self {
        Self {
            public,
            wildcard: false,
            quota: Quota::default(),
            devices: MOST_DEVICES,
            rate: NonZeroU32::new(1_000),
            burst: NonZeroU32::MIN.saturating_add(19_999),
            openings: NonZeroU32::new(10),
            trusted: Vec::new(),
            limits: Limits::default(),
            connections: 8_192,
            // Slack and Discord give three seconds.
            hold: Duration::from_millis(2_500),
            clock: Arc::new(MachineClock),
        }
    }
}

/// The URL of a relay: scheme and authority, no path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicUrl {
    scheme: String,
    authority: String,
}

/// The text is not a relay's public URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a relay's URL: use only scheme and host, such as https://relay.example.com")]
pub struct PublicUrlError;

impl FromStr for PublicUrl {
    type Err = PublicUrlError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let uri: Uri = text.parse().map_err(|_| PublicUrlError)?;
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return Err(PublicUrlError);
        };
        let bare = uri.path() == "/" && uri.query().is_none() && !authority.as_str().contains('@');
        if !bare || !matches!(scheme, "http" | "https") || authority.host().is_empty() {
            return Err(PublicUrlError);
        }
        Ok(Self { scheme: scheme.to_owned(), authority: authority.as_str().to_ascii_lowercase() })
    }
}

impl fmt::Display for PublicUrl {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}://{}", self.scheme, self.authority)
    }
}

impl PublicUrl {
    /// Returns the URL of a listening address, for a relay that has no better one.
    pub fn of_address(address: SocketAddr, secure: bool) -> Self {
        let scheme = if secure { "https" } else { "http" };
        Self { scheme: scheme.to_owned(), authority: address.to_string() }
    }

    /// Returns the host without its port. An IPv6 address is in brackets.
    pub fn host(&self) -> &str {
        match self.authority.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
            _ => &self.authority,
        }
    }

    /// Returns the scheme, `http` or `https`.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// Returns host and port.
    pub(crate) fn authority(&self) -> &str {
        &self.authority
    }

    /// Returns the public URL of a tunnel, without a trailing slash.
    pub(crate) fn of_tunnel(&self, tunnel: &str, wildcard: bool) -> String {
        if wildcard {
            format!("{}://{tunnel}.{}", self.scheme, self.authority)
        } else {
            format!("{self}/{tunnel}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_url_is_scheme_and_host_alone() {
        for good in ["https://relay.example.com", "https://Relay.example.com:8443/", "http://127.0.0.1:4410"]
        {
            assert!(good.parse::<PublicUrl>().is_ok(), "{good}");
        }
        for bad in
            ["relay.example.com", "https://a/b", "https://a?b", "ftp://a", "https://u@a", "https://", "/x"]
        {
            assert_eq!(bad.parse::<PublicUrl>(), Err(PublicUrlError), "{bad}");
        }
    }

    #[test]
    fn a_host_is_without_its_port() {
        for (url, host) in [("https://a.b:8443", "a.b"), ("https://a.b", "a.b"), ("https://[::1]", "[::1]")] {
            assert_eq!(url.parse::<PublicUrl>().unwrap().host(), host);
        }
    }

    #[test]
    fn a_tunnel_is_a_folder_or_a_host() {
        let url: PublicUrl = "https://relay.example.com:8443".parse().unwrap();
        assert_eq!(url.of_tunnel("acme", false), "https://relay.example.com:8443/acme");
        assert_eq!(url.of_tunnel("acme", true), "https://acme.relay.example.com:8443");
    }
}
