//! The letters that are on their way to a device and not acknowledged.

use std::collections::BTreeMap;

/// The window of one device: the letters on their way.
#[derive(Debug)]
pub(crate) struct Window {
    most: usize,
    most_bytes: usize,
    out: BTreeMap<u64, usize>,
    bytes: usize,
    /// A letter that is larger than the whole window. It counts as 0 bytes, because otherwise it would hold up all
    /// others.
    giant: Option<u64>,
    sent: u64,
    acked: u64,
}

/// The device acknowledged a letter that was not sent to it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotSent;

impl Window {
    /// Returns the window of a device that has everything up to `cursor`.
    pub(crate) fn new(cursor: u64, most: usize, most_bytes: usize) -> Self {
        let out = BTreeMap::new();
        let (most, most_bytes) = (most.max(1), most_bytes.max(1));
        Self { most, most_bytes, out, bytes: 0, giant: None, sent: cursor, acked: cursor }
    }

    /// Returns how many more letters and bytes may be sent, or `None` if the window is full.
    pub(crate) fn room(&self) -> Option<(usize, usize)> {
        let letters = self.most.checked_sub(self.out.len()).filter(|rest| *rest > 0)?;
        let bytes = self.most_bytes.checked_sub(self.bytes).filter(|rest| *rest > 0)?;
        Some((letters, bytes))
    }

    /// Records that a letter is sent.
    pub(crate) fn send(&mut self, position: u64, size: usize) {
        let size = if size > self.most_bytes && self.giant.is_none() {
            self.giant = Some(position);
            0
        } else {
            size
        };
        if self.out.insert(position, size).is_none() {
            self.bytes += size;
        }
        self.sent = self.sent.max(position);
    }

    /// Records that letters are acknowledged. Returns how many.
    pub(crate) fn ack(&mut self, through: u64, also: &[u64]) -> Result<usize, NotSent> {
        if through > self.sent || also.iter().any(|position| *position > self.sent) {
            return Err(NotSent);
        }
        let before = self.out.len();
        let rest = self.out.split_off(&through.saturating_add(1));
        let done = std::mem::replace(&mut self.out, rest);
        let also = also.iter().filter_map(|position| self.out.remove(position)).sum::<usize>();
        self.bytes -= done.values().sum::<usize>() + also;
        self.giant = self.giant.filter(|giant| self.out.contains_key(giant));
        self.acked = self.acked.max(through);
        Ok(before - self.out.len())
    }

    /// Returns the position up to which everything is acknowledged.
    pub(crate) fn acked(&self) -> u64 {
        self.acked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_fills_and_opens_again() {
        let mut window = Window::new(5, 3, 100);
        assert_eq!(window.room(), Some((3, 100)));
        for (position, size) in [(7, 40), (8, 30), (9, 20)] {
            window.send(position, size);
        }
        assert_eq!(window.room(), None);
        assert_eq!(window.ack(7, &[9]), Ok(2));
        assert_eq!((window.room(), window.acked()), (Some((2, 70)), 7));
        assert_eq!(window.ack(9, &[]), Ok(1));
        window.send(10, 500);
        assert_eq!(window.room(), Some((2, 100)), "a giant holds up nobody");
        window.send(11, 500);
        assert_eq!(window.room(), None, "a second one does");
        assert_eq!(window.ack(11, &[]), Ok(2));
        assert_eq!(window.room(), Some((3, 100)));
    }

    #[test]
    fn nobody_acknowledges_what_was_not_sent() {
        let mut window = Window::new(5, 3, 100);
        assert_eq!(window.ack(6, &[]), Err(NotSent));
        assert_eq!(window.ack(5, &[9]), Err(NotSent));
        assert_eq!(window.ack(3, &[]), Ok(0));
        assert_eq!(window.acked(), 5);
    }
}
