//! Reads a signature from its place in a request, and the parts that belong to it.

use std::borrow::Cow;

use crate::{
    content::Parts,
    place::Place,
    request_view::RequestView,
    scheme::{Format, Scheme, Special, TagMode},
};

/// A signature as it was received, with the parts that the scheme signs.
#[derive(Debug, Clone)]
pub(crate) struct Signed<'a> {
    pub(crate) scheme: &'a Scheme,
    /// The whole, non-empty values at the signature's place. There are several if several places count.
    pub(crate) raws: Vec<Cow<'a, [u8]>>,
    /// The index of that place in the scheme.
    pub(crate) place: usize,
    pub(crate) parts: Parts<'a>,
}

impl<'a> Signed<'a> {
    /// Reads a scheme's signature from a request; `None` if its places are absent or empty.
    pub(crate) fn find(scheme: &'a Scheme, view: RequestView<'a>) -> Option<Self> {
        let read = |(at, place): (usize, &Place)| {
            let raws = place.read_all(&view);
            (!raws.is_empty()).then_some((at, raws))
        };
        let mut places = scheme.signature.iter().enumerate().filter_map(read);
        let (place, mut raws) = places.next()?;
        // Several headers of the same name are an error of the sender. The first one counts, as in the providers' SDKs.
        if let Place::Header(_) = &scheme.signature[place] {
            raws.truncate(1);
        }
        if scheme.every {
            raws.extend(places.flat_map(|(_, more)| more));
        }
        let part = |places: &[Place]| {
            let mut places = places.get(place).into_iter().chain(places);
            places.find_map(|place| place.read(&view)).unwrap_or_default()
        };
        let timestamp = match scheme.timestamp_field() {
            Some(name) => Cow::Owned(field(scheme, &raws[0], name).to_vec()),
            None => part(&scheme.timestamp),
        };
        let id = part(&scheme.message_id);
        Some(Self { scheme, raws, place, parts: Parts { view, id, timestamp } })
    }

    /// Returns the whole first value.
    pub(crate) fn raw(&self) -> &[u8] {
        &self.raws[0]
    }

    /// Describes the signature's place: the name of its header, or another place in words.
    pub(crate) fn place_words(&self) -> String {
        self.scheme.signature[self.place].words()
    }

    /// Iterates over the signatures that count, in their encoded form.
    pub(crate) fn accepted(&self) -> impl Iterator<Item = &[u8]> {
        self.raws.iter().flat_map(|raw| self.accepted_in(raw))
    }

    /// Returns the signatures that count in one value.
    pub(crate) fn accepted_in<'r>(&'r self, raw: &'r [u8]) -> Vec<&'r [u8]> {
        let scheme = self.scheme;
        let found: Vec<&[u8]> = match scheme.format {
            _ if scheme.special == Some(Special::Braintree) => self.of_pairs(raw),
            Format::Plain => {
                let mut longest_first: Vec<_> = scheme.all_prefixes().collect();
                longest_first.sort_by_key(|prefix| std::cmp::Reverse(prefix.len()));
                longest_first
                    .iter()
                    .find_map(|prefix| raw.strip_prefix(prefix.as_bytes()))
                    .into_iter()
                    .collect()
            }
            Format::Fields => {
                let own = |(name, _): &(&[u8], &[u8])| *name == scheme.version.as_bytes();
                fields(scheme, raw).filter(own).map(|(_, value)| value).collect()
            }
            Format::List => {
                raw.split(|byte| *byte == b' ').filter_map(|entry| in_list(scheme, entry)).collect()
            }
        };
        found.into_iter().filter(|value| !value.is_empty()).collect()
    }

    /// Returns the signatures in `key id|signature&key id|signature` that have the configured key id, or all if none is
    /// configured.
    fn of_pairs<'r>(&'r self, raw: &'r [u8]) -> Vec<&'r [u8]> {
        let own = self.parts.view.param("public_key_id").map(str::as_bytes);
        let pairs = raw.split(|byte| *byte == b'&').filter_map(|pair| {
            let bar = pair.iter().position(|byte| *byte == b'|')?;
            Some((&pair[..bar], &pair[bar + 1..]))
        });
        pairs.filter(|(id, _)| own.is_none_or(|own| *id == own)).map(|(_, signature)| signature).collect()
    }

    /// Whether the header has a timestamp field but no signature at all.
    pub(crate) fn is_bare(&self) -> bool {
        self.scheme.timestamp_field().is_some_and(|field| {
            self.raw().split(|byte| *byte == self.scheme.field_separator()).all(|entry| {
                let entry = entry.trim_ascii();
                let name = entry.split(|byte| *byte == b'=').next().unwrap_or_default();
                let value = entry.get(name.len() + 1..).unwrap_or_default();
                // Another `=` in the value means that a signature follows behind a separator that isn't the scheme's.
                name == field.as_bytes() && entry.len() > name.len() && !value.contains(&b'=')
            })
        })
    }
}

fn field<'r>(scheme: &Scheme, raw: &'r [u8], name: &str) -> &'r [u8] {
    let mut found = fields(scheme, raw).filter(|(known, _)| *known == name.as_bytes());
    found.next().map_or(&[], |(_, value)| value)
}

/// Iterates over the `name=value` fields of a header such as `t=1,v1=ab`, without entries that have no `=`.
pub(crate) fn fields<'r>(scheme: &Scheme, raw: &'r [u8]) -> impl Iterator<Item = (&'r [u8], &'r [u8])> {
    let (separator, trim) = (scheme.field_separator(), scheme.trim);
    raw.split(move |byte| *byte == separator).filter_map(move |entry| {
        let entry = if trim { entry.trim_ascii() } else { entry };
        let equals = entry.iter().position(|byte| *byte == b'=')?;
        Some((&entry[..equals], &entry[equals + 1..]))
    })
}

/// The tag of an Ed25519 signature in a list.
const ED25519: &[u8] = b"v1a";

/// Returns the signature in one entry of a list such as `v1,ab v1,cd`, if it counts.
fn in_list<'a>(scheme: &Scheme, entry: &'a [u8]) -> Option<&'a [u8]> {
    let mut parts = entry.split(|byte| *byte == b',');
    let (tag, value) = (parts.next()?, parts.next());
    match (scheme.tag, value) {
        // The tag of an Ed25519 signature names its algorithm; the sender's own verifier treats all other tags alike.
        (TagMode::Any, Some(value)) if tag != ED25519 => Some(value),
        (_, Some(value)) if tag == scheme.version.as_bytes() => Some(value),
        (TagMode::Optional, None) => Some(tag),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use hookmitt_event::HeaderLines;

    use super::*;
    use crate::catalogue::provider;

    fn accepted(id: &str, pairs: &[(&str, &str)]) -> Option<Vec<String>> {
        let headers = HeaderLines::from_pairs(pairs.iter().copied()).unwrap();
        let view =
            RequestView { method: "POST", url: None, query: None, headers: &headers, body: b"", params: &[] };
        let signed = Signed::find(&provider(id).unwrap().schemes[0], view)?;
        Some(signed.accepted().map(|value| String::from_utf8_lossy(value).into_owned()).collect())
    }

    #[test]
    fn signatures_are_read_in_every_format() {
        type Row = (&'static str, (&'static str, &'static str), Option<&'static [&'static str]>);
        let table: [Row; 13] = [
            ("github", ("x-hub-signature-256", "sha256=ab"), Some(&["ab"])),
            ("github", ("X-Hub-Signature-256", "ab"), Some(&[])),
            ("github", ("X-Hub-Signature-256", ""), None),
            ("github", ("X-Hub-Signature", "sha1=ab"), None),
            ("stripe", ("Stripe-Signature", "t=1,v1=ab,v0=cd,v1=ef"), Some(&["ab", "ef"])),
            ("stripe", ("Stripe-Signature", "t=1, v1=ab"), Some(&[])),
            ("standardwebhooks", ("webhook-signature", "v1,ab v1a,cd v1,ef="), Some(&["ab", "ef="])),
            ("standardwebhooks", ("webhook-signature", "v1,ab,v1,cd"), Some(&["ab"])),
            ("standardwebhooks", ("webhook-signature", "ab"), Some(&[])),
            ("openai", ("webhook-signature", "ab v1,cd v2,ef"), Some(&["ab", "cd"])),
            ("liveblocks", ("webhook-signature", "v2,ab"), Some(&["ab"])),
            ("svix", ("webhook-signature", "v1,ab"), Some(&["ab"])),
            ("clerk", ("webhook-signature", "v1,ab"), None),
        ];
        for (id, pair, expected) in table {
            let found = accepted(id, &[pair]);
            assert_eq!(
                found,
                expected.map(|list| list.iter().map(|it| (*it).to_owned()).collect()),
                "{id} {pair:?}"
            );
        }
    }
}
