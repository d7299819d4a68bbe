//! The texts of answers to set-up requests: templates whose placeholders are copied or computed from the request.

use crate::{
    algorithm::Encoding, challenge::Challenge, key_bytes::key_bytes, mac::Mac, place::Place,
    provider::Provider, request_view::RequestView, secret::Secret,
};

/// The secret that signs an answer, and the form that a signed text must have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Signer<'a> {
    pub(crate) provider: &'a Provider,
    pub(crate) secret: &'a Secret,
    pub(crate) challenge: Challenge,
}

/// A template with placeholders. A brace that doesn't start a placeholder stays a brace, because answers are often
/// JSON.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct AnswerText(Vec<Piece>);

#[derive(Debug, PartialEq, Eq)]
enum Piece {
    Literal(String),
    At(Place),
    /// `hmac-hex:PLACE`: the keyed hash of the value at that place, under the source's secret, in hex.
    Hmac(Place),
}

impl AnswerText {
    pub(crate) fn parse(text: &str) -> Self {
        let mut pieces = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some((before, tail)) = rest.split_once('{') {
            literal.push_str(before);
            let named = tail.split_once('}').and_then(|(name, after)| Some((Piece::parse(name)?, after)));
            match named {
                Some((piece, after)) => {
                    pieces.extend(
                        Some(std::mem::take(&mut literal))
                            .filter(|text| !text.is_empty())
                            .map(Piece::Literal),
                    );
                    pieces.push(piece);
                    rest = after;
                }
                None => {
                    literal.push('{');
                    rest = tail;
                }
            }
        }
        literal.push_str(rest);
        pieces.extend(Some(literal).filter(|text| !text.is_empty()).map(Piece::Literal));
        Self(pieces)
    }

    /// Whether computing the text needs the source's secret.
    pub(crate) fn needs_secret(&self) -> bool {
        self.0.iter().any(|piece| matches!(piece, Piece::Hmac(_)))
    }

    /// Returns the text with its placeholders filled in, escaped as JSON strings if `json`. Returns `None` if a value
    /// is missing or isn't UTF-8, or if a value has to be signed and there is no signer or the value isn't a challenge.
    pub(crate) fn fill(
        &self,
        view: &RequestView<'_>,
        signer: Option<Signer<'_>>,
        json: bool,
    ) -> Option<String> {
        let mut out = String::new();
        for piece in &self.0 {
            let value = match piece {
                Piece::Literal(text) => {
                    out.push_str(text);
                    continue;
                }
                Piece::At(place) => String::from_utf8(place.read(view)?.into_owned()).ok()?,
                Piece::Hmac(place) => signer?.sign(&place.read(view)?)?,
            };
            out.push_str(&if json { escaped(&value) } else { value });
        }
        Some(out)
    }
}

impl Piece {
    fn parse(name: &str) -> Option<Self> {
        let place = |text: &str| Place::try_from(text.to_owned()).ok();
        match name.strip_prefix("hmac-hex:") {
            Some(of) => place(of).map(Self::Hmac),
            None => place(name).map(Self::At),
        }
    }
}

impl Signer<'_> {
    /// Signs a challenge with the provider's keyed hash, always in hex. Returns `None` for a text that is no challenge.
    fn sign(&self, text: &[u8]) -> Option<String> {
        if !self.challenge.fits(text) {
            return None;
        }
        let made = self.provider.schemes.iter().find_map(|scheme| {
            let key = key_bytes(self.secret.value().expose(), scheme.key)?;
            Mac::new(scheme.algorithm, &key)
        });
        let mut mac = made?;
        mac.update(text);
        String::from_utf8(mac.finish(Encoding::Hex).as_bytes().to_vec()).ok()
    }
}

/// Escapes a text for use between the quotes of a JSON string.
fn escaped(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

#[cfg(test)]
mod tests {
    use hookmitt_event::HeaderLines;

    use super::*;
    use crate::catalogue::provider;

    fn filled(text: &str, json: bool, secret: Option<&str>) -> Option<String> {
        let headers = HeaderLines::from_pairs([("X-A", "b")]).unwrap();
        let view = RequestView {
            method: "POST",
            url: None,
            query: Some("q=1%202"),
            headers: &headers,
            body: br#"{"a":"say \"hi\"","n":7}"#,
            params: &[],
        };
        let secret = secret.map(|value| Secret::new("default", value.as_bytes().to_vec()));
        let signer = secret.as_ref().map(|secret| Signer {
            provider: provider("github").unwrap(),
            secret,
            challenge: Challenge::Word,
        });
        AnswerText::parse(text).fill(&view, signer, json)
    }

    #[test]
    fn a_brace_that_begins_no_place_is_a_brace() {
        let table = [
            ("{/a}", false, Some("say \"hi\"")),
            (r#"{"type":1}"#, true, Some(r#"{"type":1}"#)),
            (r#"{"x":"{/a}","y":{/n}}"#, true, Some(r#"{"x":"say \"hi\"","y":7}"#)),
            ("{header:x-a}|{query:q}", false, Some("b|1 2")),
            ("{/gone}", false, None),
            ("{hmac-hex:/a}", false, None),
            ("{", false, Some("{")),
        ];
        for (text, json, expected) in table {
            assert_eq!(filled(text, json, None).as_deref(), expected, "{text}");
        }
        let made = filled("{hmac-hex:header:x-a}", false, Some("key")).unwrap();
        assert_eq!(made, "bd934b8ba107eecc0221dc529b4ef01c223d5be757cf2b7c1674dc0faa5e533f");
        assert_eq!(filled("{hmac-hex:/a}", false, Some("key")), None, "it is no challenge");
        assert_eq!(filled("{hmac-hex:/n}", false, Some("key")), None, "a number is a JSON body");
    }
}
