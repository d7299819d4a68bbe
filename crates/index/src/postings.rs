//! Lists of slots, in few bits: what is stored is the distance from each slot to the next, Rice coded.
//!
//! The quotient of a distance by 2^k is written as so many zeros and a one, the remainder as k bits. With k chosen after
//! the mean distance that is close to the least number of bits for slots that are spread at random.

use crate::bits::{Bits, CHUNK};

/// The tag of a list that holds the slots that are not in it. Lower tags are the list's k.
const ABSENT: u8 = 16;

/// The greatest k, and a mask for it.
const MOST: u8 = 15;

/// Appends a list of ascending slots: a tag and the list.
pub(crate) fn encode(slots: &[u16], out: &mut Vec<u8>) {
    if slots.len() <= CHUNK / 2 {
        rice(slots.iter().copied(), slots.len(), 0, out);
        return;
    }
    let mut next = slots.iter().copied().peekable();
    let absent = (0..CHUNK as u16).filter(|slot| next.next_if_eq(slot).is_none());
    rice(absent, CHUNK - slots.len(), ABSENT, out);
}

fn rice(slots: impl Iterator<Item = u16>, count: usize, flag: u8, out: &mut Vec<u8>) {
    // The mean distance times ln 2 is where one more bit of the remainder saves as much as it costs.
    let mean = CHUNK * 7 / 10 / count.max(1);
    let k = mean.checked_ilog2().unwrap_or(0);
    out.push(flag | (k as u8 & MOST));
    let (mut word, mut used, mut next) = (0_u64, 0_u32, 0);
    let mut push = |bits: u64, mut count: u32| {
        word |= bits << used;
        used += count;
        while used >= 8 {
            out.push(word as u8);
            word >>= 8;
            used -= 8;
            count = count.saturating_sub(8);
        }
        used
    };
    for slot in slots {
        let distance = u64::from(slot - next);
        next = slot + 1;
        let mut zeros = distance >> k;
        while zeros >= 32 {
            push(0, 32);
            zeros -= 32;
        }
        push(1 << zeros, zeros as u32 + 1);
        push(distance & ((1 << k) - 1), k);
    }
    let left = push(0, 0);
    if left > 0 {
        push(0, 8 - left);
    }
}

/// Calls `each` with the slots of a list. Damaged lists end early or give other slots, but none beyond the chunk.
pub(crate) fn decode(list: &[u8], mut each: impl FnMut(u16)) {
    let Some((tag, bytes)) = list.split_first() else { return };
    if tag & ABSENT == 0 {
        return unrice(tag & MOST, bytes, each);
    }
    let mut next = 0;
    unrice(tag & MOST, bytes, |slot| {
        (next..slot).for_each(&mut each);
        next = slot + 1;
    });
    (next..CHUNK as u16).for_each(each);
}

/// Reads a list as a set.
pub(crate) fn to_bits(list: &[u8]) -> Bits {
    let mut bits = Bits::none();
    if let Some((tag, bytes)) = list.split_first() {
        unrice(tag & MOST, bytes, |slot| bits.insert(slot.into()));
        if tag & ABSENT != 0 {
            let mut all = Bits::all();
            all.and_not(&bits);
            return all;
        }
    }
    bits
}

fn unrice(k: u8, bytes: &[u8], mut each: impl FnMut(u16)) {
    let (k, mut next, mut at) = (u32::from(k), 0_u64, 0_usize);
    let end = bytes.len() * 8;
    while at < end {
        let mut zeros = 0;
        let mut window = window(bytes, at);
        while window & 0xFFFF_FFFF == 0 {
            (zeros, at) = (zeros + 32, at + 32);
            if at >= end {
                return;
            }
            window = self::window(bytes, at);
        }
        let ones = window.trailing_zeros();
        zeros += u64::from(ones);
        at += ones as usize + 1;
        // A window has at least 57 bits, of which up to 33 were read, and k is at most 15.
        let rest = (window >> ones >> 1) & ((1 << k) - 1);
        at += k as usize;
        let slot = next + (zeros << k | rest);
        if slot >= CHUNK as u64 {
            return;
        }
        each(slot as u16);
        next = slot + 1;
    }
}

/// Returns at least 57 bits from a place on; zeros beyond the end.
fn window(bytes: &[u8], at: usize) -> u64 {
    let from = &bytes[(at / 8).min(bytes.len())..];
    let word = match from.first_chunk::<8>() {
        Some(word) => u64::from_le_bytes(*word),
        None => from.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    };
    word >> (at % 8)
}

#[cfg(test)]
mod tests {
    use proptest::{collection::btree_set, prelude::*};

    use super::*;

    fn back(slots: &[u16]) -> Vec<u16> {
        let mut list = Vec::new();
        encode(slots, &mut list);
        let mut back = Vec::new();
        decode(&list, |slot| back.push(slot));
        let bits: Vec<_> = to_bits(&list).oldest_first().map(|slot| slot as u16).collect();
        assert_eq!(bits, back);
        back
    }

    #[test]
    fn lists_without_slots_and_with_all_come_back() {
        assert_eq!(back(&[]), [0; 0]);
        assert_eq!(back(&[8_191]), [8_191]);
        let all: Vec<u16> = (0..8_192).collect();
        assert_eq!(back(&all), all);
        assert_eq!(back(&all[1..]), all[1..]);
        assert_eq!(back(&all[..4_096]), all[..4_096]);
    }

    #[test]
    fn a_dense_list_takes_no_more_than_a_bit_for_each_slot() {
        for every in [2, 3, 5] {
            let slots: Vec<u16> = (0..8_192).step_by(every).collect();
            let mut list = Vec::new();
            encode(&slots, &mut list);
            assert!(list.len() <= 1_025, "{every}: {}", list.len());
        }
    }

    proptest! {
        #[test]
        fn every_list_comes_back(slots in btree_set(0..8_192_u16, 0..6_000), few in btree_set(0..8_192_u16, 0..9)) {
            for slots in [slots, few] {
                let slots: Vec<u16> = slots.into_iter().collect();
                prop_assert_eq!(back(&slots), slots);
            }
        }

        #[test]
        fn damaged_lists_do_no_harm(list in proptest::collection::vec(any::<u8>(), 0..300)) {
            decode(&list, |slot| assert!(usize::from(slot) < CHUNK));
            to_bits(&list);
        }
    }
}
