//! The contract that every make of store keeps.

use std::{future::Future, sync::Arc, time::Duration};

use hookmitt_wire::{Depth, Parcel, SourceOffer};

use crate::{
    Device, DeviceKey, MailboxError, NewDevice, NewTunnel, Quota, Reply, Revocation, Token, Tunnel, Usage,
};

/// A letter on its way to a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// Where it is in its mailbox: grows, with gaps.
    pub position: u64,
    /// The letter.
    pub parcel: Parcel,
}

/// What a feed has now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fed {
    /// The next letters; maybe none.
    Letters(Vec<Delivered>),
    /// The next letter is larger than any may be that is taken now: so many bytes. It was not read.
    TooLarge(usize),
}

/// The letters of one tunnel from a position on, in order. Safe to cancel.
pub trait Feed: Send {
    /// Waits until there may be letters.
    fn wait(&mut self) -> impl Future<Output = Result<(), MailboxError>> + Send;
    /// The next letters that are there: at most `most` and about `bytes`; one may be larger, but not than `limit`.
    fn take(
        &mut self,
        most: usize,
        bytes: usize,
        limit: usize,
    ) -> impl Future<Output = Result<Fed, MailboxError>> + Send;

    /// The next letters, waited for: at least one, at most `most` and about `bytes` (one may be larger).
    fn next(
        &mut self,
        most: usize,
        bytes: usize,
    ) -> impl Future<Output = Result<Vec<Delivered>, MailboxError>> + Send {
        async move {
            loop {
                self.wait().await?;
                match self.take(most, bytes, usize::MAX).await? {
                    Fed::Letters(letters) if !letters.is_empty() => return Ok(letters),
                    _ => {}
                }
            }
        }
    }
}

/// A sender that is held until the app has answered.
pub trait Held: Send {
    /// The app's answer; none where it does not come in time.
    fn answer(self, limit: Duration) -> impl Future<Output = Option<Reply>> + Send;
}

/// The relay's store. Everything that it says is done is durable: it survives a power cut.
///
/// It is opened with a clock. What it tells are times of the wall clock, in microseconds since the Unix epoch; what it
/// ages goes by a clock of its own, which no step of the wall clock moves.
pub trait Mailbox: Clone + Send + Sync + 'static {
    /// How letters come out.
    type Feed: Feed;
    /// How answers come back.
    type Held: Held;
    /// Says that a device is connected.
    type Present: Send;

    // Tokens

    /// Keeps a token by its hash, with which so many tunnels may be open at a time.
    fn add_token(
        &self,
        id: &str,
        hash: [u8; 32],
        name: Option<&str>,
        most_tunnels: u32,
    ) -> impl Future<Output = Result<(), MailboxError>> + Send;
    /// All tokens, oldest first.
    fn tokens(&self) -> impl Future<Output = Result<Vec<Token>, MailboxError>> + Send;
    /// The id of the token with this hash, unless it was revoked.
    fn token(&self, hash: [u8; 32]) -> impl Future<Output = Result<Option<String>, MailboxError>> + Send;
    /// Revokes a token: its tunnels are shut from now on, their letters are deleted.
    fn revoke_token(&self, id: &str) -> impl Future<Output = Result<(), MailboxError>> + Send;

    // Tunnels and devices

    /// Opens a tunnel. [`MailboxError::NameTaken`] where the name was ever given out, unless to the same token, and for a
    /// tunnel that took no letter and had no device connected: that one is replaced. [`MailboxError::TooManyTunnels`]
    /// where its token has no more, those that were shut within the [last day](crate::COUNTED) included (of relays beside
    /// each other, each reckons with what it heard of the others).
    fn open_tunnel(&self, tunnel: NewTunnel) -> impl Future<Output = Result<(), MailboxError>> + Send;
    /// A tunnel by its name. Called for each request, so answered from memory (at most 1 s old where relays share a store).
    fn tunnel(&self, name: &str) -> impl Future<Output = Result<Option<Arc<Tunnel>>, MailboxError>> + Send;
    /// Replaces the sources that a device takes. The tunnel takes those of all its devices; where they differ about one,
    /// the device that takes part longest counts.
    fn set_sources(
        &self,
        tunnel: &str,
        device: &DeviceKey,
        sources: Vec<SourceOffer>,
    ) -> impl Future<Output = Result<(), MailboxError>> + Send;
    /// Keeps the hash of a one-time code with which a device may join for so long; answers until when, by the wall clock.
    /// It ends by whichever clock is there first, that or the store's own.
    fn add_invite(
        &self,
        tunnel: &str,
        code: [u8; 32],
        lasting: Duration,
    ) -> impl Future<Output = Result<i64, MailboxError>> + Send;
    /// Registers a device by a one-time code, which is used up; it gets the letters from now on. Answers whether it is
    /// new: one that takes part already stays as it is, for whoever has a code can give any device's key.
    /// [`MailboxError::TooManyDevices`] where the tunnel has `most`; the code stays good.
    fn join(
        &self,
        tunnel: &str,
        code: [u8; 32],
        device: NewDevice,
        most: usize,
    ) -> impl Future<Output = Result<bool, MailboxError>> + Send;
    /// A tunnel's devices.
    fn devices(&self, tunnel: &str) -> impl Future<Output = Result<Vec<Device>, MailboxError>> + Send;
    /// A device says which letters it reads, and shows that it was invited.
    fn introduce(
        &self,
        tunnel: &str,
        device: &DeviceKey,
        letters: u8,
        proof: [u8; 32],
    ) -> impl Future<Output = Result<(), MailboxError>> + Send;
    /// Its owner turns a device out: as if it left, codes with which devices may join are forgotten, and letters are sealed
    /// by another key from now on. All of it at once, or nothing: [`MailboxError::NotOwner`], and [`MailboxError::Changed`]
    /// where not just those take part that the revocation knows.
    fn revoke(
        &self,
        tunnel: &str,
        by: &DeviceKey,
        revocation: Revocation,
    ) -> impl Future<Output = Result<(), MailboxError>> + Send;
    /// A device is or was there just now.
    fn seen(&self, tunnel: &str, device: &DeviceKey)
    -> impl Future<Output = Result<(), MailboxError>> + Send;
    /// A device leaves. What waited only for it goes; with the last device the tunnel is shut, its name never given out again.
    fn leave(
        &self,
        tunnel: &str,
        device: &DeviceKey,
    ) -> impl Future<Output = Result<(), MailboxError>> + Send;

    // Letters

    /// Stores a letter durably within the quota, and wakes the feeds. Answers its position.
    fn put(
        &self,
        tunnel: &str,
        parcel: Parcel,
        quota: &Quota,
    ) -> impl Future<Output = Result<u64, MailboxError>> + Send;
    /// The letters of a tunnel after a position.
    fn feed(&self, tunnel: &str, after: u64)
    -> impl Future<Output = Result<Self::Feed, MailboxError>> + Send;
    /// A device has committed every letter up to `through`: its cursor moves, never back, and what every device has is deleted.
    fn ack(
        &self,
        tunnel: &str,
        device: &DeviceKey,
        through: u64,
    ) -> impl Future<Output = Result<(), MailboxError>> + Send;
    /// What waits for a device, and the newest position of the tunnel (0 where nothing ever came).
    fn depth(
        &self,
        tunnel: &str,
        device: &DeviceKey,
    ) -> impl Future<Output = Result<(Depth, u64), MailboxError>> + Send;
    /// Counts a request that was refused, or one that named no source of the tunnel. May be lost in a power cut.
    /// Waits for nothing: it is kept later.
    fn count_refused(&self, tunnel: &str, unknown_source: bool);

    // Senders that are held

    /// Begins to wait for the app's answer to an event; before the letter is put.
    fn hold(&self, event: [u8; 16]) -> impl Future<Output = Result<Self::Held, MailboxError>> + Send;
    /// Passes on the app's answer; nobody may be waiting any more.
    fn answer(&self, event: [u8; 16], reply: Reply) -> impl Future<Output = Result<(), MailboxError>> + Send;

    // Who is there

    /// Tells relays beside this one that a device of the tunnel is connected here, as long as what this answers lives.
    fn attend(&self, tunnel: &str) -> impl Future<Output = Self::Present> + Send;
    /// Whether a device of the tunnel may be connected at a relay beside this one.
    fn is_attended_elsewhere(&self, tunnel: &str) -> impl Future<Output = bool> + Send;

    // House-keeping

    /// Deletes letters that are too old, forgets devices that were idle for too long, and codes whose time is over, and
    /// notes the store's clock. Every minute, by each relay that serves: one that noted nothing for long was away, and
    /// forgets no device before those had the time to come back.
    fn sweep(&self, quota: &Quota) -> impl Future<Output = Result<(), MailboxError>> + Send;
    /// What the store holds.
    fn usage(&self) -> impl Future<Output = Result<Usage, MailboxError>> + Send;
    /// Whether it stores now what is handed in: a small commit, or a word of the cluster.
    fn check(&self) -> impl Future<Output = Result<(), MailboxError>> + Send;
    /// Finishes what is under way and closes.
    fn close(&self) -> impl Future<Output = ()> + Send;
}
