//! Assembles letters from the frames of a relay, without trusting what the relay announces.

use std::collections::BTreeMap;

use bytes::Bytes;
use hookmitt_wire::{MAX_LETTER, Parcel};

use crate::TunnelError;

/// The letters that are arriving.
#[derive(Debug, Default)]
pub(crate) struct Intake {
    /// The highest position that has arrived.
    newest: u64,
    /// Letters that are not complete yet.
    apart: BTreeMap<u64, Apart>,
}

/// A letter that has arrived completely and is still sealed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Whole {
    pub(crate) position: u64,
    pub(crate) parcel: Parcel,
}

#[derive(Debug)]
struct Apart {
    parcel: Parcel,
    size: usize,
    data: Vec<u8>,
}

impl Intake {
    /// Takes the first frame of a letter. Returns the letter if it is complete.
    pub(crate) fn begins(
        &mut self,
        position: u64,
        parcel: Parcel,
        size: u32,
    ) -> Result<Option<Whole>, TunnelError> {
        if position <= self.newest {
            return Err(TunnelError::Protocol("its positions go backwards"));
        }
        self.newest = position;
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        if size > MAX_LETTER {
            return Err(TunnelError::Protocol("it announces an event above the size limit"));
        }
        if parcel.data.len() == size {
            return Ok(Some(Whole { position, parcel }));
        }
        if parcel.data.is_empty() || parcel.data.len() > size {
            return Err(TunnelError::Protocol("an event doesn't have the announced size"));
        }
        // Memory is allocated as pieces come, so that announcing a large size costs nothing.
        let data = parcel.data.to_vec();
        let parcel = Parcel { data: Bytes::new(), ..parcel };
        self.apart.insert(position, Apart { parcel, size, data });
        Ok(None)
    }

    /// Returns the position of the first letter that is not complete yet.
    pub(crate) fn first_apart(&self) -> Option<u64> {
        self.apart.first_key_value().map(|(position, _)| *position)
    }

    /// Takes the next piece of a letter. Returns the letter if it is complete now.
    pub(crate) fn goes_on(&mut self, position: u64, piece: &[u8]) -> Result<Option<Whole>, TunnelError> {
        let apart = self.apart.get_mut(&position);
        let apart =
            apart.ok_or(TunnelError::Protocol("it sends a piece of an event that it didn't begin"))?;
        if piece.is_empty() || apart.data.len() + piece.len() > apart.size {
            return Err(TunnelError::Protocol("an event doesn't have the announced size"));
        }
        apart.data.extend_from_slice(piece);
        if apart.data.len() < apart.size {
            return Ok(None);
        }
        let whole = self.apart.remove(&position).map(|Apart { parcel, data, .. }| {
            let parcel = Parcel { data: data.into(), ..parcel };
            Whole { position, parcel }
        });
        Ok(whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parcel(data: &[u8]) -> Parcel {
        Parcel { epoch: [1; 32], number: 7, received_at: 0, held: false, data: Bytes::copy_from_slice(data) }
    }

    fn refused(result: Result<Option<Whole>, TunnelError>, words: &str) {
        let error = result.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }

    #[test]
    fn letters_in_pieces_come_together_beside_each_other() {
        let mut intake = Intake::default();
        assert_eq!(intake.begins(1, parcel(b"ab"), 6), Ok(None));
        assert_eq!(intake.begins(2, parcel(b"AB"), 3), Ok(None));
        let small = intake.begins(5, parcel(b"whole"), 5).unwrap().unwrap();
        assert_eq!((small.position, &small.parcel.data[..]), (5, &b"whole"[..]));
        assert_eq!(intake.goes_on(1, b"cd"), Ok(None));
        let second = intake.goes_on(2, b"C").unwrap().unwrap();
        assert_eq!(second, Whole { position: 2, parcel: parcel(b"ABC") });
        let first = intake.goes_on(1, b"ef").unwrap().unwrap();
        assert_eq!(first, Whole { position: 1, parcel: parcel(b"abcdef") });
    }

    #[test]
    fn a_relay_that_lies_about_sizes_is_refused() {
        let wrong = "doesn't have the announced size";
        refused(Intake::default().begins(1, parcel(b"abc"), 2), wrong);
        refused(Intake::default().begins(1, parcel(b""), 2), wrong);
        refused(Intake::default().begins(1, parcel(b"abc"), u32::MAX), "above the size limit");
        let mut intake = Intake::default();
        intake.begins(1, parcel(b"ab"), 3).unwrap();
        refused(intake.goes_on(1, b"cd"), wrong);
        refused(intake.goes_on(1, b""), wrong);
    }

    #[test]
    fn a_size_that_is_only_announced_takes_no_memory() {
        let mut intake = Intake::default();
        intake.begins(1, parcel(b"a"), 32 * 1024 * 1024).unwrap();
        assert!(intake.apart[&1].data.capacity() < 1024);
    }

    #[test]
    fn positions_only_grow_and_pieces_belong_to_a_letter() {
        let mut intake = Intake::default();
        intake.begins(4, parcel(b"a"), 1).unwrap();
        refused(intake.begins(4, parcel(b"a"), 1), "go back");
        refused(intake.begins(3, parcel(b"a"), 1), "go back");
        refused(intake.begins(0, parcel(b"a"), 1), "go back");
        refused(intake.goes_on(4, b"b"), "didn't begin");
        intake.begins(5, parcel(b"a"), 2).unwrap();
        intake.goes_on(5, b"b").unwrap().unwrap();
        refused(intake.goes_on(5, b"c"), "didn't begin");
    }
}
