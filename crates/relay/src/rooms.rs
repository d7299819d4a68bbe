//! Limits how much of the bodies in flight belongs to one tunnel, one token, or one block of addresses.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Mutex, PoisonError},
};

use hookmitt_catch::Room;
use hookmitt_mailbox::Tunnel;
use ipnet::IpNet;

use crate::{blocks::blocks, crowd::PARTS};

/// How many [`PARTS`] of the limit for all bodies in flight one tunnel may use, and all tunnels of one token together.
const OF_TUNNEL: usize = 8;
const OF_TOKEN: usize = 16;

/// How many parts the senders of one address may use, and those of its larger block. More than a token, because one
/// provider sends to many tunnels.
const OF_ADDRESS: usize = 24;
const OF_BLOCK: usize = 26;

/// How many parts the senders of one block may use at one tunnel, so that they leave room for its other senders.
const OF_BLOCK_AT_TUNNEL: usize = 6;

/// The index of an address's larger block: a /48 of IPv6 or a /20 of IPv4.
const LARGER: usize = 2;

/// When there are this many rooms, idle ones are removed at once, so that senders from everywhere don't fill the
/// memory.
const MANY: usize = 64 * 1_024;

/// Whose room it is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Whose {
    Tunnel(String),
    Token(String),
    Block(IpNet),
    BlockAtTunnel(IpNet, String),
}

/// The rooms of all parties that have bodies in flight.
#[derive(Debug)]
pub(crate) struct Rooms {
    in_flight: usize,
    /// Networks whose senders are not counted, because many are behind them and can't be told apart.
    exempt: Vec<IpNet>,
    rooms: Mutex<HashMap<Whose, Room>>,
}

impl Rooms {
    pub(crate) fn new(in_flight: usize, exempt: &[IpNet]) -> Self {
        Self { in_flight, exempt: exempt.to_vec(), rooms: Mutex::default() }
    }

    /// Returns the rooms in which a request from this address to this tunnel must find space.
    pub(crate) fn of(&self, tunnel: &Tunnel, sender: IpAddr) -> Vec<Room> {
        let (name, token) = (tunnel.name.clone(), tunnel.token.clone());
        let mut all = vec![(Whose::Tunnel(name.clone()), OF_TUNNEL), (Whose::Token(token), OF_TOKEN)];
        if !self.exempt.iter().any(|net| net.contains(&sender)) {
            let blocks = blocks(sender);
            let (address, larger) = (blocks[0], blocks[LARGER]);
            all.extend([
                (Whose::Block(address), OF_ADDRESS),
                (Whose::Block(larger), OF_BLOCK),
                (Whose::BlockAtTunnel(larger, name), OF_BLOCK_AT_TUNNEL),
            ]);
        }
        let mut rooms = self.rooms.lock().unwrap_or_else(PoisonError::into_inner);
        if rooms.len() >= MANY {
            rooms.retain(|_, room| !room.is_idle());
        }
        let room = |parts| Room::new(self.in_flight / PARTS * parts);
        all.into_iter()
            .map(|(whose, parts)| rooms.entry(whose).or_insert_with(|| room(parts)).clone())
            .collect()
    }

    /// Removes the rooms that are empty.
    pub(crate) fn forget_idle(&self) {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner).retain(|_, room| !room.is_idle());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threat_12_each_party_has_one_room_while_it_is_in_use() {
        let rooms = Rooms::new(1_024 * PARTS, &["10.0.0.0/8".parse().unwrap()]);
        let tunnel = |name: &str| Tunnel {
            name: name.to_owned(),
            token: "tk".to_owned(),
            sealing_key: [7; 32],
            sources: Vec::new(),
            devices: Vec::new(),
            letters: 1,
            revoked: false,
        };
        let count = || rooms.rooms.lock().unwrap().len();
        let sender = "2001:db8::1".parse().unwrap();
        let one = rooms.of(&tunnel("one"), sender);
        assert_eq!((one.len(), count()), (5, 5));
        let proxied = rooms.of(&tunnel("two"), "10.1.2.3".parse().unwrap());
        assert_eq!((proxied.len(), count()), (2, 6), "the token has a room already");
        drop(one);
        rooms.forget_idle();
        assert_eq!(count(), 2);
        drop(proxied);
        rooms.forget_idle();
        assert_eq!(count(), 0);
    }
}
