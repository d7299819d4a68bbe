//! The addresses of this hookmitt itself, so that no event goes round in circles (Threat 4).

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::{LazyLock, OnceLock, PoisonError, RwLock},
};

use hookmitt_event::TunnelKind;
use hookmitt_forward::TargetUrl;
use hookmitt_inbox::KeptTunnel;

use crate::host_name::is_local_name;

/// The addresses of our own ports, and the URLs of our relays, channels and programs, through which events would come
/// back.
#[derive(Debug, Default)]
pub(crate) struct OwnAddresses {
    ports: RwLock<Vec<SocketAddr>>,
    /// Those of the ports that serve our own page.
    pages: RwLock<Vec<u16>>,
    /// The URLs of the capture port.
    capture: OnceLock<Vec<String>>,
    relays: RwLock<Vec<TargetUrl>>,
    /// The URLs that providers call at the relays, without a source's name.
    mailboxes: RwLock<Vec<TargetUrl>>,
    /// The URLs of channels; other paths on the same host are not ours.
    channels: RwLock<Vec<TargetUrl>>,
    /// The public URLs of running programs that lead here, by tunnel.
    programs: RwLock<HashMap<i64, TargetUrl>>,
}

impl OwnAddresses {
    pub(crate) fn add(&self, addresses: &[SocketAddr]) {
        self.ports.write().unwrap_or_else(PoisonError::into_inner).extend_from_slice(addresses);
    }

    /// Records that this process captures at these addresses.
    pub(crate) fn capture_on(&self, addresses: &[SocketAddr]) {
        self.add(addresses);
        let urls = addresses.iter().map(|address| format!("http://{address}")).collect();
        let _told_before = self.capture.set(urls);
    }

    /// Returns the URLs of the capture port, one for each address; empty if this process doesn't capture.
    pub(crate) fn capture_urls(&self) -> Vec<String> {
        self.capture.get().cloned().unwrap_or_default()
    }

    /// Records that our own page is served at these addresses.
    pub(crate) fn hand_out_pages(&self, addresses: &[SocketAddr]) {
        let mut pages = self.pages.write().unwrap_or_else(PoisonError::into_inner);
        pages.extend(addresses.iter().map(SocketAddr::port));
    }

    /// Removes addresses that are no longer ours.
    pub(crate) fn remove(&self, addresses: &[SocketAddr]) {
        let mut ports = self.ports.write().unwrap_or_else(PoisonError::into_inner);
        ports.retain(|port| !addresses.contains(port));
    }

    /// Replaces the URLs of relays and channels with those of these tunnels.
    pub(crate) fn relays<'a>(&self, tunnels: impl Iterator<Item = &'a KeptTunnel>) {
        let (mut relays, mut channels, mut mailboxes) = (Vec::new(), Vec::new(), Vec::new());
        for tunnel in tunnels {
            let parsed = |url: &Option<String>| url.as_ref().and_then(|url| TargetUrl::parse(url).ok());
            let (url, public_url) = (parsed(&tunnel.url), parsed(&tunnel.public_url));
            match tunnel.kind {
                TunnelKind::Relay => {
                    mailboxes.extend(public_url.clone());
                    relays.extend(url.into_iter().chain(public_url));
                }
                TunnelKind::Smee => channels.extend(url.into_iter().chain(public_url)),
                TunnelKind::Cloudflared | TunnelKind::Ngrok => {}
            }
        }
        *self.mailboxes.write().unwrap_or_else(PoisonError::into_inner) = mailboxes;
        *self.relays.write().unwrap_or_else(PoisonError::into_inner) = relays;
        *self.channels.write().unwrap_or_else(PoisonError::into_inner) = channels;
    }

    /// Records that a program's public URL leads here, or with `None` that it no longer does.
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
        relays.iter().any(|relay| is_same_server(relay, target))
    }

    /// Returns the path that a URL calls at one of our mailboxes, from the source's name on.
    pub(crate) fn path_at_relay(&self, target: &TargetUrl) -> Option<String> {
        let called = target.request_target("", None);
        let mailboxes = self.mailboxes.read().unwrap_or_else(PoisonError::into_inner);
        mailboxes.iter().filter(|mailbox| is_same_server(mailbox, target)).find_map(|mailbox| {
            let path = mailbox.request_target("", None);
            let rest = called.strip_prefix(path.trim_end_matches('/'))?.strip_prefix('/')?;
            Some(rest.to_owned())
        })
    }

    /// Whether a URL leads to one of our own ports, by any name or address of this machine, or to one of our tunnels.
    pub(crate) async fn hold(&self, target: &TargetUrl) -> bool {
        if self.is_relay(target) || self.is_channel(target) || self.is_program(target) {
            return true;
        }
        if !self.listen_on(target.port()) {
            return false;
        }
        // Looks up the addresses to which the event is about to be sent. A name that doesn't resolve can't lead to us.
        let addresses = hookmitt_forward::addresses(target).await;
        addresses.iter().any(|address| self.is_ours(address.ip(), address.port()))
    }

    /// Whether a name, in lower case and without a port, leads only to this machine, so that no stranger can make it
    /// resolve to his server first and to us later. IP addresses count, and names without a dot, because they belong to
    /// the local network; so do the names of the tunnels that lead here.
    pub(crate) fn is_name(&self, name: &str) -> bool {
        let is_address = name.starts_with('[') || name.parse::<Ipv4Addr>().is_ok();
        is_address && name.trim_matches(['[', ']']).parse::<IpAddr>().is_ok()
            || is_local_name(name)
            || THIS_MACHINE.iter().any(|own| own == name)
            || self.is_tunnel(name)
    }

    /// Whether a tunnel, a channel or a program leads here by that name.
    fn is_tunnel(&self, name: &str) -> bool {
        let called = |url: &TargetUrl| url.host().eq_ignore_ascii_case(name);
        let relays = self.relays.read().unwrap_or_else(PoisonError::into_inner);
        let channels = self.channels.read().unwrap_or_else(PoisonError::into_inner);
        let programs = self.programs.read().unwrap_or_else(PoisonError::into_inner);
        relays.iter().chain(channels.iter()).chain(programs.values()).any(called)
    }

    /// Whether an `Origin` line is that of our own page, at a loopback name or address. The origin of the capture port
    /// is not, because others make what it serves.
    pub(crate) fn is_origin(&self, origin: &[u8]) -> bool {
        let authority = std::str::from_utf8(origin).ok().and_then(|origin| origin.strip_prefix("http://"));
        let Some((host, port)) = authority.and_then(|authority| authority.rsplit_once(':')) else {
            return false;
        };
        let loopback = matches!(host, "localhost" | "127.0.0.1" | "[::1]");
        let pages = self.pages.read().unwrap_or_else(PoisonError::into_inner);
        loopback && port.parse().is_ok_and(|port| pages.contains(&port))
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

/// Whether two URLs name the same host and port; all names of this machine count as one.
fn is_same_server(one: &TargetUrl, other: &TargetUrl) -> bool {
    let same_host =
        one.host().eq_ignore_ascii_case(&other.host()) || one.is_loopback() && other.is_loopback();
    same_host && one.port() == other.port()
}

/// The names of this machine: as the system states it, and with `.local`. Names without a dot are left out, because
/// [`OwnAddresses::is_name`] accepts them anyway.
static THIS_MACHINE: LazyLock<Vec<String>> = LazyLock::new(|| {
    let name = gethostname::gethostname().to_string_lossy().trim_end_matches('.').to_ascii_lowercase();
    let short = name.split('.').next().unwrap_or_default();
    let local = format!("{short}.local");
    [name.clone(), local].into_iter().filter(|name| !name.starts_with('.') && name.contains('.')).collect()
});

/// Whether an address is one of this machine's; only those can be bound.
fn is_local(address: IpAddr) -> bool {
    std::net::UdpSocket::bind((address, 0)).is_ok()
}
