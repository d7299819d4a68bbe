//! The store for several relays: NATS JetStream.
//!
//! Mailboxes are subjects of a fixed set of streams, over which the tunnels are spread. A letter's position is its
//! sequence number in the stream. Records are keys of two buckets. No consumer belongs to a device: each relay follows
//! every stream with one ephemeral consumer that carries only headers, keeps an index of the waiting letters in memory,
//! and reads a letter by its position when a device wants it. So an idle tunnel costs only a few records, and any relay
//! takes any request.
//!
//! The way of a letter, by files:
//!
//! - `put` stores it within the quota, whole or in parts; then `index` knows that it waits, and where.
//! - `feed` hands it to each device as it arrives; a sender that is `held` gets the app's answer at any relay.
//! - `acks` acknowledges it for a device, and deletes it once nobody wants it; until then it is in `due`.
//! - `sweep` deletes it if it becomes too old; `counts` says which devices lost it that way.
//!
//! The records: `tokens` open `tunnels`, and `devices` take part in them. `registry` holds these records in memory,
//! `records` and `names` define how everything is written, and `clock` measures ages. The base: `connection` and
//! `servers` (requests to NATS), `table` (a bucket), `streams` (creating and following them). `store` is what all of
//! these share, and `open` builds it.
//!
//! The leader of a stream acknowledges a letter once most replicas have it. Servers before 2.10, and newer ones without
//! `sync_interval: always`, write to the disk later, so a power cut of the whole cluster may lose the last letters
//! ([`NatsMailbox::power_cut`]).

mod acks;
mod clock;
mod connection;
mod counts;
mod devices;
mod due;
mod feed;
mod held;
mod index;
mod names;
mod open;
mod put;
mod records;
mod registry;
mod servers;
mod store;
mod streams;
mod sweep;
mod table;
mod tokens;
mod tunnels;

use std::{sync::Arc, time::Duration};

use hookmitt_wire::{Depth, Parcel, SourceOffer};

pub use connection::NatsOptions;
pub use feed::NatsFeed;
pub use held::{NatsHeld, NatsPresent};
pub use open::NatsMailbox;

use crate::{
    Device, DeviceKey, Mailbox, MailboxError, NewDevice, NewTunnel, Quota, Reply, Revocation, Token, Tunnel,
    Usage,
};

impl Mailbox for NatsMailbox {
    type Feed = NatsFeed;
    type Held = NatsHeld;
    type Present = NatsPresent;

    async fn add_token(
        &self,
        id: &str,
        hash: [u8; 32],
        name: Option<&str>,
        most_tunnels: u32,
    ) -> Result<(), MailboxError> {
        tokens::add(&self.store, id, hash, name, most_tunnels).await
    }

    async fn tokens(&self) -> Result<Vec<Token>, MailboxError> {
        self.store.check_open()?;
        Ok(self.store.registry.tokens())
    }

    async fn token(&self, hash: [u8; 32]) -> Result<Option<String>, MailboxError> {
        tokens::find(&self.store, &hash).await
    }

    async fn rotate_token(&self, id: &str, hash: [u8; 32]) -> Result<(), MailboxError> {
        tokens::rotate(&self.store, id, hash).await
    }

    async fn revoke_token(&self, id: &str) -> Result<(), MailboxError> {
        for tunnel in tokens::revoke(&self.store, id).await? {
            acks::give_up(&self.store, &tunnel, u64::MAX);
        }
        Ok(())
    }

    async fn open_tunnel(&self, tunnel: NewTunnel) -> Result<(), MailboxError> {
        tunnels::open(&self.store, &self.reservations, tunnel).await
    }

    async fn tunnel(&self, name: &str) -> Result<Option<Arc<Tunnel>>, MailboxError> {
        tunnels::find(&self.store, name).await
    }

    async fn set_sources(
        &self,
        tunnel: &str,
        device: &DeviceKey,
        sources: Vec<SourceOffer>,
    ) -> Result<(), MailboxError> {
        devices::set_sources(&self.store, tunnel, device, sources).await
    }

    async fn add_invite(&self, tunnel: &str, code: [u8; 32], lasting: Duration) -> Result<i64, MailboxError> {
        devices::add_invite(&self.store, tunnel, code, lasting).await
    }

    async fn join(
        &self,
        tunnel: &str,
        code: [u8; 32],
        device: NewDevice,
        most: usize,
    ) -> Result<bool, MailboxError> {
        devices::join(&self.store, tunnel, code, device, most).await
    }

    async fn introduce(
        &self,
        tunnel: &str,
        device: &DeviceKey,
        letters: u8,
        proof: [u8; 32],
    ) -> Result<(), MailboxError> {
        devices::introduce(&self.store, tunnel, device, letters, proof).await
    }

    async fn revoke(&self, tunnel: &str, by: &DeviceKey, revocation: Revocation) -> Result<(), MailboxError> {
        devices::revoke(&self.store, tunnel, by, &revocation).await
    }

    async fn devices(&self, tunnel: &str) -> Result<Vec<Device>, MailboxError> {
        devices::devices(&self.store, tunnel).await
    }

    async fn seen(&self, tunnel: &str, device: &DeviceKey) -> Result<(), MailboxError> {
        devices::seen(&self.store, tunnel, device).await
    }

    async fn leave(&self, tunnel: &str, device: &DeviceKey) -> Result<(), MailboxError> {
        devices::leave(&self.store, tunnel, device, None).await.map(drop)
    }

    async fn put(&self, tunnel: &str, parcel: Parcel, quota: &Quota) -> Result<u64, MailboxError> {
        put::put(&self.store, tunnel, parcel, quota).await
    }

    async fn feed(&self, tunnel: &str, after: u64) -> Result<NatsFeed, MailboxError> {
        tunnels::must_be_open(&self.store, tunnel).await?;
        Ok(NatsFeed::new(&self.store, tunnel, after))
    }

    async fn ack(&self, tunnel: &str, device: &DeviceKey, through: u64) -> Result<(), MailboxError> {
        acks::ack(&self.store, tunnel, device, through).await
    }

    async fn depth(&self, tunnel: &str, device: &DeviceKey) -> Result<(Depth, u64), MailboxError> {
        devices::depth(&self.store, tunnel, device).await
    }

    fn count_refused(&self, tunnel: &str, unknown_source: bool) {
        if self.store.registry.knows(tunnel) {
            self.store.counts.refused(tunnel, unknown_source, self.store.clock.now());
        }
    }

    async fn hold(&self, event: [u8; 16]) -> Result<NatsHeld, MailboxError> {
        held::hold(&self.store, &self.senders, event).await
    }

    async fn answer(&self, event: [u8; 16], reply: Reply) -> Result<(), MailboxError> {
        held::answer(&self.store, &self.senders, event, reply).await
    }

    async fn attend(&self, tunnel: &str) -> NatsPresent {
        held::attend(&self.store, tunnel).await
    }

    async fn is_attended_elsewhere(&self, tunnel: &str) -> bool {
        held::is_attended_elsewhere(&self.store, tunnel).await
    }

    async fn sweep(&self, quota: &Quota) -> Result<(), MailboxError> {
        sweep::sweep(&self.store, &self.orphans, quota).await
    }

    async fn usage(&self) -> Result<Usage, MailboxError> {
        self.store.check_open()?;
        Ok(self.store.usage())
    }

    async fn check(&self) -> Result<(), MailboxError> {
        self.store.check_open()?;
        self.store.check_cluster().await
    }

    async fn close(&self) {
        self.store.close().await;
    }
}
