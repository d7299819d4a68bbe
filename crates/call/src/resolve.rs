//! Resolves a host to its addresses.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
};

use tokio::net::lookup_host;
use url::Host;

/// Why a host has no address.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// The name is unknown, or no resolver could be asked.
    #[error("the name {name} doesn't resolve: {error}")]
    Unknown {
        /// The name.
        name: String,
        /// The resolver's error.
        error: io::Error,
    },
    /// The name is known but has no address.
    #[error("the name {0} has no address")]
    NoAddress(String),
}

/// Returns the addresses of a host, in the order of preference. The caller has to limit the time.
///
/// # Errors
/// Returns a [`ResolveError`]. Only names can fail; addresses can't.
pub async fn resolve(host: &Host<impl AsRef<str>>, port: u16) -> Result<Vec<SocketAddr>, ResolveError> {
    let at = |address: IpAddr| SocketAddr::new(address, port);
    let name = match host {
        Host::Ipv4(address) => return Ok(vec![at((*address).into())]),
        Host::Ipv6(address) => return Ok(vec![at((*address).into())]),
        // Both addresses, because a server may listen on either, and hosts files often contain only one.
        Host::Domain(name) if is_localhost(name.as_ref()) => {
            return Ok(vec![at(Ipv4Addr::LOCALHOST.into()), at(Ipv6Addr::LOCALHOST.into())]);
        }
        Host::Domain(name) => name.as_ref(),
    };
    match lookup_host((name, port)).await.map(Vec::from_iter) {
        Ok(found) if found.is_empty() => Err(ResolveError::NoAddress(name.to_owned())),
        Ok(found) => Ok(found),
        Err(error) => Err(ResolveError::Unknown { name: name.to_owned(), error }),
    }
}

/// Whether a name is `localhost` or ends in `.localhost`. Such names mean loopback and are never looked up in DNS (RFC
/// 6761).
pub fn is_localhost(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn found(host: &str) -> Result<Vec<String>, ResolveError> {
        let addresses = resolve(&Host::parse(host).unwrap(), 80).await?;
        Ok(addresses.iter().map(SocketAddr::to_string).collect())
    }

    #[tokio::test]
    async fn an_address_is_its_own() {
        assert_eq!(found("192.0.2.1").await.unwrap(), ["192.0.2.1:80"]);
        assert_eq!(found("[2001:db8::1]").await.unwrap(), ["[2001:db8::1]:80"]);
    }

    #[tokio::test]
    async fn localhost_and_the_names_beneath_it_are_both_loopback_addresses() {
        for name in ["localhost", "LOCALHOST", "localhost.", "app.localhost", "a.b.Localhost."] {
            assert!(is_localhost(name), "{name}");
            assert_eq!(found(name).await.unwrap(), ["127.0.0.1:80", "[::1]:80"], "{name}");
        }
        for name in ["localhost.example.com", "mylocalhost", "localhost..", ""] {
            assert!(!is_localhost(name), "{name}");
        }
    }

    #[tokio::test]
    async fn a_name_that_nobody_knows_is_named() {
        let error = found("nobody.invalid").await.unwrap_err();
        assert!(matches!(error, ResolveError::Unknown { .. }), "{error:?}");
        assert!(error.to_string().starts_with("the name nobody.invalid doesn't resolve: "), "{error}");
    }
}
