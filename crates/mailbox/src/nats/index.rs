//! What is in the mailboxes of one shard, as far as this relay has seen: positions and sizes, never the letters.
//!
//! The index answers quotas, depths and feeds from memory. So a device needs no consumer, and an idle mailbox causes no
//! requests to the servers.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::watch;

use crate::{MailboxError, Quota};

/// A letter that nobody wants: its position, and whether it is in parts.
pub(super) type Unwanted = (u64, bool);

/// What the index knows about a letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) bytes: u64,
    pub(super) received_at: i64,
    /// When it was put, in store time.
    pub(super) put_at: i64,
    /// The letter's id, if it is in parts.
    pub(super) in_parts: Option<Arc<str>>,
}

/// How much waits in a mailbox.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Backlog {
    pub(super) letters: u64,
    pub(super) bytes: u64,
    pub(super) oldest: Option<i64>,
}

#[derive(Debug, Default)]
struct MailBox {
    letters: BTreeMap<u64, Entry>,
    bytes: u64,
    newest: u64,
    /// Letters up to this position are wanted by nobody.
    floor: u64,
    /// The letters that are being put: their number and their bytes.
    coming: (u64, u64),
    /// Its value is the position up to which letters may be handed out.
    bell: Option<watch::Sender<u64>>,
}

#[derive(Debug, Default)]
struct Mailboxes {
    boxes: HashMap<String, MailBox>,
    /// Every letter up to this position is known. Later letters are not handed out yet, because another relay's letter
    /// may still appear before them.
    frontier: u64,
    /// Whether everything that was there when this relay started is known.
    is_loaded: bool,
    /// Until it is loaded: letters that were seen in the stream although nobody wants them.
    litter: HashMap<String, Vec<Unwanted>>,
}

/// The mailboxes of one shard.
#[derive(Debug, Default)]
pub(super) struct Index(Mutex<Mailboxes>);

impl Index {
    /// Reserves room within the quota for a letter that is about to be put.
    pub(super) fn reserve(&self, tunnel: &str, bytes: u64, quota: &Quota) -> Result<(), MailboxError> {
        let mut all = self.mailboxes();
        let mailbox = all.boxes.entry(tunnel.to_owned()).or_default();
        if mailbox.letters.len() as u64 + mailbox.coming.0 >= quota.letters {
            return Err(MailboxError::QuotaFull("it already holds as many events as it may"));
        }
        if mailbox.bytes + mailbox.coming.1 + bytes > quota.bytes {
            return Err(MailboxError::QuotaFull("it already holds as many bytes as it may"));
        }
        mailbox.coming.0 += 1;
        mailbox.coming.1 += bytes;
        Ok(())
    }

    /// Releases the reserved room, whether the letter was put or not.
    pub(super) fn release(&self, tunnel: &str, bytes: u64) {
        if let Some(mailbox) = self.mailboxes().boxes.get_mut(tunnel) {
            mailbox.coming.0 = mailbox.coming.0.saturating_sub(1);
            mailbox.coming.1 = mailbox.coming.1.saturating_sub(bytes);
        }
    }

    /// Adds a letter that this relay has put. It is handed out once all letters before it are known.
    pub(super) fn put(&self, tunnel: &str, position: u64, entry: Entry) {
        self.mailboxes().insert(tunnel, position, entry);
    }

    /// Adds a letter that was seen in the stream. No earlier letter can appear after it.
    pub(super) fn seen(&self, tunnel: &str, position: u64, entry: Entry) {
        let mut all = self.mailboxes();
        all.frontier = all.frontier.max(position);
        all.insert(tunnel, position, entry);
        if let Some(bell) = all.boxes.get(tunnel).and_then(|mailbox| mailbox.bell.as_ref()) {
            bell.send_replace(position);
        }
    }

    /// Returns a receiver that learns up to which position there are letters.
    pub(super) fn listen(&self, tunnel: &str) -> watch::Receiver<u64> {
        let mut all = self.mailboxes();
        let mailbox = all.boxes.entry(tunnel.to_owned()).or_default();
        mailbox.bell.get_or_insert_with(|| watch::channel(0).0).subscribe()
    }

    /// Wakes the feeds of a tunnel, so that they notice that the tunnel is gone.
    pub(super) fn ring(&self, tunnel: &str) {
        if let Some(bell) = self.mailboxes().boxes.get(tunnel).and_then(|mailbox| mailbox.bell.as_ref()) {
            bell.send_modify(|_| ());
        }
    }

    /// Returns the letters after a position that can be handed out: at most `most`, and about `bytes` bytes.
    pub(super) fn after(&self, tunnel: &str, after: u64, most: usize, bytes: u64) -> Vec<(u64, Entry)> {
        let all = self.mailboxes();
        let Some(mailbox) = all.boxes.get(tunnel).filter(|_| all.frontier > after) else {
            return Vec::new();
        };
        let mut found: Vec<(u64, Entry)> = Vec::new();
        let mut size = 0;
        for (&position, entry) in mailbox.letters.range(after + 1..=all.frontier).take(most.max(1)) {
            size += entry.bytes;
            if size > bytes && !found.is_empty() {
                break;
            }
            found.push((position, entry.clone()));
        }
        found
    }

    /// Returns what waits for a device that has everything up to `cursor`, and the newest position.
    pub(super) fn backlog(&self, tunnel: &str, cursor: u64) -> (Backlog, u64) {
        let all = self.mailboxes();
        let Some(mailbox) = all.boxes.get(tunnel) else { return (Backlog::default(), 0) };
        (mailbox.backlog(cursor), mailbox.newest)
    }

    /// Forgets the letters up to a position, because nobody wants them, and returns them.
    pub(super) fn trim(&self, tunnel: &str, through: u64) -> Vec<Unwanted> {
        let mut all = self.mailboxes();
        let mailbox = all.boxes.entry(tunnel.to_owned()).or_default();
        mailbox.floor = mailbox.floor.max(through);
        if through < u64::MAX {
            mailbox.newest = mailbox.newest.max(through);
        }
        let mut unwanted = Vec::new();
        while let Some(first) = mailbox.letters.first_entry().filter(|first| *first.key() <= through) {
            let (position, entry) = first.remove_entry();
            mailbox.bytes -= entry.bytes;
            unwanted.push((position, entry.in_parts.is_some()));
        }
        unwanted
    }

    /// Forgets one letter that is gone.
    pub(super) fn remove(&self, tunnel: &str, position: u64) {
        let mut all = self.mailboxes();
        let Some(mailbox) = all.boxes.get_mut(tunnel) else { return };
        if let Some(entry) = mailbox.letters.remove(&position) {
            mailbox.bytes -= entry.bytes;
        }
    }

    /// Returns whether the index has this letter in parts.
    pub(super) fn has_in_parts(&self, tunnel: &str, letter: &str) -> bool {
        let all = self.mailboxes();
        let Some(mailbox) = all.boxes.get(tunnel) else { return false };
        mailbox.letters.values().any(|entry| entry.in_parts.as_deref() == Some(letter))
    }

    /// Returns the position up to which every letter is known.
    pub(super) fn frontier(&self) -> u64 {
        self.mailboxes().frontier
    }

    /// Returns all letters that were put before `before`, in store time.
    pub(super) fn older(&self, before: i64) -> Vec<(String, u64, Entry)> {
        let all = self.mailboxes();
        let mut found = Vec::new();
        for (tunnel, mailbox) in &all.boxes {
            // Relays' clocks differ a little, so the times are only roughly in order. The first young letter ends the
            // search.
            let old = mailbox.letters.iter().take_while(|(_, entry)| entry.put_at < before);
            found.extend(old.map(|(&position, entry)| (tunnel.clone(), position, entry.clone())));
        }
        found
    }

    /// Marks the existing contents as known. Returns the letters that nobody wants but that are still there, because a
    /// relay ended between an acknowledgement and the deletion.
    pub(super) fn loaded(&self) -> HashMap<String, Vec<Unwanted>> {
        let mut all = self.mailboxes();
        all.is_loaded = true;
        std::mem::take(&mut all.litter)
    }

    /// Returns what all mailboxes hold together.
    pub(super) fn total(&self) -> Backlog {
        let all = self.mailboxes();
        let mut total = Backlog::default();
        for mailbox in all.boxes.values() {
            let backlog = mailbox.backlog(0);
            total.letters += backlog.letters;
            total.bytes += backlog.bytes;
            total.oldest = [total.oldest, backlog.oldest].into_iter().flatten().min();
        }
        total
    }

    fn mailboxes(&self) -> MutexGuard<'_, Mailboxes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Mailboxes {
    fn insert(&mut self, tunnel: &str, position: u64, entry: Entry) {
        // Checked first, so that the name is copied into a key only once.
        if !self.boxes.contains_key(tunnel) {
            self.boxes.insert(tunnel.to_owned(), MailBox::default());
        }
        let Some(mailbox) = self.boxes.get_mut(tunnel) else { return };
        mailbox.newest = mailbox.newest.max(position);
        if position <= mailbox.floor {
            if !self.is_loaded {
                let unwanted = (position, entry.in_parts.is_some());
                self.litter.entry(tunnel.to_owned()).or_default().push(unwanted);
            }
            return;
        }
        // A position may be seen twice, and after a failure of the servers even with another letter.
        mailbox.bytes += entry.bytes;
        if let Some(before) = mailbox.letters.insert(position, entry) {
            mailbox.bytes -= before.bytes;
        }
    }
}

impl MailBox {
    fn backlog(&self, cursor: u64) -> Backlog {
        let oldest = |entry: &Entry| entry.received_at;
        if self.letters.first_key_value().is_none_or(|(&first, _)| first > cursor) {
            let letters = self.letters.len() as u64;
            let first = self.letters.first_key_value();
            return Backlog { letters, bytes: self.bytes, oldest: first.map(|(_, entry)| oldest(entry)) };
        }
        let mut backlog = Backlog::default();
        for entry in self.letters.range(cursor.saturating_add(1)..).map(|(_, entry)| entry) {
            backlog.letters += 1;
            backlog.bytes += entry.bytes;
            backlog.oldest = backlog.oldest.or(Some(oldest(entry)));
        }
        backlog
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_bytes(bytes: u64) -> Entry {
        Entry { bytes, received_at: 1, put_at: 1, in_parts: None }
    }

    #[test]
    fn what_a_position_holds_is_counted_once_whatever_it_held_before() {
        let index = Index::default();
        index.put("t", 1, of_bytes(10));
        index.seen("t", 1, of_bytes(10));
        assert_eq!(index.total(), Backlog { letters: 1, bytes: 10, oldest: Some(1) });
        index.seen("t", 1, of_bytes(600));
        assert_eq!(index.total().bytes, 600);
        index.put("t", 2, of_bytes(5));
        assert_eq!(index.trim("t", 1), [(1, false)]);
        assert_eq!(index.total(), Backlog { letters: 1, bytes: 5, oldest: Some(1) });
    }
}
