//! What is in the mailboxes of one shard, as far as this relay has seen: positions and sizes, never the letters.
//!
//! It answers quotas, depths and feeds from memory, so that no consumer is needed for a device, and nothing is asked of
//! the servers for a mailbox in which nothing happens.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::watch;

use super::erase::Gone;
use crate::{MailboxError, Quota};

/// What is known of a letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) bytes: u64,
    pub(super) received_at: i64,
    /// When it was put, in store time.
    pub(super) put_at: i64,
    /// Its own name, where it is in parts.
    pub(super) in_parts: Option<Arc<str>>,
}

/// What waits in a mailbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Waiting {
    pub(super) letters: u64,
    pub(super) bytes: u64,
    pub(super) oldest: Option<i64>,
}

#[derive(Debug, Default)]
struct MailBox {
    letters: BTreeMap<u64, Known>,
    bytes: u64,
    newest: u64,
    /// Letters up to here are wanted by nobody.
    floor: u64,
    /// Letters that are being put, and their bytes.
    coming: (u64, u64),
    /// Says to which position letters may be handed out.
    bell: Option<watch::Sender<u64>>,
}

#[derive(Debug, Default)]
struct Shard {
    boxes: HashMap<String, MailBox>,
    /// Every letter up to here is known: only those are handed out, since another relay's may come in between.
    frontier: u64,
    /// What was there when this relay began is known.
    is_loaded: bool,
    /// Until then: letters that nobody wants were seen in the stream.
    litter: HashMap<String, Vec<Gone>>,
}

/// The mailboxes of one shard.
#[derive(Debug, Default)]
pub(super) struct Index(Mutex<Shard>);

impl Index {
    /// Makes room for a letter that is to be put.
    pub(super) fn reserve(&self, tunnel: &str, bytes: u64, quota: &Quota) -> Result<(), MailboxError> {
        let mut shard = self.shard();
        let mailbox = shard.boxes.entry(tunnel.to_owned()).or_default();
        if mailbox.letters.len() as u64 + mailbox.coming.0 >= quota.letters {
            return Err(MailboxError::QuotaFull("as many letters as it may keep wait for the app"));
        }
        if mailbox.bytes + mailbox.coming.1 + bytes > quota.bytes {
            return Err(MailboxError::QuotaFull("as many bytes as it may keep wait for the app"));
        }
        mailbox.coming.0 += 1;
        mailbox.coming.1 += bytes;
        Ok(())
    }

    /// Gives the room back, whatever came of it.
    pub(super) fn release(&self, tunnel: &str, bytes: u64) {
        if let Some(mailbox) = self.shard().boxes.get_mut(tunnel) {
            mailbox.coming.0 = mailbox.coming.0.saturating_sub(1);
            mailbox.coming.1 = mailbox.coming.1.saturating_sub(bytes);
        }
    }

    /// A letter that this relay has put; handed out once all before it are known.
    pub(super) fn put(&self, tunnel: &str, position: u64, known: Known) {
        self.shard().insert(tunnel, position, known);
    }

    /// A letter that was seen in the stream, in which nothing comes before it any more.
    pub(super) fn seen(&self, tunnel: &str, position: u64, known: Known) {
        let mut shard = self.shard();
        shard.frontier = shard.frontier.max(position);
        shard.insert(tunnel, position, known);
        if let Some(bell) = shard.boxes.get(tunnel).and_then(|mailbox| mailbox.bell.as_ref()) {
            bell.send_replace(position);
        }
    }

    /// Rings as soon as there are letters up to a position.
    pub(super) fn listen(&self, tunnel: &str) -> watch::Receiver<u64> {
        let mut shard = self.shard();
        let mailbox = shard.boxes.entry(tunnel.to_owned()).or_default();
        mailbox.bell.get_or_insert_with(|| watch::channel(0).0).subscribe()
    }

    /// Wakes those who listen, so that they see that the tunnel is gone.
    pub(super) fn ring(&self, tunnel: &str) {
        if let Some(bell) = self.shard().boxes.get(tunnel).and_then(|mailbox| mailbox.bell.as_ref()) {
            bell.send_modify(|_| ());
        }
    }

    /// The letters after a position that can be handed out: at most `most`, and about `bytes`.
    pub(super) fn after(&self, tunnel: &str, after: u64, most: usize, bytes: u64) -> Vec<(u64, Known)> {
        let shard = self.shard();
        let Some(mailbox) = shard.boxes.get(tunnel).filter(|_| shard.frontier > after) else {
            return Vec::new();
        };
        let mut found: Vec<(u64, Known)> = Vec::new();
        let mut size = 0;
        for (&position, known) in mailbox.letters.range(after + 1..=shard.frontier).take(most.max(1)) {
            size += known.bytes;
            if size > bytes && !found.is_empty() {
                break;
            }
            found.push((position, known.clone()));
        }
        found
    }

    /// What waits for a device that has everything up to `cursor`, and the newest position.
    pub(super) fn waiting(&self, tunnel: &str, cursor: u64) -> (Waiting, u64) {
        let shard = self.shard();
        let Some(mailbox) = shard.boxes.get(tunnel) else { return (Waiting::default(), 0) };
        (mailbox.waiting(cursor), mailbox.newest)
    }

    /// Letters up to here are wanted by nobody: forgets them, and answers which they were.
    pub(super) fn trim(&self, tunnel: &str, through: u64) -> Vec<Gone> {
        let mut shard = self.shard();
        let mailbox = shard.boxes.entry(tunnel.to_owned()).or_default();
        mailbox.floor = mailbox.floor.max(through);
        if through < u64::MAX {
            mailbox.newest = mailbox.newest.max(through);
        }
        let mut gone = Vec::new();
        while let Some(first) = mailbox.letters.first_entry().filter(|first| *first.key() <= through) {
            let (position, known) = first.remove_entry();
            mailbox.bytes -= known.bytes;
            gone.push((position, known.in_parts.is_some()));
        }
        gone
    }

    /// Forgets one letter, which is gone.
    pub(super) fn remove(&self, tunnel: &str, position: u64) {
        let mut shard = self.shard();
        let Some(mailbox) = shard.boxes.get_mut(tunnel) else { return };
        if let Some(known) = mailbox.letters.remove(&position) {
            mailbox.bytes -= known.bytes;
        }
    }

    /// Whether a letter in parts is there.
    pub(super) fn has_in_parts(&self, tunnel: &str, letter: &str) -> bool {
        let shard = self.shard();
        let Some(mailbox) = shard.boxes.get(tunnel) else { return false };
        mailbox.letters.values().any(|known| known.in_parts.as_deref() == Some(letter))
    }

    /// Every letter up to here is known.
    pub(super) fn frontier(&self) -> u64 {
        self.shard().frontier
    }

    /// All letters that were put before `before`, in store time.
    pub(super) fn older(&self, before: i64) -> Vec<(String, u64, Known)> {
        let shard = self.shard();
        let mut found = Vec::new();
        for (tunnel, mailbox) in &shard.boxes {
            // Relays' clocks differ a little, so that times are in order only about: the first young one ends the search.
            let old = mailbox.letters.iter().take_while(|(_, known)| known.put_at < before);
            found.extend(old.map(|(&position, known)| (tunnel.clone(), position, known.clone())));
        }
        found
    }

    /// What was there is known. Answers where a relay ended between an acknowledgement and the deleting.
    pub(super) fn loaded(&self) -> HashMap<String, Vec<Gone>> {
        let mut shard = self.shard();
        shard.is_loaded = true;
        std::mem::take(&mut shard.litter)
    }

    /// What all mailboxes hold.
    pub(super) fn total(&self) -> Waiting {
        let shard = self.shard();
        let mut total = Waiting::default();
        for mailbox in shard.boxes.values() {
            let waiting = mailbox.waiting(0);
            total.letters += waiting.letters;
            total.bytes += waiting.bytes;
            total.oldest = [total.oldest, waiting.oldest].into_iter().flatten().min();
        }
        total
    }

    fn shard(&self) -> MutexGuard<'_, Shard> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shard {
    fn insert(&mut self, tunnel: &str, position: u64, known: Known) {
        // Looked for first: a name is made into a key only once.
        if !self.boxes.contains_key(tunnel) {
            self.boxes.insert(tunnel.to_owned(), MailBox::default());
        }
        let Some(mailbox) = self.boxes.get_mut(tunnel) else { return };
        mailbox.newest = mailbox.newest.max(position);
        if position <= mailbox.floor {
            if !self.is_loaded {
                let gone = (position, known.in_parts.is_some());
                self.litter.entry(tunnel.to_owned()).or_default().push(gone);
            }
            return;
        }
        let bytes = known.bytes;
        if mailbox.letters.insert(position, known).is_none() {
            mailbox.bytes += bytes;
        }
    }
}

impl MailBox {
    fn waiting(&self, cursor: u64) -> Waiting {
        let oldest = |known: &Known| known.received_at;
        if self.letters.first_key_value().is_none_or(|(&first, _)| first > cursor) {
            let letters = self.letters.len() as u64;
            let first = self.letters.first_key_value();
            return Waiting { letters, bytes: self.bytes, oldest: first.map(|(_, known)| oldest(known)) };
        }
        let mut waiting = Waiting::default();
        for known in self.letters.range(cursor.saturating_add(1)..).map(|(_, known)| known) {
            waiting.letters += 1;
            waiting.bytes += known.bytes;
            waiting.oldest = waiting.oldest.or(Some(oldest(known)));
        }
        waiting
    }
}
