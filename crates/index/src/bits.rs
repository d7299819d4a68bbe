//! Sets of the events of one chunk, as bits.

/// How many consecutive sequence numbers a chunk holds.
pub(crate) const CHUNK: usize = 8_192;

const WORDS: usize = CHUNK / 64;

/// A set of slots. A slot is the place of an event in its chunk, from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bits(Box<[u64; WORDS]>);

impl Bits {
    pub(crate) fn none() -> Self {
        Self(Box::new([0; WORDS]))
    }

    pub(crate) fn all() -> Self {
        Self(Box::new([u64::MAX; WORDS]))
    }

    /// Returns the slots from `first` to before `end`.
    pub(crate) fn between(first: usize, end: usize) -> Self {
        let mut bits = Self::none();
        for slot in first..end.min(CHUNK) {
            bits.insert(slot);
        }
        bits
    }

    /// Returns the slots whose value passes a test, given 64 values at a time.
    pub(crate) fn passing<T: Copy>(values: &[T], test: impl Fn(T) -> bool) -> Self {
        let mut bits = Self::none();
        for (word, values) in bits.0.iter_mut().zip(values.chunks(64)) {
            *word = values.iter().rev().fold(0, |word, value| word << 1 | u64::from(test(*value)));
        }
        bits
    }

    pub(crate) fn insert(&mut self, slot: usize) {
        self.0[slot / 64] |= 1 << (slot % 64);
    }

    pub(crate) fn remove(&mut self, slot: usize) {
        self.0[slot / 64] &= !(1 << (slot % 64));
    }

    pub(crate) fn contains(&self, slot: usize) -> bool {
        self.0[slot / 64] >> (slot % 64) & 1 == 1
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub(crate) fn and(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0.iter()).for_each(|(word, other)| *word &= other);
    }

    pub(crate) fn or(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0.iter()).for_each(|(word, other)| *word |= other);
    }

    pub(crate) fn and_not(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0.iter()).for_each(|(word, other)| *word &= !other);
    }

    /// Returns the slots, the last one first.
    pub(crate) fn newest_first(&self) -> impl Iterator<Item = usize> + '_ {
        let words = self.0.iter().enumerate().rev();
        words.flat_map(|(place, word)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                let bit = left.checked_ilog2()?;
                left &= !(1 << bit);
                Some(place * 64 + bit as usize)
            })
        })
    }

    /// Returns the slots, the first one first.
    pub(crate) fn oldest_first(&self) -> impl Iterator<Item = usize> + '_ {
        let words = self.0.iter().enumerate();
        words.flat_map(|(place, word)| {
            let mut left = *word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros())?;
                left &= left - 1;
                Some(place * 64 + bit as usize)
            })
        })
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote; `None` if it has another length.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (words, rest) = bytes.as_chunks::<8>();
        let words: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
        if rest.is_empty() { Some(Self(words.into_boxed_slice().try_into().ok()?)) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_come_back_in_both_orders() {
        let mut bits = Bits::none();
        for slot in [0, 63, 64, 8_191] {
            bits.insert(slot);
        }
        assert_eq!(bits.newest_first().collect::<Vec<_>>(), [8_191, 64, 63, 0]);
        assert_eq!(bits.oldest_first().collect::<Vec<_>>(), [0, 63, 64, 8_191]);
        assert_eq!(Bits::from_bytes(&bits.to_bytes()), Some(bits));
        assert_eq!(Bits::between(63, 65).newest_first().collect::<Vec<_>>(), [64, 63]);
    }

    #[test]
    fn values_are_tested_slot_by_slot() {
        let values: Vec<u16> = (0..200).collect();
        let passing = Bits::passing(&values, |value| value % 70 == 3);
        assert_eq!(passing.oldest_first().collect::<Vec<_>>(), [3, 73, 143]);
    }
}
