//! Sieves of long texts: a long text of great variety has nearly all three bytes that one may look for. So for each five
//! consecutive bytes of a long text a bit is set that is chosen by their hash. A text that contains another one has all of
//! its bits.
//!
//! A sieve is stored in slices, so that a look at a few of its bits reads little. For each chunk there is a row that says
//! which of its slots have one.

use std::collections::BTreeMap;

use rusqlite::Connection;

use crate::{
    bits::Bits,
    chunk,
    error::IndexError,
    rows::{self, Table},
};

/// How many bytes a text has from which a sieve is made.
const LONG: usize = if cfg!(test) { 24 } else { 64 * 1024 };

/// How many consecutive bytes set a bit.
const GRAM: usize = 5;

/// How many bytes a slice has.
const SLICE: usize = 1_024;

/// A sieve has at most two to the power of this many slices: 4 MiB.
const MOST: u8 = 12;

/// How many bits of a text are looked at.
const PROBES: usize = 8;

/// Which slots of a chunk have a sieve, each with the binary logarithm of the number of its slices.
type Sieves = BTreeMap<u16, u8>;

/// Makes the sieves of those texts that are long. Their slots may have none.
pub(crate) fn add(db: &Connection, chunk: i64, texts: &BTreeMap<u16, &str>) -> Result<(), IndexError> {
    let mut long = texts.iter().filter(|(_, text)| text.len() >= LONG).peekable();
    if long.peek().is_none() {
        return Ok(());
    }
    let mut sieves = stored(db, chunk)?;
    for (slot, text) in long {
        let bits = sieve(text);
        let slices = bits.chunks(SLICE);
        sieves.insert(*slot, slices.len().ilog2() as u8);
        for (id, slice) in (ids(chunk, *slot).0..).zip(slices) {
            rows::put(db, Table::Sieve, id, slice.to_vec())?;
        }
    }
    store(db, chunk, &sieves)
}

/// Removes the sieves of these slots.
pub(crate) fn remove(db: &Connection, chunk: i64, slots: &Bits) -> Result<(), IndexError> {
    let mut sieves = stored(db, chunk)?;
    let gone: Vec<u16> = sieves.keys().copied().filter(|slot| slots.contains((*slot).into())).collect();
    if gone.is_empty() {
        return Ok(());
    }
    for slot in gone {
        rows::delete(db, Table::Sieve, ids(chunk, slot))?;
        sieves.remove(&slot);
    }
    store(db, chunk, &sieves)
}

/// Removes from `maybe` the slots whose texts can't contain a folded text.
pub(crate) fn pass(db: &Connection, chunk: i64, text: &str, maybe: &mut Bits) -> Result<(), IndexError> {
    if text.len() < GRAM || maybe.is_empty() {
        return Ok(());
    }
    let hashes = probes(text);
    for (slot, power) in stored(db, chunk)? {
        if maybe.contains(slot.into()) && !has_all(db, ids(chunk, slot).0, power, &hashes)? {
            maybe.remove(slot.into());
        }
    }
    Ok(())
}

fn has_all(db: &Connection, first: i64, power: u8, hashes: &[u64]) -> Result<bool, IndexError> {
    for hash in hashes {
        let place = place(*hash, SLICE << power);
        let id = first + (place / 8 / SLICE) as i64;
        let slice = rows::get(db, Table::Sieve, id)?;
        let slice = slice.ok_or_else(|| IndexError::Damaged(format!("slice {id} of a sieve is missing")))?;
        if slice.get(place / 8 % SLICE).is_none_or(|byte| byte & 1 << (place % 8) == 0) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the hashes of some of the grams of a text, from all over it.
fn probes(text: &str) -> Vec<u64> {
    let count = text.len() + 1 - GRAM;
    hashes(text).step_by(count.div_ceil(PROBES)).collect()
}

/// Makes the sieve of a text: as small as it may be with two of five bits set.
fn sieve(text: &str) -> Vec<u8> {
    let size = (text.len() / 4).next_power_of_two().clamp(SLICE, SLICE << MOST);
    let mut bits = vec![0_u8; size];
    for hash in hashes(text) {
        let place = place(hash, size);
        bits[place / 8] |= 1 << (place % 8);
    }
    while bits.len() > SLICE && count(&bits) * 5 <= bits.len() * 8 {
        let upper = bits.split_off(bits.len() / 2);
        bits.iter_mut().zip(upper).for_each(|(lower, upper)| *lower |= upper);
    }
    bits
}

fn count(bits: &[u8]) -> usize {
    bits.iter().map(|byte| byte.count_ones() as usize).sum()
}

/// Returns the bit that a hash chooses in a sieve of so many bytes, a power of two. In one of half the size it is the same
/// bit of one of the halves.
fn place(hash: u64, size: usize) -> usize {
    hash as usize & (size * 8 - 1)
}

/// Returns the hashes of all five consecutive bytes of a text.
fn hashes(text: &str) -> impl Iterator<Item = u64> {
    text.as_bytes().windows(GRAM).map(|bytes| {
        let number = bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 31 // the fractional part of the golden ratio spreads them evenly
    })
}

/// Returns the ids that the slices of a slot may have, the first and the last.
fn ids(chunk: i64, slot: u16) -> (i64, i64) {
    let first = chunk::seq(chunk, slot.into()) << MOST;
    (first, first + (1 << MOST) - 1)
}

fn stored(db: &Connection, chunk: i64) -> Result<Sieves, IndexError> {
    let bytes = rows::get(db, Table::Long, chunk)?.unwrap_or_default();
    Ok(bytes
        .as_chunks()
        .0
        .iter()
        .map(|[high, low, power]| (u16::from_be_bytes([*high, *low]), *power))
        .collect())
}

fn store(db: &Connection, chunk: i64, sieves: &Sieves) -> Result<(), IndexError> {
    if sieves.is_empty() {
        return rows::delete(db, Table::Long, (chunk, chunk));
    }
    let bytes = sieves.iter().flat_map(|(slot, power)| {
        let [high, low] = slot.to_be_bytes();
        [high, low, *power]
    });
    rows::put(db, Table::Long, chunk, bytes.collect())
}

#[cfg(test)]
mod tests {
    use rand::{RngExt as _, SeedableRng as _, rngs::SmallRng};

    use super::*;

    fn noise(length: usize, random: &mut SmallRng) -> String {
        const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789+/";
        (0..length).map(|_| char::from(LETTERS[random.random_range(0..LETTERS.len())])).collect()
    }

    fn has(bits: &[u8], text: &str) -> bool {
        let is_set = |hash| {
            let place = place(hash, bits.len());
            bits[place / 8] & 1 << (place % 8) != 0
        };
        probes(text).into_iter().all(is_set)
    }

    #[test]
    fn a_sieve_lets_through_what_is_in_the_text_and_little_else() {
        let random = &mut SmallRng::seed_from_u64(1);
        let text = noise(300_000, random);
        let bits = sieve(&text);
        assert!((0..1_000).all(|start| has(&bits, &text[start * 7..][..5 + start % 60])));
        let others = (0..1_000).filter(|_| has(&bits, &noise(9, random))).count();
        assert!(others < 50, "{others} of 1,000");
    }

    #[test]
    fn a_text_of_little_variety_has_a_small_sieve() {
        let text = "{\"id\":1,\"name\":\"a line of an order\"}".repeat(20_000);
        let bits = sieve(&text);
        assert_eq!(bits.len(), SLICE);
        assert!(has(&bits, "a line of an order") && !has(&bits, "a kind of an error"));
    }
}
