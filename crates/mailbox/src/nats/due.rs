//! What to delete soon: letters that nobody wants, and mailboxes that may have such letters.

use std::{
    collections::{HashMap, HashSet},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use tokio::sync::Notify;

use super::index::Unwanted;

/// For how long, at least, letters are remembered that another relay may delete.
const KEPT: Duration = Duration::from_secs(10);

/// What the deletion task has to do.
#[derive(Debug, Default)]
pub(super) struct Due {
    list: Mutex<List>,
    bell: Notify,
}

#[derive(Debug)]
struct List {
    letters: Vec<(String, Unwanted)>,
    stash: Stash,
    /// Mailboxes whose devices' cursors to compare again.
    looks: HashSet<String>,
}

impl Default for List {
    fn default() -> Self {
        Self { letters: Vec::new(), stash: Stash::new(Instant::now()), looks: HashSet::new() }
    }
}

impl Due {
    /// Runs `forget`, and keeps the letters that it returns for a while, in case this relay's own acknowledgement has
    /// to delete them.
    pub(super) fn stash(&self, tunnel: &str, forget: impl FnOnce() -> Vec<Unwanted>) {
        let mut list = self.list();
        let unwanted = forget();
        list.stash.add(tunnel, unwanted, Instant::now());
    }

    /// Forgets letters and marks them for deletion, together with the stashed ones. Like `stash`, this is one step
    /// under the lock. So a letter is at any moment known, stashed or due, and none is missed and left in the stream.
    pub(super) fn give_up<G: IntoIterator<Item = Unwanted>>(&self, tunnel: &str, forget: impl FnOnce() -> G) {
        let mut list = self.list();
        let unwanted = forget();
        let stashed = list.stash.take(tunnel);
        let letters = stashed.into_iter().chain(unwanted).map(|letter| (tunnel.to_owned(), letter));
        list.letters.extend(letters);
        drop(list);
        self.ring();
    }

    /// Marks a mailbox for a new comparison of its devices' cursors.
    pub(super) fn look_at(&self, tunnel: &str) {
        self.list().looks.insert(tunnel.to_owned());
        self.ring();
    }

    /// Wakes the deleting task, because something is due.
    pub(super) fn ring(&self) {
        self.bell.notify_one();
    }

    /// Waits until something is due.
    pub(super) async fn rung(&self) {
        self.bell.notified().await;
    }

    /// Takes the mailboxes to look at.
    pub(super) fn take_looks(&self) -> HashSet<String> {
        std::mem::take(&mut self.list().looks)
    }

    /// Takes the letters to delete.
    pub(super) fn take_letters(&self) -> Vec<(String, Unwanted)> {
        std::mem::take(&mut self.list().letters)
    }

    /// Puts back letters that could not be deleted, so that they stay due.
    pub(super) fn put_back(&self, letters: Vec<(String, Unwanted)>) {
        self.list().letters.extend(letters);
    }

    fn list(&self) -> MutexGuard<'_, List> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Letters that were forgotten before this relay's own acknowledgement came to deleting them, because the bucket
/// reported the relay's own change first. Letters that other relays acknowledged are deleted there and drop out of here
/// after a while.
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

    /// Takes the remembered letters of a tunnel.
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

    /// How long the acknowledgement in this test has to come in between.
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
