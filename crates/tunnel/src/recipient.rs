//! Who takes the letters.

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use bytes::Bytes;
use hookmitt_event::Timestamp;
use hookmitt_wire::{Letter, LetterError, Parcel, Received, SourceOffer};
use tokio::sync::watch;

use crate::{Bounds, NoKey, SealingKey, State};

/// How long a relay holds a sender at most: one whose letter could not be stored for longer has gone.
const HELD: Duration = Duration::from_secs(120);

/// What is on a letter's envelope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letterhead {
    /// Names the letter: the same in every re-send, from every relay of the tunnel and on every device.
    pub arrival_key: Vec<u8>,
    /// When the request's last byte was at the relay, by its clock; the nearest moment that can be where it can't.
    pub received_at: Timestamp,
    /// What is wrong with what was said of that.
    pub doubt: Option<Doubt>,
    /// Within which it can have been received, as far as this side knows.
    pub bounds: Bounds,
    /// Its sender waits for the answer.
    pub held: bool,
    /// Where it is in the mailbox.
    pub position: u64,
    /// It was there already when this connection was made.
    pub waited: bool,
    /// Letters of one run keep their order: once one of them can't be stored, none after it may be, until all come again
    /// in a later run. Runs are counted from 1.
    pub run: u64,
}

/// Why the time is not to be believed that was told with a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// The envelope says another time, or otherwise whether the sender waits, than what was sealed: the store of the relay
    /// was altered. What was sealed counts.
    Altered(Timestamp),
    /// All that was received until then was here already.
    TooEarly(Timestamp),
    /// It lies ahead.
    TooLate(Timestamp),
}

/// What a sender that is held is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppReply {
    /// The status.
    pub status: u16,
    /// Header lines.
    pub headers: Vec<(String, Bytes)>,
    /// The body.
    pub body: Bytes,
}

/// The reply to a sender that is held, as soon as it is known: its letter is acknowledged before. None where the source's
/// default answer says it all; another device of the tunnel may know more.
pub type Answering = Pin<Box<dyn Future<Output = Option<AppReply>> + Send>>;

/// The letter can't be stored now. It stays at the relay, and is handed over again in a while, in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Later;

/// Why a letter can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// It was sealed for another key, or is not what was sealed.
    #[error("a letter was sealed for somebody else, or has been changed")]
    Foreign,
    /// It opened, and is no letter that this version knows.
    #[error(transparent)]
    Letter(#[from] LetterError),
}

/// Takes the letters of a tunnel.
pub trait Recipient: Send + Sync + 'static {
    /// The sources that the tunnel takes, now and whenever they change.
    fn sources(&self) -> watch::Receiver<Arc<Vec<SourceOffer>>>;

    /// Stores a letter: durably committed when it answers `Ok`, with what the reply to a sender that is held comes from.
    ///
    /// Called (and first polled) in the order of the mailbox, many at once; only a letter that came in pieces may come
    /// after younger ones. A letter may come again with the same arrival key: it is answered `Ok` once more.
    fn letter(
        &self,
        head: Letterhead,
        letter: Letter,
    ) -> impl Future<Output = Result<Option<Answering>, Later>> + Send;

    /// A letter that can't be read. `lost` says that it never will be: then the relay is told to forget it. Otherwise it
    /// stays there: a newer hookmitt may read it, or the right key may come back.
    fn unreadable(&self, head: &Letterhead, why: &Unreadable, lost: bool);

    /// The sealing key was turned over: these open letters, the newest first. They are to be kept; after a crash the relay
    /// tells them anew.
    fn sealing_keys(&self, keys: Vec<SealingKey>);

    /// The sealing key was turned over, and this device has not got the new one.
    fn no_key(&self, why: NoKey);

    /// The tunnel's state changed. `Connected` comes before the first letter of its connection.
    fn state(&self, state: State);
}

impl Letterhead {
    /// As the envelope has it.
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

    /// As it is to be believed once the letter is open: what is sealed counts, within what this side saw itself. An old
    /// relay seals nothing of it.
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
