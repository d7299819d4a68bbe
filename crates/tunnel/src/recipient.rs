//! Who takes the letters.

use std::{future::Future, pin::Pin, sync::Arc};

use bytes::Bytes;
use hookmitt_event::Timestamp;
use hookmitt_wire::{Letter, LetterError, Parcel, SourceOffer};
use tokio::sync::watch;

use crate::State;

/// What is on a letter's envelope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letterhead {
    /// Names the letter: the same in every re-send, from every relay of the tunnel and on every device.
    pub arrival_key: Vec<u8>,
    /// When the request's last byte was at the relay, by its clock.
    pub received_at: Timestamp,
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

    /// The tunnel's state changed. `Connected` comes before the first letter of its connection.
    fn state(&self, state: State);
}

impl Letterhead {
    pub(crate) fn new(tunnel: &str, position: u64, parcel: &Parcel, newest: u64) -> Self {
        Self {
            arrival_key: [tunnel.as_bytes(), &[0], &parcel.epoch, &parcel.number.to_be_bytes()].concat(),
            received_at: Timestamp::from_micros(parcel.received_at),
            held: parcel.held,
            position,
            waited: position <= newest,
            run: 0,
        }
    }
}
