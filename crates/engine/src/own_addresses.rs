//! Where this hookmitt itself listens, so that nothing is sent round in circles (Threat 4).

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::{PoisonError, RwLock},
};

use hookmitt_event::TunnelKind;
use hookmitt_forward::TargetUrl;
use hookmitt_inbox::KeptTunnel;
use tokio::net::lookup_host;

/// The addresses of our own ports, and those of our relays, by which what is sent comes back.
#[derive(Debug, Default)]
pub(crate) struct OwnAddresses {
    ports: RwLock<Vec<SocketAddr>>,
    relays: RwLock<Vec<TargetUrl>>,
    /// Those of channels: others of the same host are not ours.
    channels: RwLock<Vec<TargetUrl>>,
    /// Where a program leads here from, by its tunnel, while it does.
    programs: RwLock<HashMap<i64, TargetUrl>>,
}

impl OwnAddresses {
    pub(crate) fn add(&self, addresses: &[SocketAddr]) {
        self.ports.write().unwrap_or_else(PoisonError::into_inner).extend_from_slice(addresses);
    }

    /// These are ours no more.
    pub(crate) fn remove(&self, addresses: &[SocketAddr]) {
        let mut ports = self.ports.write().unwrap_or_else(PoisonError::into_inner);
        ports.retain(|port| !addresses.contains(port));
    }

    /// Takes these tunnels' relays instead of those before.
    pub(crate) fn relays<'a>(&self, tunnels: impl Iterator<Item = &'a KeptTunnel>) {
        let (mut relays, mut channels) = (Vec::new(), Vec::new());
        for tunnel in tunnels {
            let urls = [&tunnel.url, &tunnel.public_url].into_iter().flatten();
            let urls = urls.filter_map(|url| TargetUrl::parse(url).ok());
            match tunnel.kind {
                TunnelKind::Relay => relays.extend(urls),
                TunnelKind::Smee => channels.extend(urls),
                TunnelKind::Cloudflared | TunnelKind::Ngrok => {}
            }
        }
        *self.relays.write().unwrap_or_else(PoisonError::into_inner) = relays;
        *self.channels.write().unwrap_or_else(PoisonError::into_inner) = channels;
    }

    /// A program leads here from this URL, or from none any more.
    pub(crate) fn leads_here(&self, tunnel: i64, url: Option<&str>) {
        let mut programs = self.programs.write().unwrap_or_else(PoisonError::into_inner);
        match url.and_then(|url| TargetUrl::parse(url).ok()) {
            Some(url) => programs.insert(tunnel, url),
            None => programs.remove(&tunnel),
        };
    }

    fn is_program(&self, target: &TargetUrl) -> bool {
        let programs = self.programs.read().unwrap_or_else(PoisonError::into_inner);
        programs.values().any(|url| url.host().eq_ignore_ascii_case(&target.host()))
    }

    fn is_channel(&self, target: &TargetUrl) -> bool {
        let channels = self.channels.read().unwrap_or_else(PoisonError::into_inner);
        let path = |url: &TargetUrl| url.request_target("", None);
        channels.iter().any(|channel| {
            channel.host().eq_ignore_ascii_case(&target.host()) && path(target).starts_with(&path(channel))
        })
    }

    fn is_relay(&self, target: &TargetUrl) -> bool {
        let relays = self.relays.read().unwrap_or_else(PoisonError::into_inner);
        let same_host = |relay: &TargetUrl| {
            relay.host().eq_ignore_ascii_case(&target.host()) || relay.is_loopback() && target.is_loopback()
        };
        relays.iter().any(|relay| relay.port() == target.port() && same_host(relay))
    }

    /// Whether a URL leads to one of our own ports, by any name or address of this machine.
    pub(crate) async fn hold(&self, target: &TargetUrl) -> bool {
        if self.is_relay(target) || self.is_channel(target) || self.is_program(target) {
            return true;
        }
        if !self.listen_on(target.port()) {
            return false;
        }
        // `localhost` and the names beneath it reach loopback whatever a name server says of them.
        if target.is_loopback() {
            return self.is_ours(Ipv4Addr::LOCALHOST.into(), target.port());
        }
        let host = target.host();
        let bare = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        if let Ok(address) = bare.parse::<IpAddr>() {
            return self.is_ours(address, target.port());
        }
        // A name that doesn't resolve can't lead to us.
        let Ok(found) = lookup_host((bare, target.port())).await else { return false };
        found.into_iter().any(|address| self.is_ours(address.ip(), address.port()))
    }

    /// Whether an `Origin` line names one of our own ports by a loopback name or address.
    pub(crate) fn is_origin(&self, origin: &[u8]) -> bool {
        let authority = std::str::from_utf8(origin).ok().and_then(|origin| origin.strip_prefix("http://"));
        let Some((host, port)) = authority.and_then(|authority| authority.rsplit_once(':')) else {
            return false;
        };
        let loopback = matches!(host, "localhost" | "127.0.0.1" | "[::1]");
        loopback && port.parse().is_ok_and(|port| self.listen_on(port))
    }

    fn listen_on(&self, port: u16) -> bool {
        self.ports.read().unwrap_or_else(PoisonError::into_inner).iter().any(|own| own.port() == port)
    }

    fn is_ours(&self, address: IpAddr, port: u16) -> bool {
        let address = address.to_canonical();
        let here = address.is_loopback() || address.is_unspecified();
        let own = self.ports.read().unwrap_or_else(PoisonError::into_inner);
        own.iter().filter(|own| own.port() == port).any(|own| {
            let everywhere = own.ip().is_unspecified() && is_local(address);
            here && (own.ip().is_loopback() || own.ip().is_unspecified()) || own.ip() == address || everywhere
        })
    }
}

/// Whether an address is one of this machine's: only those can be bound.
fn is_local(address: IpAddr) -> bool {
    std::net::UdpSocket::bind((address, 0)).is_ok()
}
