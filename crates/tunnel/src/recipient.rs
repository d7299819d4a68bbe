//! The recipient of a tunnel's letters.

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use bytes::Bytes;
use hookmitt_event::{Slug, Timestamp};
use hookmitt_wire::{Letter, LetterError, Parcel, Received, SourceOffer};
use tokio::sync::watch;

use crate::{Bounds, NoKey, SealingKey, State};

/// How long a relay holds a sender at most. If storing the letter takes longer, the sender has gone.
const HELD: Duration = Duration::from_secs(120);

/// What is known of a letter apart from its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letterhead {
    /// Identifies the letter. It is the same whenever the letter is sent again, at every relay of the tunnel and on
    /// every device.
    pub arrival_key: Vec<u8>,
    /// When the relay received the request's last byte, by its clock. If that time is impossible, the nearest possible
    /// one.
    pub received_at: Timestamp,
    /// Why the time that the relay gave can't be right, if it can't.
    pub doubt: Option<Doubt>,
    /// The range in which the letter can have been received, as far as this side knows.
    pub bounds: Bounds,
    /// Whether its sender waits for the answer.
    pub held: bool,
    /// Its position in the mailbox.
    pub position: u64,
    /// Whether it was in the mailbox before this connection was made.
    pub waited: bool,
    /// The letter's run, counted from 1. Letters of a run keep their order: if one can't be stored, the later ones of
    /// the run must not be stored either; they all come again in a later run.
    pub run: u64,
}

/// Why the time that came with a letter is not believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// The time, or whether the sender waits, differs between the envelope and the sealed content, so the relay's
    /// database was altered. The sealed content counts.
    Altered(Timestamp),
    /// Everything that was received up to that time had already arrived.
    TooEarly(Timestamp),
    /// That time is in the future.
    TooLate(Timestamp),
}

/// The answer to a sender that is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppReply {
    /// The HTTP status.
    pub status: u16,
    /// The header lines.
    pub headers: Vec<(String, Bytes)>,
    /// The body.
    pub body: Bytes,
}

/// Resolves to the reply for a held sender, after its letter was acknowledged. `None` if this device has nothing to add
/// to the source's default answer; another device of the tunnel may have.
pub type Answering = Pin<Box<dyn Future<Output = Option<AppReply>> + Send>>;

/// The letter can't be stored now. It stays at the relay, and is handed over again later, in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Later;

/// Why a letter can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// It was sealed for another key, or altered.
    #[error("an event was encrypted for someone else, or has been changed")]
    Foreign,
    /// It was opened, but this version does not understand its content.
    #[error(transparent)]
    Letter(#[from] LetterError),
}

/// Receives the letters of a tunnel.
pub trait Recipient: Send + Sync + 'static {
    /// Returns the sources that the tunnel accepts. The channel announces changes.
    fn sources(&self) -> watch::Receiver<Arc<Vec<SourceOffer>>>;

    /// Stores a letter. When it returns `Ok`, the letter is durably committed; if its sender is held, the value
    /// resolves to the reply.
    ///
    /// Calls are made (and first polled) in the order of the mailbox, and many run at once. Only a letter that came in
    /// pieces may be handed over after younger ones. A letter may come again with the same arrival key; the answer is
    /// `Ok` then, too.
    fn letter(
        &self,
        head: Letterhead,
        letter: Letter,
    ) -> impl Future<Output = Result<Option<Answering>, Later>> + Send;

    /// Reports a letter that can't be read. If it is `lost`, it will never be readable, and it is acknowledged as if it
    /// were stored, so the relay doesn't send it to this device again. Otherwise it stays at the relay: a newer
    /// hookmitt may be able to read it, or the right key may return.
    fn unreadable(&self, head: &Letterhead, why: &Unreadable, lost: bool);

    /// The sealing key was replaced: these secret keys open letters, newest first. They must be stored; after a crash
    /// the relay reports them again.
    fn sealing_keys(&self, keys: Vec<SealingKey>);

    /// The sealing key was replaced, but this device does not have the new one.
    fn no_key(&self, why: NoKey);

    /// The tunnel's state changed. `Connected` comes before the first letter of its connection.
    fn state(&self, state: State);

    /// Takes over the names that were called lately at the relay and are no sources of the tunnel, newest first. Senders
    /// chose them.
    fn unserved(&self, names: Vec<Slug>) {
        let _unused = names;
    }
}

impl Letterhead {
    /// Takes everything from the envelope, which the relay could have altered.
    pub(crate) fn new(tunnel: &str, position: u64, parcel: &Parcel, waited: bool, bounds: Bounds) -> Self {
        Self {
            arrival_key: [tunnel.as_bytes(), &[0], &parcel.epoch, &parcel.number.to_be_bytes()].concat(),
            received_at: Timestamp::from_micros(parcel.received_at),
            doubt: None,
            bounds,
            held: parcel.held,
            position,
            waited,
            run: 0,
        }
    }

    /// Takes what was sealed with the content instead, now that the letter is open, and limits the time to what is
    /// possible. A relay of an older version seals nothing of this.
    pub(crate) fn attested(mut self, sealed: Option<Received>) -> Self {
        let told = self.received_at;
        if let Some(sealed) = sealed {
            let at = Timestamp::from_micros(sealed.at);
            self.doubt = (at != told || sealed.held != self.held).then_some(Doubt::Altered(told));
            (self.received_at, self.held) = (at, sealed.held);
        }
        let said = self.received_at;
        self.received_at = self.bounds.nearest(said);
        if self.received_at != said {
            let early = said < self.received_at;
            self.doubt = Some(if early { Doubt::TooEarly(said) } else { Doubt::TooLate(said) });
        }
        self.held &= self.bounds.came.elapsed() < HELD;
        self
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    const NOON: Timestamp = Timestamp::from_seconds(1_750_000_000);

    fn head(told: Timestamp, held: bool) -> Letterhead {
        let parcel =
            Parcel { epoch: [1; 32], number: 7, received_at: told.as_micros(), held, data: Bytes::new() };
        let minute = Duration::from_secs(60);
        let bounds = Bounds {
            earliest: Some(NOON.before(minute)),
            latest: Some(NOON.after(minute)),
            ..Bounds::none()
        };
        Letterhead::new("acme", 1, &parcel, false, bounds)
    }

    #[tokio::test(start_paused = true)]
    async fn threat_9_what_is_sealed_counts_and_an_envelope_that_differs_is_doubted() {
        let sealed = |held| Some(Received { at: NOON.as_micros(), held });
        let honest = head(NOON, true).attested(sealed(true));
        assert_eq!((honest.received_at, honest.held, honest.doubt), (NOON, true, None));
        let hour_ago = NOON.before(Duration::from_secs(3_600));
        let altered = head(hour_ago, true).attested(sealed(false));
        assert_eq!((altered.received_at, altered.held), (NOON, false));
        assert_eq!(altered.doubt, Some(Doubt::Altered(hour_ago)));
        assert_eq!(head(NOON, false).attested(sealed(true)).doubt, Some(Doubt::Altered(NOON)));
    }

    #[tokio::test(start_paused = true)]
    async fn threat_9_a_relay_s_word_is_bounded_by_what_this_side_saw() {
        let hour = Duration::from_secs(3_600);
        let said = |at: Timestamp| head(at, true).attested(Some(Received { at: at.as_micros(), held: true }));
        let early = said(NOON.before(hour));
        assert_eq!(Some(early.received_at), early.bounds.earliest);
        assert_eq!(early.doubt, Some(Doubt::TooEarly(NOON.before(hour))));
        let late = said(NOON.after(hour));
        assert_eq!(Some(late.received_at), late.bounds.latest);
        assert_eq!(late.doubt, Some(Doubt::TooLate(NOON.after(hour))));
        for at in [i64::MIN, i64::MAX] {
            let extreme = said(Timestamp::from_micros(at));
            assert!(extreme.doubt.is_some() && extreme.received_at.since(NOON) <= hour);
        }
        let of_an_old_relay = head(NOON.before(hour), true).attested(None);
        assert_eq!(of_an_old_relay.doubt, Some(Doubt::TooEarly(NOON.before(hour))));
    }

    #[tokio::test(start_paused = true)]
    async fn a_sender_whose_letter_could_not_be_stored_for_long_has_gone() {
        let head = head(NOON, true);
        tokio::time::advance(HELD).await;
        assert!(!head.attested(None).held);
    }
}
