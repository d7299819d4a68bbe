//! Sends frames to a device: replies first, then letters, with large letters one piece at a time.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use axum::extract::ws::{Message, WebSocket};
use bytes::Bytes;
use futures_util::{SinkExt as _, stream::SplitSink};
use hookmitt_mailbox::{Delivered, Mailbox};
use hookmitt_wire::{PIECE, RelayFrame, encode};
use tokio::sync::mpsc::{self, error::TryRecvError};

use crate::{
    outgoing::Share,
    session::{End, Session},
    session_feed::Batch,
};

/// A device that accepts nothing for this long is gone.
const STUCK: Duration = Duration::from_secs(30);

/// How many bytes of large letters are held while their pieces are sent.
const MOST_LARGE: usize = 32 * 1024 * 1024;

/// The letters that are being sent.
#[derive(Default)]
struct Load {
    letters: VecDeque<Delivered>,
    /// The memory share of `letters`. It is released when the last of them, and the last piece of the large ones among
    /// them, is taken out to be sent.
    share: Option<Arc<Share>>,
    large: VecDeque<Rest>,
    large_bytes: usize,
    /// Whether the current turn prefers a piece of a large letter to the next letter; toggled with each frame.
    piece_next: bool,
}

/// The rest of a large letter.
struct Rest {
    position: u64,
    data: Bytes,
    _share: Option<Arc<Share>>,
}

/// Sends frames until the device accepts no more.
pub(crate) async fn write<M: Mailbox>(
    session: &Session<'_, M>,
    sink: &mut SplitSink<WebSocket, Message>,
    mut batches: mpsc::Receiver<Batch>,
) -> End {
    let mut load = Load::default();
    loop {
        if load.wants_more() {
            match batches.try_recv() {
                Ok(batch) => load.take(batch),
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => return End::Gone,
            }
        }
        let frame = session.next_reply().or_else(|| load.next_frame());
        let sent = async {
            match &frame {
                Some(frame) => sink.feed(Message::Binary(encode(frame))).await,
                None => sink.flush().await,
            }
        };
        if !matches!(tokio::time::timeout(STUCK, sent).await, Ok(Ok(()))) {
            return End::Gone;
        }
        if frame.is_none() {
            tokio::select! {
                () = session.to_send.notified() => {}
                batch = batches.recv() => match batch {
                    Some(batch) => load.take(batch),
                    None => return End::Gone,
                },
            }
        }
    }
}

impl Load {
    /// Takes a batch in. Called only when there are no letters left.
    fn take(&mut self, Batch { letters, share }: Batch) {
        self.letters.extend(letters);
        self.share = Some(Arc::new(share));
    }

    fn wants_more(&self) -> bool {
        self.letters.is_empty() && self.large_bytes < MOST_LARGE
    }

    fn next_frame(&mut self) -> Option<RelayFrame> {
        self.piece_next = !self.piece_next;
        if self.piece_next {
            self.piece().or_else(|| self.letter())
        } else {
            self.letter().or_else(|| self.piece())
        }
    }

    fn letter(&mut self) -> Option<RelayFrame> {
        let Delivered { position, mut parcel } = self.letters.pop_front()?;
        let share = if self.letters.is_empty() { self.share.take() } else { self.share.clone() };
        let size = u32::try_from(parcel.data.len()).unwrap_or(u32::MAX);
        if parcel.data.len() > PIECE {
            let data = parcel.data.split_off(PIECE);
            self.large_bytes += data.len();
            self.large.push_back(Rest { position, data, _share: share });
        }
        Some(RelayFrame::Parcel { position, parcel, size })
    }

    fn piece(&mut self) -> Option<RelayFrame> {
        let mut rest = self.large.pop_front()?;
        let (position, piece) = (rest.position, rest.data.split_to(PIECE.min(rest.data.len())));
        self.large_bytes -= piece.len();
        if !rest.data.is_empty() {
            self.large.push_back(rest);
        }
        Some(RelayFrame::Piece { position, data: piece })
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use hookmitt_wire::Parcel;

    use super::*;
    use crate::outgoing::Outgoing;

    fn letter(position: u64, size: usize) -> Delivered {
        let data = Bytes::from(vec![u8::try_from(position).unwrap(); size]);
        let parcel = Parcel { epoch: [0; 32], number: 0, received_at: 0, held: false, data };
        Delivered { position, parcel }
    }

    #[test]
    fn small_letters_pass_a_large_one_between_its_pieces() {
        let mut load = Load::default();
        let all = Outgoing::default();
        let letters = vec![letter(1, 3 * PIECE + 1), letter(2, 10), letter(3, 10), letter(4, 10)];
        let share = all.allowance().letter(4 * PIECE).now_or_never().unwrap();
        load.take(Batch { letters, share });
        let mut held = Vec::new();
        let order: Vec<_> = std::iter::from_fn(|| load.next_frame())
            .inspect(|_| held.push(all.held() > 0))
            .map(|frame| match frame {
                RelayFrame::Parcel { position, parcel, .. } => (position, parcel.data.len()),
                RelayFrame::Piece { position, data } => (position, data.len()),
                other => panic!("{other:?}"),
            })
            .collect();
        let whole: usize = order.iter().filter(|(position, _)| *position == 1).map(|(_, size)| size).sum();
        assert_eq!(whole, 3 * PIECE + 1);
        assert_eq!(order[..3], [(1, PIECE), (2, 10), (1, PIECE)]);
        assert_eq!(load.large_bytes, 0);
        let (last, before) = held.split_last().unwrap();
        assert!(!last && before.iter().all(|held| *held), "the memory is given back with the last piece");
        assert!(load.wants_more());
    }
}
