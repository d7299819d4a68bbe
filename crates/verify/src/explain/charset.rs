//! Bodies whose text was decoded or encoded in another character set.

use crate::signature::Signed;

use super::{finding::Finding, trial::Trial};

/// The byte order mark of UTF-8.
pub(crate) const BOM: &[u8] = b"\xef\xbb\xbf";

/// The characters that Windows-1252 has in place of Latin-1's control characters, from 0x80 on. Unassigned bytes keep
/// their Latin-1 value. <https://encoding.spec.whatwg.org/index-windows-1252.txt>
const WINDOWS: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}',
    '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// Looks for a character set in which the body matches the signature.
pub(crate) fn find(trial: &mut Trial<'_>, signed: &Signed<'_>) -> Option<Finding> {
    let body = signed.parts.view.body;
    let wide = from_utf16(body);
    if body.is_ascii() && wide.is_none() {
        return None;
    }
    let text = std::str::from_utf8(body).ok();
    let bytes = |text: String| text.into_bytes();
    let tries: [(&str, Option<Vec<u8>>); 7] = [
        ("UTF-16 is changed back to UTF-8", wide),
        ("Latin-1 is changed back to UTF-8", text.is_none().then(|| bytes(from_single(body, false)))),
        ("Windows-1252 is changed back to UTF-8", text.is_none().then(|| bytes(from_single(body, true)))),
        (
            "characters misread as Latin-1 are converted back to UTF-8",
            text.and_then(|text| to_single(text, false)),
        ),
        (
            "characters misread as Windows-1252 are converted back to UTF-8",
            text.and_then(|text| to_single(text, true)),
        ),
        ("UTF-8 is changed back to UTF-16", text.map(to_utf16)),
        (
            "characters misread as Latin-1 twice are converted back to UTF-8",
            text.and_then(|text| to_single(text, false))
                .and_then(|once| to_single(std::str::from_utf8(&once).ok()?, false)),
        ),
    ];
    let mut tries = tries.into_iter().filter_map(|(how, other)| Some((how, other?)));
    let (how, other) = tries.find(|(_, other)| other != body && trial.fits_body(signed, other))?;
    let sender = trial.sender;
    Some(
        Finding::proven("charset_changed", format!("The signature matches once {how}"))
            .saying(
                format!(
                    "The body's character set changed after {sender} signed it: the signature matches once \
                         {how}."
                ),
                "Read the body as bytes, and decode it as UTF-8 only after the signature is verified.",
            )
            .sentence("the character set of the body was changed on its way here")
            .detail(format!(
                "The signature matches once {how}. Secret and sender are right; only the bytes changed."
            ))
            .fitting("In its original character set")
            .body(other),
    )
}

fn from_single(bytes: &[u8], windows: bool) -> String {
    let letter = |byte: &u8| match byte {
        0x80..=0x9f if windows => WINDOWS[usize::from(byte - 0x80)],
        other => char::from(*other),
    };
    bytes.iter().map(letter).collect()
}

fn to_single(text: &str, windows: bool) -> Option<Vec<u8>> {
    let byte = |letter: char| {
        let special = WINDOWS.iter().position(|known| *known == letter).filter(|_| windows);
        special.and_then(|at| u8::try_from(at + 0x80).ok()).or_else(|| u8::try_from(u32::from(letter)).ok())
    };
    text.chars().map(byte).collect()
}

fn from_utf16(bytes: &[u8]) -> Option<Vec<u8>> {
    if bytes.len() < 4 || !bytes.len().is_multiple_of(2) {
        return None;
    }
    let little = match bytes {
        [0xff, 0xfe, ..] | [_, 0, _, 0, ..] => true,
        [0xfe, 0xff, ..] | [0, _, 0, _, ..] => false,
        _ => return None,
    };
    let units = bytes.chunks_exact(2).map(|two| {
        let two = [two[0], two[1]];
        if little { u16::from_le_bytes(two) } else { u16::from_be_bytes(two) }
    });
    let text: Result<String, _> = char::decode_utf16(units).collect();
    let text = text.ok()?;
    let plain = text.as_bytes();
    Some(plain.strip_prefix(BOM).unwrap_or(plain).to_vec())
}

fn to_utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_go_through_and_back() {
        let text = "Zoë – €5";
        assert_eq!(from_single(&to_single(text, true).unwrap(), true), text);
        assert_eq!(to_single("–", false), None);
        assert_eq!(from_utf16(&to_utf16(text)).unwrap(), text.as_bytes());
        assert_eq!(from_utf16(b"odd"), None);
    }
}
