//! How much of the bodies in flight is one tunnel's, one token's, or one block of addresses'.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Mutex, PoisonError},
};

use hookmitt_catch::Room;
use hookmitt_mailbox::Tunnel;
use ipnet::IpNet;

use crate::{blocks::blocks, crowd::PARTS};

/// The parts of it that one tunnel may have, and all tunnels of one token.
const OF_TUNNEL: usize = 8;
const OF_TOKEN: usize = 16;

/// The parts that senders of one address may have, and those of its larger block: more than a token, because one provider
/// sends to many.
const OF_ADDRESS: usize = 24;
const OF_BLOCK: usize = 26;

/// The parts that senders of one block may have at one tunnel: they leave room for whoever else sends to it.
const OF_BLOCK_AT_TUNNEL: usize = 6;

/// Which of an address's blocks is the larger one: a /48 of IPv6.
const LARGER: usize = 2;

/// With so many rooms those in which nothing is are looked for at once: senders from everywhere don't add to them.
const MANY: usize = 64 * 1_024;

/// Who takes up room.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Whose {
    Tunnel(String),
    Token(String),
    Block(IpNet),
    BlockAtTunnel(IpNet, String),
}

/// The rooms of all who take up any.
#[derive(Debug)]
pub(crate) struct Rooms {
    in_flight: usize,
    /// Behind these are many senders, who are not told apart.
    exempt: Vec<IpNet>,
    rooms: Mutex<HashMap<Whose, Room>>,
}

impl Rooms {
    pub(crate) fn new(in_flight: usize, exempt: &[IpNet]) -> Self {
        Self { in_flight, exempt: exempt.to_vec(), rooms: Mutex::default() }
    }

    /// The rooms in which a request to this tunnel from that address has to find its place.
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

    /// Forgets the rooms in which nothing is.
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
