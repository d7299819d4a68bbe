//! The form that a text must have before we sign it for its sender (Threat 11).
//!
//! A provider that sets up an endpoint sends a text and wants it back, signed with the source's secret. If a sender
//! could choose that text freely, it could have a forged event signed, and the signature would also be valid in the app
//! and in production.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::Deserialize;
use serde_json::Value;

/// The form of a provider's challenges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Challenge {
    /// A short word that no scheme could sign as the content of an event.
    #[default]
    Word,
    /// 20 to 32 hex digits in lower case, as Braintree's own SDKs check. This is safe because the key is the SHA-1 of
    /// the secret, which no other scheme uses, and with that key Braintree otherwise signs only XML in base64, which is
    /// never a run of hex digits.
    Hex,
}

const LONGEST_WORD: usize = 128;

/// Unix seconds have had ten digits since 2001, and nine before.
const SHORTEST_TIMESTAMP: usize = 9;

impl Challenge {
    /// Whether a text has this form.
    pub(crate) fn fits(self, text: &[u8]) -> bool {
        match self {
            Self::Word => {
                let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.~-".contains(byte);
                (1..=LONGEST_WORD).contains(&text.len())
                    && text.iter().all(is_plain)
                    && !may_be_an_event(text)
            }
            Self::Hex => {
                let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
                (20..=32).contains(&text.len()) && text.iter().all(is_digit)
            }
        }
    }
}

/// Whether a plain word could be the content that some scheme signs for an event. Most schemes put a character into
/// their content that no word has. A test checks the others in the catalogue:
///
/// - `{timestamp}.{body}` and `{timestamp}{token}` begin with a timestamp; `{id}.{timestamp}.{body}` has one between
///   dots.
/// - A token's `{header}.{claims}` begins with a JSON object in base64url.
/// - A body at the end of any other content follows a dot.
/// - `{body}` is JSON. A word is JSON if it is a number, `true`, `false` or `null`. No provider sends any other word as
///   a body, and a handler would find neither an object nor a form field in it.
fn may_be_an_event(word: &[u8]) -> bool {
    let digits = |part: &[u8]| part.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let begins_with_one = |part: &[u8]| digits(part) >= SHORTEST_TIMESTAMP && !part.starts_with(b"0");
    let is_timestamp = |part: &[u8]| begins_with_one(part) && digits(part) == part.len();
    let mut parts = word.split(|byte| *byte == b'.');
    let first = parts.next().unwrap_or_default();
    let is_json = |text: &[u8]| serde_json::from_slice::<Value>(text).is_ok();
    let ends_as_json = || (1..word.len()).any(|at| word[at - 1] == b'.' && is_json(&word[at..]));
    let is_object = |text: Vec<u8>| serde_json::from_slice::<serde_json::Map<String, Value>>(&text).is_ok();
    begins_with_one(word)
        || parts.any(is_timestamp)
        || is_json(word)
        || ends_as_json()
        || first.len() < word.len() && URL_SAFE_NO_PAD.decode(first).is_ok_and(is_object)
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::STANDARD;
    use hookmitt_event::{HeaderLines, Timestamp};

    use super::*;
    use crate::{
        algorithm::Algorithm,
        catalogue::providers,
        content::Parts,
        request_view::RequestView,
        scheme::{Scheme, Special},
        timestamp,
    };

    #[test]
    fn threat_11_a_challenge_has_its_provider_s_form() {
        let longest = "a".repeat(128);
        let all = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_.~-";
        let words =
            ["a-plain-token", "qgg8vlvZRS6UYooatFL8Aw", "A_b.c~d-9", "12345678x", "v0", all, &longest];
        for word in words {
            assert!(Challenge::Word.fits(word.as_bytes()), "{word}");
        }
        let longer = "a".repeat(129);
        let none = [
            "",
            &longer,
            "v0:1:{}",
            "a b",
            "a\n",
            "{}",
            "a=b",
            "a/b",
            "a+b",
            "\u{e9}",
            "a\0",
            "1",
            "-1.5e3",
            "true",
            "null",
            "1700000000.x",
            "1700000000x",
            "1700000000.",
            "msg_1.1700000000.x",
            "msg_1.1700000000",
            "eyJhbGciOiJIUzI1NiJ9.e30",
            "IHsiYSI6MX0.e30",
            "e30.",
            "0.true",
            "x.99.null",
        ];
        for text in none {
            assert!(!Challenge::Word.fits(text.as_bytes()), "{text:?}");
        }
        for (text, fits) in [
            ("0123456789abcdef0123", true),
            ("0123456789abcdef0123456789abcdef", true),
            ("0123456789abcdef012", false),
            ("0123456789abcdef0123456789abcdef0", false),
            ("0123456789abcdef012g", false),
            ("0123456789ABCDEF0123", false),
            ("0123456789abcdef012\n", false),
            ("", false),
        ] {
            assert_eq!(Challenge::Hex.fits(text.as_bytes()), fits, "{text:?}");
        }
    }

    /// Returns what a scheme signs for the smallest possible events.
    fn contents(scheme: &Scheme) -> Vec<Vec<u8>> {
        let headers = HeaderLines::from_pairs([("x", "1")]).unwrap();
        let signed = |body: &[u8]| {
            let view = RequestView {
                method: "POST",
                url: Some("https://h.example/in"),
                query: None,
                headers: &headers,
                body,
                params: &[],
            };
            let unit = scheme.clock.as_ref().map(|clock| clock.unit).unwrap_or_default();
            let stamp = timestamp::write(unit, Timestamp::from_seconds(1_700_000_000));
            let parts = Parts { view, id: b"msg_1".into(), timestamp: stamp.as_bytes().into() };
            let mut content = Vec::new();
            scheme.content.feed(&parts, b"secret", |bytes| content.extend_from_slice(bytes));
            content
        };
        if scheme.algorithm.is_jwt() {
            return vec![b"eyJhbGciOiJIUzI1NiJ9.e30".to_vec(), b"eyJhIjoxfQ.eyJhIjoxfQ".to_vec()];
        }
        if scheme.special == Some(Special::Braintree) {
            return vec![STANDARD.encode("<n><kind>check</kind></n>\n").into_bytes()];
        }
        let bodies: [&[u8]; 9] = [b"", b"1", b"true", b"null", b"{}", b"[]", b"a=", b"\"a\"", b"<a/>"];
        bodies.into_iter().map(signed).collect()
    }

    #[test]
    fn threat_11_no_challenge_is_what_a_scheme_of_the_catalogue_signs() {
        let mut seen = 0;
        for provider in providers() {
            // Challenges are answered with a keyed hash. HubSpot's older schemes use plain hashes, so they are left
            // out.
            let is_keyed = |scheme: &&Scheme| {
                let plain =
                    matches!(scheme.algorithm, Algorithm::Token | Algorithm::None | Algorithm::Sha256);
                !scheme.takes_public_key() && !plain
            };
            for scheme in provider.schemes.iter().filter(is_keyed) {
                for content in contents(scheme) {
                    seen += 1;
                    let text = String::from_utf8_lossy(&content);
                    assert!(!Challenge::Word.fits(&content), "{}: {text}", scheme.id);
                    assert!(!Challenge::Hex.fits(&content), "{}: {text}", scheme.id);
                }
            }
        }
        assert!(seen > 300, "{seen}");
    }
}
