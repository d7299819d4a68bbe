//! Blocks of addresses, because whoever has one address may have all those around it as well.

use std::net::IpAddr;

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

/// How many sizes of blocks are distinguished.
pub(crate) const SIZES: usize = 4;

/// Prefix lengths for IPv6: a household has at least a /64 and often a /56; an office or a rented server has a /48; a
/// provider has a /32.
const IPV6: [u8; SIZES] = [64, 56, 48, 32];
/// Prefix lengths for IPv4 that correspond roughly: one address, a block that is rented together, and larger parts of a
/// provider's addresses.
const IPV4: [u8; SIZES] = [32, 24, 20, 16];

/// Returns the blocks that contain an address, the smallest first.
pub(crate) fn blocks(ip: IpAddr) -> [IpNet; SIZES] {
    match ip.to_canonical() {
        IpAddr::V4(ip) => IPV4.map(|bits| Ipv4Net::new_assert(ip, bits).trunc().into()),
        IpAddr::V6(ip) => IPV6.map(|bits| Ipv6Net::new_assert(ip, bits).trunc().into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_in_ever_larger_blocks() {
        let shown = |ip: &str| blocks(ip.parse().unwrap()).map(|block| block.to_string());
        let mapped = ["192.0.2.77/32", "192.0.2.0/24", "192.0.0.0/20", "192.0.0.0/16"];
        assert_eq!(shown("::ffff:192.0.2.77"), mapped);
        let own = ["2001:db8:1:203::/64", "2001:db8:1:200::/56", "2001:db8:1::/48", "2001:db8::/32"];
        assert_eq!(shown("2001:db8:1:203::5"), own);
    }
}
