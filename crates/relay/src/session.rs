//! The state of a connected device, and what the store is told about it.

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

/// How many letters, and bytes of letters, may be on the way to a device, whatever it asks for.
const MOST: (usize, usize) = (4_096, 32 * 1024 * 1024);

/// How many replies may wait to be sent. A device that asks for more without reading is disconnected.
const MOST_REPLIES: usize = 64;

/// An app's answer to a held sender: the event's id and the answer.
pub(crate) type Answer = ([u8; 16], Reply);

/// How many answers to senders are passed on at once.
const ANSWERS_AT_ONCE: usize = 32;

/// How often the store is told that a device is connected.
const SEEN: Duration = Duration::from_secs(60);

/// Why a session ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The device disconnected, or is silent.
    Gone,
    /// The relay ended it, and tells the device why.
    Refused(Refused),
}

impl From<Refused> for End {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

/// The state that reading and writing share.
pub(crate) struct Session<'r, M> {
    pub(crate) relay: &'r Relay<M>,
    pub(crate) tunnel: &'r str,
    pub(crate) device: DeviceKey,
    desk: Mutex<Desk>,
    /// The memory for letters that are sent to the device.
    pub(crate) allowance: Allowance,
    /// Wakes the writer when a reply has been queued. Letters reach the writer through a channel of their own.
    pub(crate) to_send: Notify,
    pub(crate) room: Notify,
    acked: Notify,
    /// The newest vocabulary that the device knows.
    pub(crate) words: u8,
    /// The device has left the tunnel for good. It is not told about failures any more.
    pub(crate) left: AtomicBool,
}

struct Desk {
    window: Window,
    /// The sealing key that the device was last told.
    told_key: [u8; 32],
    /// The version of the list of unknown sources that the device was last told.
    told_unserved: u64,
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
            desk: Mutex::new(Desk {
                window,
                told_key: guest.tunnel.sealing_key,
                told_unserved: 0,
                replies: VecDeque::new(),
            }),
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

    /// Queues a frame to be sent before any further letter.
    pub(crate) fn reply(&self, frame: RelayFrame) -> Result<(), Refused> {
        let mut desk = self.desk();
        if desk.replies.len() >= MOST_REPLIES {
            return Err(Refused::new("flood", "too many requests without reading the answers"));
        }
        desk.replies.push_back(frame);
        drop(desk);
        self.to_send.notify_one();
        Ok(())
    }

    pub(crate) fn next_reply(&self) -> Option<RelayFrame> {
        self.desk().replies.pop_front()
    }

    /// Takes in that letters are committed on the device.
    pub(crate) fn ack(&self, through: u64, also: &[u64]) -> Result<(), Refused> {
        let mut desk = self.desk();
        let before = desk.window.acked();
        let count = desk
            .window
            .ack(through, also)
            .map_err(|_| Refused::new("bad-frame", "events were acknowledged that were never sent"))?;
        let moved = desk.window.acked() > before;
        drop(desk);
        self.relay.metrics.delivered(count);
        self.room.notify_one();
        if moved {
            self.acked.notify_one();
        }
        Ok(())
    }

    /// Keeps the device's cursor in the store up to date, with one write at a time.
    pub(crate) async fn keep_cursor(&self) -> End {
        let mut kept = 0;
        loop {
            self.acked.notified().await;
            kept = self.store_cursor(kept).await;
        }
    }

    /// Writes the device's cursor to the store if it is beyond `kept`. Returns the stored position.
    pub(crate) async fn store_cursor(&self, kept: u64) -> u64 {
        let through = self.desk().window.acked();
        if through <= kept {
            return kept;
        }
        match self.relay.mailbox.ack(self.tunnel, &self.device, through).await {
            // A device that has left no longer has a cursor.
            Ok(()) | Err(MailboxError::Unknown { .. }) => through,
            Err(error) => {
                // The next acknowledgement writes it again; a letter that comes twice does no harm.
                tracing::warn!(
                    tunnel = short(self.tunnel),
                    error = error.logged(),
                    "a cursor could not be moved"
                );
                kept
            }
        }
    }

    /// Tells the device the sealing key if it was replaced or `asked_for`. Fails if the device no longer takes part.
    pub(crate) async fn keep_told(&self, asked_for: bool) -> Result<(), Refused> {
        let tunnel = asked(self.relay.mailbox.tunnel(self.tunnel)).await?;
        let tunnel = tunnel.filter(|tunnel| !tunnel.revoked && tunnel.devices.contains(&self.device));
        let sealing_key = tunnel.ok_or_else(Refused::unknown)?.sealing_key;
        if self.words < 2 || (self.desk().told_key == sealing_key && !asked_for) {
            return Ok(());
        }
        self.tell_key(sealing_key).await
    }

    /// Tells the device the sealing key, with the owner's note about it.
    pub(crate) async fn tell_key(&self, sealing_key: [u8; 32]) -> Result<(), Refused> {
        let devices = asked(self.relay.mailbox.devices(self.tunnel)).await?;
        let note = devices.into_iter().find(|device| device.key == self.device);
        let note = note.ok_or_else(Refused::unknown)?.note;
        self.desk().told_key = sealing_key;
        self.reply(RelayFrame::SealingKey { sealing_key, note })
    }

    /// Tells the device which unknown sources were called, if that has changed.
    pub(crate) fn tell_unserved(&self) -> Result<(), Refused> {
        if self.words < 3 {
            return Ok(());
        }
        let known = self.desk().told_unserved;
        match self.relay.unserved.since(self.tunnel, known) {
            None => Ok(()),
            Some((version, names)) => {
                self.desk().told_unserved = version;
                self.reply(RelayFrame::Unserved(names))
            }
        }
    }

    /// Returns how many more letters and bytes may be sent, or `None` if the window is full.
    pub(crate) fn window_room(&self) -> Option<(usize, usize)> {
        self.desk().window.room()
    }

    /// Records that letters are about to be sent.
    pub(crate) fn go_out(&self, letters: &[Delivered]) {
        let mut desk = self.desk();
        for letter in letters {
            desk.window.send(letter.position, letter.parcel.data.len());
        }
    }

    /// Passes on the app's answers to held senders. Finding out that nobody waits any more takes a while, so heartbeats
    /// and acknowledgements don't wait behind answers.
    pub(crate) async fn pass_on(&self, mut answers: mpsc::Receiver<Answer>) {
        let answers = futures_util::stream::poll_fn(|context| answers.poll_recv(context));
        let passed = answers.for_each_concurrent(ANSWERS_AT_ONCE, async |(event, reply)| {
            if reply.status == NO_ANSWER && self.others_may_answer().await {
                return;
            }
            if let Err(error) = self.relay.mailbox.answer(held_key(self.tunnel, &event), reply).await {
                tracing::warn!(tunnel = short(self.tunnel), %error, "an answer could not be passed on");
            }
        });
        passed.await;
    }

    /// Returns whether another device of the tunnel, here or at another relay of the same store, may be connected and
    /// have an answer.
    async fn others_may_answer(&self) -> bool {
        let mailbox = &self.relay.mailbox;
        self.relay.sessions.count_of(self.tunnel) > 1
            || mailbox.is_attended_elsewhere(self.tunnel).await
                && mailbox.devices(self.tunnel).await.is_ok_and(|devices| devices.len() > 1)
    }

    /// Tells the store at regular intervals that the device is connected.
    pub(crate) async fn keep_seen(&self) -> End {
        loop {
            if let Err(refused) = asked(self.relay.mailbox.seen(self.tunnel, &self.device)).await {
                return refused.into();
            }
            tokio::time::sleep(SEEN).await;
        }
    }
}
