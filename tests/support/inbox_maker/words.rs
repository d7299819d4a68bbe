//! Words that are nobody's: made of syllables, in three scripts, some much more frequent than others.

use rand::{RngExt as _, SeedableRng as _, rngs::SmallRng};

/// A word that is in every third text, and so in most events.
pub const COMMON_WORD: &str = "greenhouse";

/// A word that is in one event of 10,000.
pub const RARE_WORD: &str = "marmalade";

/// A word that is in no event.
pub const ABSENT_WORD: &str = "quintessentially";

const LATIN: [&str; 40] = [
    "an", "ber", "cal", "den", "er", "fos", "gra", "hin", "il", "jor", "kel", "lu", "men", "nor", "ost",
    "pra", "quel", "ran", "sto", "tur", "um", "ver", "wil", "xan", "yor", "zel", "bri", "cho", "dru", "fli",
    "gno", "mür", "né", "sø", "tra", "ple", "ing", "ist", "ment", "ly",
];
const CYRILLIC: [&str; 16] = [
    "за", "каз", "до", "став", "ка", "пла", "тёж", "кли", "ент", "при", "нят", "от", "мен", "ро", "вал",
    "сто",
];
const KANA: [&str; 16] = [
    "さ", "くら", "み", "どり", "かわ", "やま", "注文", "配送", "支払", "顧客", "な", "つ", "ふゆ", "はる",
    "東", "京",
];

/// The vocabulary. It is the same for every seed.
pub(super) struct Words {
    scripts: [Vec<String>; 3],
}

impl Words {
    pub(super) fn new() -> Self {
        let mut random = SmallRng::seed_from_u64(1);
        let mut made = |syllables: &[&str], count: usize| {
            let word = |random: &mut SmallRng| {
                let length = random.random_range(1..=4);
                (0..length).map(|_| syllables[random.random_range(0..syllables.len())]).collect()
            };
            (0..count).map(|_| word(&mut random)).collect::<Vec<String>>()
        };
        Self { scripts: [made(&LATIN, 4_000), made(&CYRILLIC, 1_000), made(&KANA, 1_000)] }
    }

    /// Returns a word of the Latin script. Those in front of the list are the most frequent.
    pub(super) fn one(&self, random: &mut SmallRng) -> &str {
        self.of(0, random)
    }

    fn of(&self, script: usize, random: &mut SmallRng) -> &str {
        let words = &self.scripts[script];
        let place = random.random::<f64>().powf(2.2) * words.len() as f64;
        &words[(place as usize).min(words.len() - 1)]
    }

    /// Returns a text of at least this many bytes, in one script: nine of ten are Latin.
    pub(super) fn text(&self, bytes: usize, random: &mut SmallRng) -> String {
        let script = match random.random_range(0..100) {
            0..6 => 1,
            6..10 => 2,
            _ => 0,
        };
        let mut text = String::with_capacity(bytes + 16);
        if random.random_range(0..3) == 0 {
            text.push_str(COMMON_WORD);
        }
        while text.len() < bytes {
            if !text.is_empty() {
                text.push_str(if random.random_range(0..12) == 0 { ". " } else { " " });
            }
            text.push_str(self.of(script, random));
        }
        text
    }
}
