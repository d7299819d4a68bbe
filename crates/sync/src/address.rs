//! Which addresses may get an API key.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use hookmitt_call::{Network, resolve};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

use crate::call_error::CallError;

/// Whether an address written into a URL may be called. Names are checked when they are looked up.
pub(crate) fn may_call(url: &Url, is_own: bool) -> bool {
    let is_plain = url.scheme() == "http";
    match url.host() {
        Some(Host::Ipv4(address)) => is_own && fits(IpAddr::V4(address), is_plain),
        Some(Host::Ipv6(address)) => is_own && fits(IpAddr::V6(address), is_plain),
        Some(Host::Domain(name)) => !is_plain || is_own && hookmitt_call::is_localhost(name),
        None => false,
    }
}

/// Whether an address may get an API key: loopback without TLS, and none at which machines in a cloud ask for their own
/// keys.
fn fits(address: IpAddr, is_plain: bool) -> bool {
    let address = canonical(address);
    if is_plain { address.is_loopback() } else { !is_of_the_link(address) }
}

/// Whether an address is link-local, a cloud's metadata service, or none of a single machine.
fn is_of_the_link(address: IpAddr) -> bool {
    /// Alibaba Cloud's metadata service, which isn't link-local.
    const ALIBABA: Ipv4Addr = Ipv4Addr::new(100, 100, 100, 200);
    /// Oracle Cloud's.
    const ORACLE: Ipv4Addr = Ipv4Addr::new(192, 0, 0, 192);
    /// Amazon's over IPv6.
    const AMAZON: Ipv6Addr = Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254);
    /// Google's over IPv6.
    const GOOGLE: Ipv6Addr = Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254);
    match address {
        IpAddr::V4(v4) => {
            v4.is_link_local()
                || v4.is_unspecified()
                || v4.is_broadcast()
                || v4.is_multicast()
                || v4 == ALIBABA
                || v4 == ORACLE
        }
        IpAddr::V6(v6) => {
            let embedded = v6.segments();
            // NAT64 (RFC 6052) leads to an IPv4 address.
            let nat64 = (embedded[..6] == [0x64, 0xff9b, 0, 0, 0, 0])
                .then(|| Ipv4Addr::from((u32::from(embedded[6]) << 16) | u32::from(embedded[7])));
            v6.is_unicast_link_local()
                || v6.is_unspecified()
                || v6.is_multicast()
                || v6 == AMAZON
                || v6 == GOOGLE
                || nat64.is_some_and(|v4| is_of_the_link(v4.into()))
        }
    }
}

/// Looks names up, and leaves out the addresses that must not be called.
pub(crate) struct Guarded {
    pub(crate) network: Network,
    pub(crate) is_own: bool,
}

impl Resolve for Guarded {
    fn resolve(&self, name: Name) -> Resolving {
        let (address, is_own) = (self.network.address(), self.is_own);
        Box::pin(async move {
            if let Some(address) = address {
                return Ok(Box::new(std::iter::once(address)) as Addrs);
            }
            let host = Host::Domain(name.as_str());
            let found: Vec<SocketAddr> = resolve(&host, 0).await?;
            let is_local = hookmitt_call::is_localhost(name.as_str());
            let may = |at: &SocketAddr| {
                // A name may lead to loopback only if it says so itself, or over https.
                !is_of_the_link(canonical(at.ip())) && (is_own || !at.ip().is_loopback() || is_local)
            };
            let allowed: Vec<_> = found.into_iter().filter(may).collect();
            if allowed.is_empty() {
                return Err(CallError::Forbidden(name.as_str().to_owned()).into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

fn canonical(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or(address, IpAddr::V4),
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threat_6_no_key_goes_to_the_link_or_to_a_cloud_s_metadata() {
        let may = |url: &str, is_own| may_call(&Url::parse(url).unwrap(), is_own);
        for url in [
            "https://169.254.169.254/latest",
            "http://169.254.169.254/latest",
            "https://[fe80::1]/",
            "https://[::ffff:169.254.169.254]/",
            "https://[64:ff9b::a9fe:a9fe]/",
            "https://[fd00:ec2::254]/",
            "https://100.100.100.200/",
            "https://0.0.0.0/",
            "https://[::]/",
            "https://224.0.0.1/",
            "http://10.0.0.1/",
            "http://api.example.com/",
        ] {
            assert!(!may(url, true), "{url}");
        }
        for url in [
            "http://127.0.0.1:8080/x",
            "http://[::1]/x",
            "http://localhost:1/x",
            "https://10.0.0.1/x",
            "https://api.example.com/x",
        ] {
            assert!(may(url, true), "{url}");
        }
        for url in ["http://127.0.0.1:8080/x", "https://10.0.0.1/x", "http://localhost/x"] {
            assert!(!may(url, false), "{url}: a shipped connector has names");
        }
    }
}
