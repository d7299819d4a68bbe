//! Reads a signature out of its header, and the parts that belong to it.

use hookmitt_event::HeaderLines;

use crate::{
    content::Parts,
    scheme::{Format, Scheme, TagMode},
};

/// A signature header as it came, with the parts that the scheme signs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Signed<'a> {
    pub(crate) scheme: &'a Scheme,
    /// The signature header's whole value; not empty.
    pub(crate) raw: &'a [u8],
    pub(crate) parts: Parts<'a>,
}

impl<'a> Signed<'a> {
    /// What that scheme finds in these headers; `None` where its signature header is absent or empty.
    pub(crate) fn find(scheme: &'a Scheme, headers: &'a HeaderLines, body: &'a [u8]) -> Option<Self> {
        let names = &scheme.headers.signature;
        let (index, raw) = names.iter().enumerate().find_map(|(index, name)| {
            headers.get_all(name).find(|value| !value.is_empty()).map(|value| (index, value))
        })?;
        let part = |names: &[String]| {
            let mut names = names.get(index).into_iter().chain(names);
            names.find_map(|name| headers.get(name)).unwrap_or_default()
        };
        let field = scheme.clock.as_ref().and_then(|clock| clock.field.as_deref());
        let timestamp = match field {
            Some(field) => {
                fields(raw).find(|(name, _)| *name == field.as_bytes()).map_or(&[][..], |(_, text)| text)
            }
            None => part(&scheme.headers.timestamp),
        };
        Some(Self { scheme, raw, parts: Parts { id: part(&scheme.headers.id), timestamp, body } })
    }

    /// The signatures that count, as they are written.
    pub(crate) fn accepted(&self) -> impl Iterator<Item = &'a [u8]> {
        let scheme = self.scheme;
        let plain = (scheme.format == Format::Plain)
            .then(|| self.raw.strip_prefix(scheme.prefix.as_bytes()))
            .flatten();
        let of_fields = if scheme.format == Format::Fields { self.raw } else { &[] };
        let of_list = if scheme.format == Format::List { self.raw } else { &[] };
        let fields =
            fields(of_fields).filter(|(name, _)| *name == scheme.version.as_bytes()).map(|(_, value)| value);
        let list = of_list.split(|byte| *byte == b' ').filter_map(|entry| in_list(scheme, entry));
        plain.into_iter().chain(fields).chain(list).filter(|value| !value.is_empty())
    }

    /// Whether the header holds no signature at all, only what goes with one.
    pub(crate) fn is_bare(&self) -> bool {
        let field = self.scheme.clock.as_ref().and_then(|clock| clock.field.as_deref());
        field.is_some_and(|field| {
            self.raw.split(|byte| *byte == b',').all(|entry| {
                let name = entry.split(|byte| *byte == b'=').next().unwrap_or_default();
                name == field.as_bytes() && entry.len() > name.len()
            })
        })
    }
}

/// The `name=value` fields of a header such as `t=1,v1=ab`; what has no `=` is left out.
pub(crate) fn fields(raw: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    raw.split(|byte| *byte == b',').filter_map(|entry| {
        let equals = entry.iter().position(|byte| *byte == b'=')?;
        Some((&entry[..equals], &entry[equals + 1..]))
    })
}

/// The signature of one entry of a list such as `v1,ab v1,cd`, where it counts.
fn in_list<'a>(scheme: &Scheme, entry: &'a [u8]) -> Option<&'a [u8]> {
    let mut parts = entry.split(|byte| *byte == b',');
    let (tag, value) = (parts.next()?, parts.next());
    match (scheme.tag, value) {
        (TagMode::Any, Some(value)) => Some(value),
        (_, Some(value)) if tag == scheme.version.as_bytes() => Some(value),
        (TagMode::Optional, None) => Some(tag),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider;

    fn accepted(id: &str, pairs: &[(&str, &str)]) -> Option<Vec<String>> {
        let headers = HeaderLines::from_pairs(pairs.iter().copied()).unwrap();
        let signed = Signed::find(&provider(id).unwrap().schemes[0], &headers, b"")?;
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
