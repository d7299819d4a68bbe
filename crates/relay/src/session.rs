//! What is known of a connected device while it is here, and what the store is told of it.

use std::{
    collections::VecDeque,
    sync::{Mutex, MutexGuard, PoisonError, atomic::AtomicBool},
    time::Duration,
};

use futures_util::StreamExt as _;
use hookmitt_mailbox::{Delivered, DeviceKey, Mailbox, MailboxError, Reply, short};
use hookmitt_wire::{NO_ANSWER, RelayFrame};
use tokio::sync::{Notify, mpsc};

use crate::{
    hello::Guest,
    outgoing::Allowance,
    refused::{Refused, asked},
    relay::Relay,
    secret::held_key,
    window::Window,
};

/// The most letters and bytes of them that are on the way to a device, whatever it asks for.
const MOST: (usize, usize) = (4_096, 32 * 1024 * 1024);

/// So many answers may wait to be sent; a device that asks on without reading floods.
const MOST_REPLIES: usize = 64;

/// An app's answer to a sender that is held: the event, and what to say.
pub(crate) type Answer = ([u8; 16], Reply);

/// So many answers to senders are passed on at once.
const ANSWERS_AT_ONCE: usize = 32;

/// How often the store is told that a device is there.
const SEEN: Duration = Duration::from_secs(60);

/// Why a conversation ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The device went away, or says nothing any more.
    Gone,
    /// It is told why.
    Refused(Refused),
}

impl From<Refused> for End {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

/// What both directions share.
pub(crate) struct Session<'r, M> {
    pub(crate) relay: &'r Relay<M>,
    pub(crate) tunnel: &'r str,
    pub(crate) device: DeviceKey,
    desk: Mutex<Desk>,
    /// The memory for letters on their way to it.
    pub(crate) allowance: Allowance,
    /// Something is to be sent, or there is room again.
    pub(crate) to_send: Notify,
    pub(crate) room: Notify,
    acked: Notify,
    /// The newest words that the device knows.
    pub(crate) words: u8,
    /// The device has left for good: whatever fails from now on is of no interest to it.
    pub(crate) left: AtomicBool,
}

struct Desk {
    window: Window,
    /// The sealing key that the device was told of last.
    told_key: [u8; 32],
    replies: VecDeque<RelayFrame>,
}

impl<'r, M: Mailbox> Session<'r, M> {
    pub(crate) fn new(relay: &'r Relay<M>, guest: &'r Guest) -> Self {
        let (most, bytes) = (guest.window.min(MOST.0), guest.window_bytes.min(MOST.1));
        let window = Window::new(guest.device.cursor, most, bytes);
        Self {
            relay,
            tunnel: &guest.tunnel.name,
            device: guest.device.key,
            desk: Mutex::new(Desk { window, told_key: guest.tunnel.sealing_key, replies: VecDeque::new() }),
            allowance: relay.outgoing.allowance(),
            to_send: Notify::new(),
            room: Notify::new(),
            acked: Notify::new(),
            words: guest.words,
            left: AtomicBool::new(false),
        }
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has something sent before any further letter.
    pub(crate) fn reply(&self, frame: RelayFrame) -> Result<(), Refused> {
        let mut desk = self.desk();
        if desk.replies.len() >= MOST_REPLIES {
            return Err(Refused::new("flood", "more was asked than answers were read"));
        }
        desk.replies.push_back(frame);
        drop(desk);
        self.to_send.notify_one();
        Ok(())
    }

    pub(crate) fn next_reply(&self) -> Option<RelayFrame> {
        self.desk().replies.pop_front()
    }

    /// Letters are committed on the device.
    pub(crate) fn ack(&self, through: u64, also: &[u64]) -> Result<(), Refused> {
        let mut desk = self.desk();
        let before = desk.window.acked();
        let count = desk
            .window
            .ack(through, also)
            .map_err(|_| Refused::new("bad-frame", "letters were acknowledged that were not sent"))?;
        let moved = desk.window.acked() > before;
        drop(desk);
        self.relay.metrics.delivered(count);
        self.room.notify_one();
        if moved {
            self.acked.notify_one();
        }
        Ok(())
    }

    /// Tells the store what the device has, never more than once at a time.
    pub(crate) async fn keep_cursor(&self) -> End {
        let mut kept = 0;
        loop {
            self.acked.notified().await;
            kept = self.store_cursor(kept).await;
        }
    }

    /// Tells the store what the device has, where that is more than is kept. Answers what is kept now.
    pub(crate) async fn store_cursor(&self, kept: u64) -> u64 {
        let through = self.desk().window.acked();
        if through <= kept {
            return kept;
        }
        match self.relay.mailbox.ack(self.tunnel, &self.device, through).await {
            // A device that left has no cursor any more.
            Ok(()) | Err(MailboxError::Unknown { .. }) => through,
            Err(error) => {
                // The next acknowledgement says it again; a letter that comes twice does no harm.
                tracing::warn!(tunnel = short(self.tunnel), error = error.logged(), "a cursor was not moved");
                kept
            }
        }
    }

    /// Tells the device of the sealing key where it was turned over, and ends where the device takes part no more.
    pub(crate) async fn keep_told(&self, asked_for: bool) -> Result<(), Refused> {
        let tunnel = asked(self.relay.mailbox.tunnel(self.tunnel)).await?;
        let tunnel = tunnel.filter(|tunnel| !tunnel.revoked && tunnel.devices.contains(&self.device));
        let sealing_key = tunnel.ok_or_else(Refused::unknown)?.sealing_key;
        if self.words < 2 || (self.desk().told_key == sealing_key && !asked_for) {
            return Ok(());
        }
        self.tell_key(sealing_key).await
    }

    /// Tells the device which the sealing key is, with what its owner has it told of that.
    pub(crate) async fn tell_key(&self, sealing_key: [u8; 32]) -> Result<(), Refused> {
        let devices = asked(self.relay.mailbox.devices(self.tunnel)).await?;
        let note = devices.into_iter().find(|device| device.key == self.device);
        let note = note.ok_or_else(Refused::unknown)?.note;
        self.desk().told_key = sealing_key;
        self.reply(RelayFrame::SealingKey { sealing_key, note })
    }

    /// How many more letters and bytes may go on their way; none where the window is full.
    pub(crate) fn window_room(&self) -> Option<(usize, usize)> {
        self.desk().window.room()
    }

    /// Letters go on their way.
    pub(crate) fn go_out(&self, letters: &[Delivered]) {
        let mut desk = self.desk();
        for letter in letters {
            desk.window.send(letter.position, letter.parcel.data.len());
        }
    }

    /// Passes on the app's answers. Nobody may wait for them any more, and to find that out takes a while: heartbeats and
    /// acknowledgements don't wait behind them.
    pub(crate) async fn pass_on(&self, mut answers: mpsc::Receiver<Answer>) {
        let answers = futures_util::stream::poll_fn(|context| answers.poll_recv(context));
        let passed = answers.for_each_concurrent(ANSWERS_AT_ONCE, async |(event, reply)| {
            if reply.status == NO_ANSWER && self.others_may_answer().await {
                return;
            }
            if let Err(error) = self.relay.mailbox.answer(held_key(self.tunnel, &event), reply).await {
                tracing::warn!(tunnel = short(self.tunnel), %error, "an answer was not passed on");
            }
        });
        passed.await;
    }

    /// Whether another device of the tunnel may be connected, here or at a relay beside this one, and know what to say.
    async fn others_may_answer(&self) -> bool {
        let mailbox = &self.relay.mailbox;
        self.relay.sessions.count_of(self.tunnel) > 1
            || mailbox.is_attended_elsewhere(self.tunnel).await
                && mailbox.devices(self.tunnel).await.is_ok_and(|devices| devices.len() > 1)
    }

    /// Tells the store again and again that the device is there.
    pub(crate) async fn keep_seen(&self) -> End {
        loop {
            if let Err(refused) = asked(self.relay.mailbox.seen(self.tunnel, &self.device)).await {
                return refused.into();
            }
            tokio::time::sleep(SEEN).await;
        }
    }
}
