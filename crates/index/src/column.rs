//! One value for each event of a chunk, in as few bytes as the chunk's values need.

use crate::{bits::Bits, error::IndexError};

/// What is stored of each event. A column's number is part of the key under which it is stored, and of the keys of its
/// words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub(crate) enum Column {
    Source = 1,
    Type,
    Provider,
    Targets,
    Method,
    Path,
    Tags,
    Answers,
    Verdict,
    Status,
    Via,
    Marks,
    Size,
    Received,
    Slowest,
    Fastest,
}

impl Column {
    pub(crate) const ALL: [Self; 16] = [
        Self::Source,
        Self::Type,
        Self::Provider,
        Self::Targets,
        Self::Method,
        Self::Path,
        Self::Tags,
        Self::Answers,
        Self::Verdict,
        Self::Status,
        Self::Via,
        Self::Marks,
        Self::Size,
        Self::Received,
        Self::Slowest,
        Self::Fastest,
    ];

    /// The columns whose values are numbers of words.
    pub(crate) const WORDS: [Self; 8] = [
        Self::Source,
        Self::Type,
        Self::Provider,
        Self::Targets,
        Self::Method,
        Self::Path,
        Self::Tags,
        Self::Answers,
    ];

    /// The column's place in [`ALL`](Self::ALL).
    pub(crate) fn place(self) -> usize {
        self as usize - 1
    }
}

/// The values of a chunk. Each is stored as its distance from the least, in 0, 1, 2, 4 or 8 bytes. Slots after the last
/// value have the least value.
#[derive(Debug)]
pub(crate) struct Values {
    least: i64,
    distances: Distances,
}

#[derive(Debug)]
enum Distances {
    None,
    One(Vec<u8>),
    Two(Vec<u16>),
    Four(Vec<u32>),
    Eight(Vec<u64>),
}

impl Values {
    /// Returns the slots whose value passes a test.
    pub(crate) fn passing(&self, test: impl Fn(i64) -> bool) -> Bits {
        let least = self.least;
        let at = |distance: u64| test(least.wrapping_add(distance.cast_signed()));
        match &self.distances {
            Distances::None if at(0) => Bits::all(),
            Distances::None => Bits::none(),
            Distances::One(values) => {
                let passes: Vec<bool> = (0..=255).map(at).collect();
                Bits::passing(values, |value| passes[usize::from(value)])
            }
            Distances::Two(values) => Bits::passing(values, |value| at(value.into())),
            Distances::Four(values) => Bits::passing(values, |value| at(value.into())),
            Distances::Eight(values) => Bits::passing(values, at),
        }
    }

    /// Returns the first `count` values.
    pub(crate) fn to_vec(&self, count: usize) -> Vec<i64> {
        let at = |distance: u64| self.least.wrapping_add(distance.cast_signed());
        let mut all: Vec<i64> = match &self.distances {
            Distances::None => Vec::new(),
            Distances::One(values) => values.iter().map(|value| at((*value).into())).collect(),
            Distances::Two(values) => values.iter().map(|value| at((*value).into())).collect(),
            Distances::Four(values) => values.iter().map(|value| at((*value).into())).collect(),
            Distances::Eight(values) => values.iter().map(|value| at(*value)).collect(),
        };
        all.resize(count, self.least);
        all
    }

    /// Reads what [`encoded`] wrote.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, IndexError> {
        let damaged = || IndexError::Damaged("a column has a wrong length".to_owned());
        let (width, bytes) = bytes.split_first().ok_or_else(damaged)?;
        let (least, bytes) = bytes.split_first_chunk::<8>().ok_or_else(damaged)?;
        let distances = match width {
            0 => Distances::None,
            1 => Distances::One(bytes.to_vec()),
            2 => Distances::Two(bytes.as_chunks().0.iter().map(|value| u16::from_le_bytes(*value)).collect()),
            4 => {
                Distances::Four(bytes.as_chunks().0.iter().map(|value| u32::from_le_bytes(*value)).collect())
            }
            8 => {
                Distances::Eight(bytes.as_chunks().0.iter().map(|value| u64::from_le_bytes(*value)).collect())
            }
            _ => return Err(damaged()),
        };
        Ok(Self { least: i64::from_le_bytes(*least), distances })
    }
}

/// Writes values in as few bytes as they need.
pub(crate) fn encoded(values: &[i64]) -> Vec<u8> {
    let least = values.iter().copied().min().unwrap_or(0);
    let distance = |value: &i64| value.wrapping_sub(least).cast_unsigned();
    let width = match values.iter().map(distance).max().unwrap_or(0) {
        0 => 0,
        1..=0xFF => 1,
        0x100..=0xFFFF => 2,
        0x1_0000..=0xFFFF_FFFF => 4,
        _ => 8,
    };
    let mut bytes = Vec::with_capacity(9 + values.len() * usize::from(width));
    bytes.push(width);
    bytes.extend(least.to_le_bytes());
    for value in values {
        bytes.extend(&distance(value).to_le_bytes()[..usize::from(width)]);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_every_width_come_back() {
        for far in [0, 1, 255, 256, 65_536, i64::from(u32::MAX) + 1, i64::MAX] {
            let values = [-7, far.wrapping_sub(7), -7];
            let read = Values::read(&encoded(&values)).unwrap();
            assert_eq!(read.to_vec(3), values);
            let least = values.iter().min().unwrap();
            assert_eq!(read.to_vec(5)[3..], [*least, *least]);
            assert!(read.passing(|value| value == far.wrapping_sub(7)).contains(1));
        }
    }

    #[test]
    fn a_chunk_of_equal_values_takes_nine_bytes() {
        assert_eq!(encoded(&[5; 8_192]).len(), 9);
    }
}
