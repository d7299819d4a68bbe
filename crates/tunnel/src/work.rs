//! What is done with a letter that is all here: opened, read, handed over.

use std::{future::Future, pin::Pin, sync::Arc, task::Poll};

use futures_util::poll;
use hookmitt_seal::Opener;
use hookmitt_wire::{Letter, PIECE};
use tokio::{sync::oneshot, task::spawn_blocking};

use crate::{Answering, Later, Letterhead, Recipient, Unreadable, intake::Whole};

/// A letter under way.
pub(crate) type Working = Pin<Box<dyn Future<Output = Done> + Send>>;

/// What came of a letter.
pub(crate) struct Done {
    pub(crate) whole: Whole,
    pub(crate) head: Letterhead,
    pub(crate) outcome: Outcome,
}

pub(crate) enum Outcome {
    /// It is stored; the reply to the event's sender, who is held, may take a while.
    Stored(Option<([u8; 16], Answering)>),
    /// It could not be stored now.
    Later,
    /// It can't be read.
    Unreadable(Unreadable),
}

/// A letter's place among those that are handed over one after the other.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    /// Closed once the one before it has been handed over, or never will be.
    before: Option<oneshot::Receiver<()>>,
    /// Dropped once this one has.
    own: Option<oneshot::Sender<()>>,
}

impl Turn {
    /// The turn of the next letter. This one stays the last.
    pub(crate) fn next(&mut self) -> Self {
        let (own, after) = oneshot::channel();
        Self { before: self.before.replace(after), own: Some(own) }
    }

    async fn comes(&mut self) {
        if let Some(before) = self.before.take() {
            let _closed = before.await;
        }
    }
}

/// Opens a letter and hands it over in its turn.
pub(crate) fn work<R: Recipient>(
    opener: Arc<Opener>,
    recipient: Arc<R>,
    whole: Whole,
    mut head: Letterhead,
    mut turn: Turn,
) -> Working {
    Box::pin(async move {
        let read = read(opener, &whole).await;
        turn.comes().await;
        let outcome = match read {
            None => Outcome::Later,
            Some(Ok(letter)) => {
                let event = letter.id;
                head = head.attested(letter.received);
                let mut handing = Box::pin(recipient.letter(head.clone(), letter));
                let first = poll!(&mut handing);
                drop(turn.own.take()); // handed over: the next one may be, too
                let taken = match first {
                    Poll::Ready(taken) => taken,
                    Poll::Pending => handing.await,
                };
                match taken {
                    Ok(reply) => Outcome::Stored(reply.filter(|_| head.held).map(|reply| (event, reply))),
                    Err(Later) => Outcome::Later,
                }
            }
            Some(Err(why)) => Outcome::Unreadable(why),
        };
        Done { whole, head, outcome }
    })
}

/// What it says; none where the work was cut off, which is not the letter's fault.
async fn read(opener: Arc<Opener>, whole: &Whole) -> Option<Result<Letter, Unreadable>> {
    if whole.parcel.data.len() <= PIECE {
        return Some(open(&opener, whole));
    }
    // Deciphering some 25 MiB would hold up heartbeats and the other letters.
    let whole = whole.clone();
    spawn_blocking(move || open(&opener, &whole)).await.ok()
}

fn open(opener: &Opener, whole: &Whole) -> Result<Letter, Unreadable> {
    let parcel = &whole.parcel;
    let plain = opener.open(&parcel.epoch, parcel.number, &parcel.data).map_err(|_| Unreadable::Foreign)?;
    Ok(Letter::from_bytes(&plain)?)
}
