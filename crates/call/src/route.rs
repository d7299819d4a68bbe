//! Which way leads to a peer, as the routing table has it. Nothing is sent.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

/// Addresses on the internet that nobody has: they are reserved for documentation (RFC 5737 and RFC 3849).
const ANYWHERE: [SocketAddr; 2] = [
    SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 443),
    SocketAddr::new(IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1)), 443),
];

/// Returns the local address from which a peer is reached at the moment, or `None` if no way leads there.
pub fn way_to(peer: SocketAddr) -> Option<IpAddr> {
    let any: IpAddr =
        if peer.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0)).ok()?;
    socket.connect(peer).ok()?;
    socket.local_addr().ok().map(|address| address.ip())
}

/// Returns the local address from which the internet is reached at the moment, or `None` if no way leads there.
pub fn way_out() -> Option<IpAddr> {
    ANYWHERE.into_iter().find_map(way_to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_reached_by_its_own_address() {
        let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
        assert_eq!(way_to(SocketAddr::new(loopback, 4410)), Some(loopback));
    }
}
