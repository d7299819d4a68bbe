//! Tracks which letters have arrived and which are stored, and whether the relay still has to be told about any of
//! them.

use std::collections::{BTreeMap, BTreeSet};

use hookmitt_wire::AppFrame;

/// The letters of one connection, by position.
#[derive(Debug)]
pub(crate) struct Acks {
    /// The size of the window, in bytes.
    window: u64,
    /// Letters that are not stored yet, with the bytes that each takes of the window.
    open: BTreeMap<u64, u64>,
    /// The sum of those bytes.
    bytes: u64,
    /// A letter that is larger than the whole window. Like the relay, we don't count it, because it would block all
    /// others.
    giant: Option<u64>,
    /// Letters that are stored although an older letter is not.
    beyond: BTreeSet<u64>,
    /// The highest position that has arrived.
    newest: u64,
    /// Whether something was stored that has not been acknowledged yet.
    untold: bool,
}

impl Acks {
    /// Creates the record for a connection with a window of `window` bytes.
    pub(crate) fn new(window: u64) -> Self {
        let (open, beyond) = (BTreeMap::new(), BTreeSet::new());
        Self { window, open, bytes: 0, giant: None, beyond, newest: 0, untold: false }
    }

    /// Records that a letter of `size` bytes begins to arrive. Positions only grow.
    pub(crate) fn arrives(&mut self, position: u64, size: u64) {
        self.newest = position;
        let is_giant = size > self.window && self.giant.is_none();
        if is_giant {
            self.giant = Some(position);
        }
        let size = if is_giant { 0 } else { size };
        self.bytes += size;
        self.open.insert(position, size);
    }

    /// Records that a letter is stored.
    pub(crate) fn stored(&mut self, position: u64) {
        let Some(size) = self.open.remove(&position) else { return };
        self.bytes -= size;
        self.giant = self.giant.filter(|giant| *giant != position);
        self.beyond.insert(position);
        let through = self.through();
        self.beyond = self.beyond.split_off(&(through + 1));
        self.untold = true;
    }

    /// Returns how many letters are not stored yet.
    pub(crate) fn letters(&self) -> u64 {
        self.open.len() as u64
    }

    /// Returns how many bytes of the window those letters take.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the highest position that has arrived.
    pub(crate) fn newest(&self) -> u64 {
        self.newest
    }

    /// Whether a letter at or before `position` is not stored yet.
    pub(crate) fn is_open_through(&self, position: u64) -> bool {
        self.open.first_key_value().is_some_and(|(&first, _)| first <= position)
    }

    /// Whether something was stored that has not been acknowledged yet.
    pub(crate) fn is_untold(&self) -> bool {
        self.untold
    }

    /// Returns the acknowledgement of everything that is stored.
    pub(crate) fn tell(&mut self) -> AppFrame {
        self.untold = false;
        AppFrame::Ack { through: self.through(), also: self.beyond.iter().copied().collect() }
    }

    /// Returns the position up to which everything is stored. Letters arrive in the order of their positions, so a gap
    /// in the positions is not a missing letter.
    fn through(&self) -> u64 {
        self.open.first_key_value().map_or(self.newest, |(&first, _)| first.saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(acks: &mut Acks) -> (u64, Vec<u64>) {
        match acks.tell() {
            AppFrame::Ack { through, also } => (through, also),
            frame => panic!("{frame:?}"),
        }
    }

    #[test]
    fn what_is_stored_in_order_moves_the_cursor_over_gaps() {
        let mut acks = Acks::new(1_000);
        for position in [3, 4, 9] {
            acks.arrives(position, 100);
        }
        assert!(!acks.is_untold());
        assert_eq!((acks.letters(), acks.bytes()), (3, 300));
        acks.stored(3);
        acks.stored(4);
        assert!(acks.is_untold());
        assert_eq!(told(&mut acks), (8, vec![]), "nothing lies between 4 and 9");
        acks.stored(9);
        assert_eq!(told(&mut acks), (9, vec![]));
        assert!(!acks.is_untold());
        assert_eq!((acks.letters(), acks.bytes()), (0, 0));
    }

    #[test]
    fn what_is_stored_beyond_an_open_one_is_told_apart_until_that_is_stored() {
        let mut acks = Acks::new(1_000);
        for position in 1..=5 {
            acks.arrives(position, 1);
        }
        for position in [2, 5, 3] {
            acks.stored(position);
        }
        assert_eq!(told(&mut acks), (0, vec![2, 3, 5]));
        assert!(acks.is_open_through(1) && !acks.is_open_through(0));
        acks.stored(1);
        assert_eq!(told(&mut acks), (3, vec![5]));
        acks.stored(4);
        assert_eq!(told(&mut acks), (5, vec![]));
    }

    #[test]
    fn one_giant_counts_for_nothing_and_a_second_one_counts() {
        let mut acks = Acks::new(100);
        acks.arrives(1, 101);
        acks.arrives(2, 60);
        assert_eq!((acks.letters(), acks.bytes()), (2, 60));
        acks.arrives(3, 500);
        assert_eq!(acks.bytes(), 560);
        acks.stored(1);
        acks.arrives(4, 200);
        assert_eq!(acks.bytes(), 560, "the place of the giant was free");
        for position in 2..=4 {
            acks.stored(position);
        }
        assert_eq!((acks.letters(), acks.bytes()), (0, 0));
    }

    #[test]
    fn a_letter_is_counted_once() {
        let mut acks = Acks::new(1_000);
        acks.arrives(1, 10);
        acks.stored(1);
        acks.stored(1);
        acks.stored(7);
        assert_eq!((acks.letters(), acks.bytes()), (0, 0));
        assert_eq!(told(&mut acks), (1, vec![]));
    }
}
