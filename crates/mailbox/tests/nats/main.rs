//! The NATS store keeps the contract on a cluster of three real servers, and loses nothing when one is killed.

#![expect(clippy::unwrap_used, reason = "a test stops at what is not as it should be, and says what it saw")]

mod clocks;
#[path = "../contract/mod.rs"]
mod contract;
mod faults;
mod kill;
mod place;
mod relays;
#[expect(dead_code, unreachable_pub, reason = "shared with the stories, which use the rest")]
#[path = "../../../../tests/support/nats.rs"]
mod servers;
#[expect(dead_code, unreachable_pub, reason = "shared with the stories, which use the rest")]
#[path = "../../../../tests/support/skip.rs"]
mod skip;

use self::place::Place;

mod on_three_nodes {
    use super::*;

    contract!(Place::on_three_nodes());
}
