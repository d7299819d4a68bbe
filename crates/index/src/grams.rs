//! The grams of texts: every three consecutive bytes. A text that contains another one has all of its grams.

/// A gram: three bytes as a number.
pub(crate) type Gram = u32;

/// How many different grams there are.
const GRAMS: usize = 1 << 24;

/// How many different grams of one text are kept. A text with more counts as one that has all.
const MOST: usize = 50_000;

/// Returns the different grams of a short text, in order.
pub(crate) fn of(text: &str) -> Vec<Gram> {
    let mut grams: Vec<Gram> = each(text).collect();
    grams.sort_unstable();
    grams.dedup();
    grams
}

fn each(text: &str) -> impl Iterator<Item = Gram> {
    text.as_bytes().windows(3).map(|bytes| Gram::from_be_bytes([0, bytes[0], bytes[1], bytes[2]]))
}

/// Collects the grams of the texts of a chunk.
pub(crate) struct Collected {
    /// Which grams the present text has, a bit for each.
    seen: Vec<u64>,
    own: Vec<Gram>,
    /// A gram and a slot each: `gram << 16 | slot`.
    pairs: Vec<u64>,
}

impl Collected {
    pub(crate) fn new() -> Self {
        Self { seen: vec![0; GRAMS / 64], own: Vec::new(), pairs: Vec::new() }
    }

    /// Returns how many pairs of a gram and a slot there are.
    pub(crate) fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Adds a text. Returns `false` if it has too many grams.
    pub(crate) fn add(&mut self, slot: u16, text: &str) -> bool {
        for gram in each(text) {
            let (place, bit) = (gram as usize / 64, 1 << (gram % 64));
            if self.seen[place] & bit == 0 {
                self.seen[place] |= bit;
                self.own.push(gram);
            }
        }
        let is_kept = self.own.len() <= MOST;
        for gram in self.own.drain(..) {
            self.seen[gram as usize / 64] = 0;
            if is_kept {
                self.pairs.push(u64::from(gram) << 16 | u64::from(slot));
            }
        }
        is_kept
    }

    /// Calls `each` with every gram and its slots, both in ascending order, and forgets all. The texts must have been
    /// added by ascending slots.
    pub(crate) fn drain<E>(&mut self, mut each: impl FnMut(Gram, &[u16]) -> Result<(), E>) -> Result<(), E> {
        let pairs = sorted_by_gram(std::mem::take(&mut self.pairs));
        let mut slots = Vec::new();
        for pairs in pairs.chunk_by(|a, b| a >> 16 == b >> 16) {
            slots.clear();
            slots.extend(pairs.iter().map(|pair| *pair as u16));
            each((pairs[0] >> 16) as Gram, &slots)?;
        }
        Ok(())
    }
}

/// Sorts pairs by their grams, twelve bits at a time. Pairs of the same gram keep their order.
fn sorted_by_gram(mut pairs: Vec<u64>) -> Vec<u64> {
    let mut sorted = vec![0; pairs.len()];
    for shift in [16, 28] {
        let digit = |pair: u64| (pair >> shift) as usize & 0xFFF;
        let mut places = [0_usize; 0x1001];
        pairs.iter().for_each(|pair| places[digit(*pair) + 1] += 1);
        (1..places.len()).for_each(|digit| places[digit] += places[digit - 1]);
        for pair in &pairs {
            let place = &mut places[digit(*pair)];
            sorted[*place] = *pair;
            *place += 1;
        }
        std::mem::swap(&mut pairs, &mut sorted);
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_gram_comes_once_with_its_slots() {
        let mut collected = Collected::new();
        assert!(collected.add(3, "abcabc") && collected.add(5, "bcax") && collected.add(9, "ab"));
        let mut all = Vec::new();
        let Ok(()) = collected.drain(|gram, slots| {
            all.push((String::from_utf8_lossy(&gram.to_be_bytes()[1..]).into_owned(), slots.to_vec()));
            Ok::<_, std::convert::Infallible>(())
        });
        let named = |name: &str, slots: &[u16]| (name.to_owned(), slots.to_vec());
        assert_eq!(all, [named("abc", &[3]), named("bca", &[3, 5]), named("cab", &[3]), named("cax", &[5])]);
        assert_eq!(collected.len(), 0);
    }

    #[test]
    fn a_text_of_endless_variety_is_not_kept() {
        let text: String = ('\u{4E00}'..'\u{9FA5}').flat_map(|a| [a, 'x', 'y', a]).collect();
        let mut collected = Collected::new();
        assert!(!collected.add(0, &text.repeat(2)));
        assert_eq!(collected.len(), 0);
        assert!(collected.add(1, "abc"));
        assert_eq!(collected.len(), 1);
    }
}
