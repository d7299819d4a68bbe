//! The relay's durable store: tunnels, devices, tokens, and the sealed letters that wait for them.
//!
//! The relay uses the trait [`Mailbox`]. Two stores keep its contract (`tests/contract`): SQLite in one file, and NATS
//! JetStream for several relays that share a store.

mod age;
mod error;
mod mailbox;
mod model;
mod names;
mod nats;
mod offers;
mod sqlite;

pub use error::MailboxError;
pub use mailbox::{Delivered, Fed, Feed, Held, Mailbox};
pub use model::{
    COUNTED, Device, DeviceKey, MOST_DEVICES, MOST_TUNNELS, NewDevice, NewTunnel, Quota, Reply, Revocation,
    Token, TokenId, Tunnel, Usage,
};
pub use names::short;
pub use nats::{NatsFeed, NatsHeld, NatsMailbox, NatsOptions, NatsPresent};
pub use sqlite::{Alone, SqliteFeed, SqliteHeld, SqliteMailbox};
