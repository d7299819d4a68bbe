//! Ids in the forms that providers give them. They are derived from a seed: another seed gives another id, and a test
//! can repeat one.

use sha2::{Digest as _, Sha256};

/// The longest token that a form may ask for, in characters.
const LONGEST: usize = 128;

/// Returns the text with its placeholders filled: `@uuid@`, `@ulid@`, and `@hex:32@` with the kinds `base62`, `lower`
/// (and digits), `upper` (and digits), `hex` and `digits`. Equal placeholders get equal tokens; `@uuid:2@` is another
/// one than `@uuid@`, and `@hex:32:2@` than `@hex:32@`.
pub(crate) fn fill(text: &str, seed: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, tail)) = rest.split_once('@') {
        out.push_str(before);
        let made = tail.split_once('@').and_then(|(form, after)| Some((token(form, seed)?, after)));
        rest = match made {
            Some((token, after)) => {
                out.push_str(&token);
                after
            }
            None => {
                out.push('@');
                tail
            }
        };
    }
    out.push_str(rest);
    out
}

/// Derives a number from a seed, for ids that have to be numeric (FNV-1a, below 2^40).
pub(crate) fn number_of(seed: &str) -> u64 {
    let hash = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    seed.bytes().fold(0xcbf2_9ce4_8422_2325, hash) % (1 << 40)
}

fn token(form: &str, seed: &str) -> Option<String> {
    const CROCKFORD: &[u8] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    let (kind, size) = form.split_once(':').unwrap_or((form, ""));
    let alphabet: &[u8] = match kind {
        "uuid" => return Some(uuid(form, seed)),
        // The time comes first in a ULID, so its first letters hardly change.
        "ulid" => return Some(format!("01K{}", letters(CROCKFORD, form, seed, 23))),
        "base62" => b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
        "lower" => b"0123456789abcdefghijklmnopqrstuvwxyz",
        "upper" => b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ",
        "hex" => b"0123456789abcdef",
        "digits" => b"0123456789",
        _ => return None,
    };
    let size = size.split(':').next()?.parse().ok().filter(|size| (1..=LONGEST).contains(size))?;
    Some(letters(alphabet, form, seed, size))
}

/// Iterates over bytes that depend on form and seed.
fn bytes(form: &str, seed: &str) -> impl Iterator<Item = u8> {
    let start = Sha256::new().chain_update(form).chain_update([0]).chain_update(seed);
    (0u8..).flat_map(move |block| <[u8; 32]>::from(start.clone().chain_update([0, block]).finalize()))
}

fn letters(alphabet: &[u8], form: &str, seed: &str, size: usize) -> String {
    let letter = |byte: u8| char::from(alphabet[usize::from(byte) % alphabet.len()]);
    bytes(form, seed).take(size).map(letter).collect()
}

/// Returns a UUID of version 4.
fn uuid(form: &str, seed: &str) -> String {
    let digits = letters(b"0123456789abcdef", form, seed, 32);
    let [a, b, c, d, e] = [&digits[..8], &digits[8..12], &digits[13..16], &digits[17..20], &digits[20..]];
    format!("{a}-{b}-4{c}-a{d}-{e}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_become_tokens_of_their_form() {
        let text = fill("evt_@base62:24@ zoe@example.com @hex:4@@digits:3@ @nothing@ @hex:0@", "seed");
        let words: Vec<_> = text.split(' ').collect();
        assert_eq!((words[0].len(), &words[0][..4], words[1]), (28, "evt_", "zoe@example.com"));
        assert_eq!((words[2].len(), words[3], words[4]), (7, "@nothing@", "@hex:0@"));
        let uuid = fill("@uuid@", "seed");
        assert_eq!((uuid.len(), &uuid[14..15], &uuid[19..20]), (36, "4", "a"));
        assert_eq!(fill("@ulid@", "seed").len(), 26);
        assert_eq!(fill("@base62:128@", "seed").len(), 128);
    }

    #[test]
    fn a_seed_gives_the_same_token_again_and_another_seed_another() {
        assert_eq!(fill("@uuid@", "a"), fill("@uuid@", "a"));
        assert_ne!(fill("@uuid@", "a"), fill("@uuid@", "b"));
        assert_ne!(fill("@uuid@", "a"), fill("@uuid:2@", "a"));
    }
}
