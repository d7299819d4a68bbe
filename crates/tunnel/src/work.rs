//! Handles one letter that has arrived completely: opens it, reads it, and hands it over.

use std::{future::Future, pin::Pin, sync::Arc, task::Poll};

use futures_util::poll;
use hookmitt_seal::Opener;
use hookmitt_wire::{Letter, PIECE};
use tokio::{sync::oneshot, task::spawn_blocking};

use crate::{Answering, Later, Letterhead, Recipient, Unreadable, intake::Whole};

/// The work on one letter.
pub(crate) type Working = Pin<Box<dyn Future<Output = Done> + Send>>;

/// The outcome of that work.
pub(crate) struct Done {
    pub(crate) whole: Whole,
    pub(crate) head: Letterhead,
    pub(crate) outcome: Outcome,
}

pub(crate) enum Outcome {
    /// The letter is stored. The reply to its sender, if that is held, may come later.
    Stored(Option<([u8; 16], Answering)>),
    /// The letter could not be stored now.
    Later,
    /// The letter can't be read.
    Unreadable(Unreadable),
}

/// A letter's turn to be handed over. Letters are handed over one after the other.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    /// Closes when the previous letter has been handed over, or never will be.
    before: Option<oneshot::Receiver<()>>,
    /// Dropped when this letter has been handed over.
    own: Option<oneshot::Sender<()>>,
}

impl Turn {
    /// Returns the turn of the next letter, and remains the last turn itself.
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

/// Opens a letter and hands it over when it is its turn.
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
                drop(turn.own.take()); // handed over, so the next letter may be
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

/// Opens a letter. Returns `None` if the work was interrupted, which says nothing about the letter.
async fn read(opener: Arc<Opener>, whole: &Whole) -> Option<Result<Letter, Unreadable>> {
    if whole.parcel.data.len() <= PIECE {
        return Some(open(&opener, whole));
    }
    // Decrypting up to 25 MiB would delay heartbeats and other letters.
    let whole = whole.clone();
    spawn_blocking(move || open(&opener, &whole)).await.ok()
}

fn open(opener: &Opener, whole: &Whole) -> Result<Letter, Unreadable> {
    let parcel = &whole.parcel;
    let plain = opener.open(&parcel.epoch, parcel.number, &parcel.data).map_err(|_| Unreadable::Foreign)?;
    Ok(Letter::from_bytes(&plain)?)
}
