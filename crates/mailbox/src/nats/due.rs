//! What is to be deleted soon: letters that nobody wants, and mailboxes in which there may be some.

use std::{
    collections::{HashMap, HashSet},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use tokio::sync::Notify;

use super::index::Unwanted;

/// How long letters are remembered that may be deleted elsewhere, at least.
const KEPT: Duration = Duration::from_secs(10);

/// What is to be done soon.
#[derive(Debug, Default)]
pub(super) struct Due {
    list: Mutex<List>,
    bell: Notify,
}

#[derive(Debug)]
struct List {
    letters: Vec<(String, Unwanted)>,
    stash: Stash,
    /// Mailboxes to be looked at.
    looks: HashSet<String>,
}

impl Default for List {
    fn default() -> Self {
        Self { letters: Vec::new(), stash: Stash::new(Instant::now()), looks: HashSet::new() }
    }
}

impl Due {
    /// Forgets letters, but remembers them for a while, in case this relay's own acknowledgement has to delete them.
    pub(super) fn stash(&self, tunnel: &str, forget: impl FnOnce() -> Vec<Unwanted>) {
        let mut list = self.list();
        let unwanted = forget();
        list.stash.add(tunnel, unwanted, Instant::now());
    }

    /// Forgets letters, and deletes them soon, with those that were stashed. Like `stash`, it is one step under the lock: at
    /// any moment a letter is known, stashed or due, so that none is missed and stays in the stream.
    pub(super) fn give_up<G: IntoIterator<Item = Unwanted>>(&self, tunnel: &str, forget: impl FnOnce() -> G) {
        let mut list = self.list();
        let unwanted = forget();
        let stashed = list.stash.take(tunnel);
        let letters = stashed.into_iter().chain(unwanted).map(|letter| (tunnel.to_owned(), letter));
        list.letters.extend(letters);
        drop(list);
        self.ring();
    }

    /// Has a mailbox looked at soon.
    pub(super) fn look_at(&self, tunnel: &str) {
        self.list().looks.insert(tunnel.to_owned());
        self.ring();
    }

    /// Wakes whoever waits: something is due, or still is.
    pub(super) fn ring(&self) {
        self.bell.notify_one();
    }

    /// Waits until something is due.
    pub(super) async fn rung(&self) {
        self.bell.notified().await;
    }

    /// The mailboxes to be looked at.
    pub(super) fn take_looks(&self) -> HashSet<String> {
        std::mem::take(&mut self.list().looks)
    }

    /// The letters to be deleted.
    pub(super) fn take_letters(&self) -> Vec<(String, Unwanted)> {
        std::mem::take(&mut self.list().letters)
    }

    /// Letters that could not be deleted: they are due still.
    pub(super) fn put_back(&self, letters: Vec<(String, Unwanted)>) {
        self.list().letters.extend(letters);
    }

    fn list(&self) -> MutexGuard<'_, List> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Letters that were forgotten before this relay's own acknowledgement came to deleting them: the bucket told it of its
/// own change first. Those of other relays' acknowledgements are deleted there, and fall out of here after a while.
#[derive(Debug)]
struct Stash {
    young: HashMap<String, Vec<Unwanted>>,
    old: HashMap<String, Vec<Unwanted>>,
    turned: Instant,
}

impl Stash {
    fn new(now: Instant) -> Self {
        Self { young: HashMap::new(), old: HashMap::new(), turned: now }
    }

    /// Remembers letters of a tunnel for a while.
    fn add(&mut self, tunnel: &str, unwanted: Vec<Unwanted>, now: Instant) {
        if now.duration_since(self.turned) > KEPT {
            self.old = std::mem::take(&mut self.young);
            self.turned = now;
        }
        if !unwanted.is_empty() {
            self.young.entry(tunnel.to_owned()).or_default().extend(unwanted);
        }
    }

    /// The letters of a tunnel that were forgotten just now.
    fn take(&mut self, tunnel: &str) -> Vec<Unwanted> {
        let mut unwanted = self.old.remove(tunnel).unwrap_or_default();
        unwanted.extend(self.young.remove(tunnel).unwrap_or_default());
        unwanted
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, thread};

    use super::*;

    /// How long an acknowledgement has to come in between.
    const MEANWHILE: Duration = Duration::from_millis(200);

    #[test]
    fn a_letter_that_is_being_stashed_is_deleted_by_the_acknowledgement_of_just_then() {
        let due = Due::default();
        let (done, is_done) = mpsc::channel();
        thread::scope(|scope| {
            due.stash("acme", || {
                scope.spawn(|| {
                    due.give_up("acme", Vec::new); // the letter is forgotten already
                    done.send(()).unwrap();
                });
                let _none = is_done.recv_timeout(MEANWHILE);
                vec![(7, true)]
            });
        });
        assert_eq!(due.list().letters, [("acme".to_owned(), (7, true))]);
    }

    #[test]
    fn what_another_relay_deletes_is_not_remembered_for_ever() {
        let start = Instant::now();
        let mut stash = Stash::new(start);
        stash.add("acme", vec![(1, false)], start);
        stash.add("acme", vec![(2, true)], start + KEPT * 2);
        assert_eq!(stash.take("acme"), [(1, false), (2, true)]);
        stash.add("acme", vec![(3, false)], start + KEPT * 4);
        stash.add("other", Vec::new(), start + KEPT * 6);
        stash.add("other", Vec::new(), start + KEPT * 8);
        assert_eq!(stash.take("acme"), []);
    }
}
