//! The contract that both kinds of store keep.

use std::{future::Future, sync::Arc, time::Duration};

use hookmitt_wire::{Depth, Parcel, SourceOffer};

use crate::{
    Device, DeviceKey, MailboxError, NewDevice, NewTunnel, Quota, Reply, Revocation, Token, Tunnel, Usage,
};

/// A letter on its way to a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// Its position in the mailbox. Positions grow, with gaps.
    pub position: u64,
    /// The letter.
    pub parcel: Parcel,
}

/// What [`Feed::take`] returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fed {
    /// The next letters, possibly none.
    Letters(Vec<Delivered>),
    /// The next letter is larger than the limit of this call; it has this many bytes. It was not read.
    TooLarge(usize),
}

/// The letters of one tunnel after a position, in order. All methods are safe to cancel.
pub trait Feed: Send {
    /// Waits until there may be letters.
    fn wait(&mut self) -> impl Future<Output = Result<(), MailboxError>> + Send;
    /// Returns the next letters that are there: at most `most` letters and about `bytes` bytes. The first may have more
    /// than `bytes`, but not more than `limit`.
    fn take(
        &mut self,
        most: usize,
        bytes: usize,
        limit: usize,
    ) -> impl Future<Output = Result<Fed, MailboxError>> + Send;

    /// Waits for letters and returns the next ones: at least one, at most `most`, and about `bytes` bytes (the first
    /// may have more).
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
    /// Waits for the app's answer. Returns `None` if it does not arrive within `limit`.
    fn answer(self, limit: Duration) -> impl Future<Output = Option<Reply>> + Send;
}

/// The relay's store. Whatever it reports as done is durable: it survives a power cut.
///
/// A store is opened with a clock. Times that it returns are wall-clock times in microseconds since the Unix epoch.
/// Ages go by a clock of the store's own, which no step of the wall clock moves.
pub trait Mailbox: Clone + Send + Sync + 'static {
    /// The type of its feeds.
    type Feed: Feed;
    /// The type of its held senders.
    type Held: Held;
    /// A guard that says that a device is connected.
    type Present: Send;

    // Tokens

    /// Adds a token by its hash; `most_tunnels` is how many tunnels it may have open at a time.
    fn add_token(
        &self,
        id: &str,
        hash: [u8; 32],
        name: Option<&str>,
        most_tunnels: u32,
    ) -> impl Future<Output = Result<(), MailboxError>> + Send;
    /// Returns all tokens, oldest first.
    fn tokens(&self) -> impl Future<Output = Result<Vec<Token>, MailboxError>> + Send;
    /// Returns the id of the token with this hash, unless it was revoked.
    fn token(&self, hash: [u8; 32]) -> impl Future<Output = Result<Option<String>, MailboxError>> + Send;
    /// Gives a token another secret, by its hash. From now on only the new one opens tunnels; those that are open stay.
    ///
    /// Fails with [`MailboxError::TokenRevoked`] if the token was revoked.
    fn rotate_token(&self, id: &str, hash: [u8; 32])
    -> impl Future<Output = Result<(), MailboxError>> + Send;
    /// Revokes a token: its tunnels are shut from now on, and their letters are deleted.
    fn revoke_token(&self, id: &str) -> impl Future<Output = Result<(), MailboxError>> + Send;

    // Tunnels and devices

    /// Opens a tunnel.
    ///
    /// Fails with [`MailboxError::NameTaken`] if the name was ever given out. Exception: the same token may take the
    /// name of a tunnel that took no letter and had no device connected; that tunnel is replaced. Fails with
    /// [`MailboxError::TooManyTunnels`] if the token has as many tunnels as it may have, counting those that were shut
    /// within the [last day](crate::COUNTED). Of several relays that share a store, each counts the tunnels that it has
    /// heard of.
    fn open_tunnel(&self, tunnel: NewTunnel) -> impl Future<Output = Result<(), MailboxError>> + Send;
    /// Returns a tunnel by its name. Called for each request, so it answers from memory; if relays share a store, the
    /// answer may be 1 s old.
    fn tunnel(&self, name: &str) -> impl Future<Output = Result<Option<Arc<Tunnel>>, MailboxError>> + Send;
    /// Replaces the sources that a device takes. The tunnel takes the sources of all its devices; if devices differ
    /// about a source, the device that joined first decides.
    fn set_sources(
        &self,
        tunnel: &str,
        device: &DeviceKey,
        sources: Vec<SourceOffer>,
    ) -> impl Future<Output = Result<(), MailboxError>> + Send;
    /// Stores the hash of a one-time code with which a device may join for as long as `lasting`. Returns when the code
    /// expires by the wall clock. It expires as soon as either the wall clock or the store's own clock reaches its end.
    fn add_invite(
        &self,
        tunnel: &str,
        code: [u8; 32],
        lasting: Duration,
    ) -> impl Future<Output = Result<i64, MailboxError>> + Send;
    /// Registers a device by a one-time code, which is used up. The device gets the letters that arrive from now on.
    ///
    /// Returns whether the device is new. A device that already takes part stays unchanged, because whoever has a code
    /// can name any device's key. Fails with [`MailboxError::TooManyDevices`] if the tunnel has `most` devices; the
    /// code stays valid.
    fn join(
        &self,
        tunnel: &str,
        code: [u8; 32],
        device: NewDevice,
        most: usize,
    ) -> impl Future<Output = Result<bool, MailboxError>> + Send;
    /// Returns a tunnel's devices.
    fn devices(&self, tunnel: &str) -> impl Future<Output = Result<Vec<Device>, MailboxError>> + Send;
    /// Records which letters a device reads, and the proof that it was invited.
    fn introduce(
        &self,
        tunnel: &str,
        device: &DeviceKey,
        letters: u8,
        proof: [u8; 32],
    ) -> impl Future<Output = Result<(), MailboxError>> + Send;
    /// Revokes a device on behalf of the owner `by`: the device leaves, all join codes are forgotten, and letters are
    /// sealed to another key from now on.
    ///
    /// Either all of it happens or nothing. Fails with [`MailboxError::NotOwner`] if `by` may not revoke the device,
    /// and with [`MailboxError::Changed`] if the tunnel's devices or its sealing key are not those that the revocation
    /// names.
    fn revoke(
        &self,
        tunnel: &str,
        by: &DeviceKey,
        revocation: Revocation,
    ) -> impl Future<Output = Result<(), MailboxError>> + Send;
    /// Records that a device is connected, or was until just now.
    fn seen(&self, tunnel: &str, device: &DeviceKey)
    -> impl Future<Output = Result<(), MailboxError>> + Send;
    /// Removes a device. Letters that waited only for it are deleted. With the last device the tunnel is shut; the name
    /// of a tunnel that was in use is never given out again.
    fn leave(
        &self,
        tunnel: &str,
        device: &DeviceKey,
    ) -> impl Future<Output = Result<(), MailboxError>> + Send;

    // Letters

    /// Stores a letter durably within the quota, and wakes the feeds. Returns its position.
    fn put(
        &self,
        tunnel: &str,
        parcel: Parcel,
        quota: &Quota,
    ) -> impl Future<Output = Result<u64, MailboxError>> + Send;
    /// Returns a feed of a tunnel's letters after a position.
    fn feed(&self, tunnel: &str, after: u64)
    -> impl Future<Output = Result<Self::Feed, MailboxError>> + Send;
    /// Acknowledges that a device has committed every letter up to `through`. Its cursor moves, but never back; letters
    /// that every device has are deleted.
    fn ack(
        &self,
        tunnel: &str,
        device: &DeviceKey,
        through: u64,
    ) -> impl Future<Output = Result<(), MailboxError>> + Send;
    /// Returns what waits for a device, and the newest position of the tunnel (0 if no letter ever came).
    fn depth(
        &self,
        tunnel: &str,
        device: &DeviceKey,
    ) -> impl Future<Output = Result<(Depth, u64), MailboxError>> + Send;
    /// Counts a request that was refused or, with `unknown_source`, one that named no source of the tunnel. Returns at
    /// once; the count is written later, so a power cut may lose it.
    fn count_refused(&self, tunnel: &str, unknown_source: bool);

    // Senders that are held

    /// Starts to wait for the app's answer to an event. Called before the letter is put.
    fn hold(&self, event: [u8; 16]) -> impl Future<Output = Result<Self::Held, MailboxError>> + Send;
    /// Passes on the app's answer. It is dropped if nobody waits for it any more.
    fn answer(&self, event: [u8; 16], reply: Reply) -> impl Future<Output = Result<(), MailboxError>> + Send;

    // Who is there

    /// Tells other relays of the same store that a device of the tunnel is connected here, for as long as the returned
    /// guard lives.
    fn attend(&self, tunnel: &str) -> impl Future<Output = Self::Present> + Send;
    /// Returns whether a device of the tunnel may be connected to another relay of the same store.
    fn is_attended_elsewhere(&self, tunnel: &str) -> impl Future<Output = bool> + Send;

    // House-keeping

    /// Deletes letters that are too old, forgets devices that were idle for too long and codes that expired, and notes
    /// the store's clock.
    ///
    /// Each serving relay calls this every minute. A relay that noted nothing for a long time was away; it forgets no
    /// device until devices have had the time to come back.
    fn sweep(&self, quota: &Quota) -> impl Future<Output = Result<(), MailboxError>> + Send;
    /// Returns what the store holds.
    fn usage(&self) -> impl Future<Output = Result<Usage, MailboxError>> + Send;
    /// Checks that the store can write now: a small commit, or a question to the cluster.
    fn check(&self) -> impl Future<Output = Result<(), MailboxError>> + Send;
    /// Finishes what is under way and closes the store.
    fn close(&self) -> impl Future<Output = ()> + Send;
}
