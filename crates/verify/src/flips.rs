//! Whatever a scheme covers, one bit of it decides: body, signature, timestamp and signed URL.

use hookmitt_event::{HeaderLines, Request, Timestamp, Verdict};
use proptest::prelude::*;

use crate::{
    Inquiry, Provider, Secret, SignBy,
    content::Piece,
    form, judge,
    place::Place,
    providers, sample, sample_types,
    scheme::{Algorithm, Encoding, Scheme, Special},
    sign,
    signature::Signed,
    test_secret,
    view::View,
};

const AT: Timestamp = Timestamp::from_seconds(1_750_000_000);
const URL: &str = "https://hooks.example.com/in";

/// A genuine event.
struct Genuine {
    provider: &'static Provider,
    scheme: &'static Scheme,
    request: Request,
    url: String,
    secret: Secret,
    params: Vec<(String, String)>,
}

/// Every sample that can be signed.
fn genuine() -> Vec<Genuine> {
    let kinds =
        providers().flat_map(|provider| sample_types(provider).into_iter().map(move |kind| (provider, kind)));
    kinds.filter_map(|(provider, kind)| Genuine::new(provider, kind)).collect()
}

impl Genuine {
    fn new(provider: &'static Provider, kind: &str) -> Option<Self> {
        let made = sample(provider, Some(kind), "0197-flips", AT).ok()?;
        let secret = test_secret(provider).value;
        let params: Vec<_> = provider
            .params
            .iter()
            .filter(|param| param.name != "topic_arn")
            .map(|param| (param.name.clone(), "configured".to_owned()))
            .collect();
        let called = |request: &Request| {
            request.query.as_ref().map_or_else(|| URL.to_owned(), |query| format!("{URL}?{query}"))
        };
        let url = called(&made);
        let by = SignBy { url: Some(&url), params: &params, ..SignBy::new(provider, secret.as_bytes(), AT) };
        let request = sign(&by, &made).ok()?;
        let url = called(&request);
        let secret = Secret::new("test", secret);
        let mut found = Self { provider, scheme: provider.schemes.first()?, request, url, secret, params };
        let judgement = found.judged(&found.request, &found.url);
        let id = judgement.1.filter(|_| judgement.0 == Verdict::Valid)?;
        found.scheme = provider.schemes.iter().find(|scheme| scheme.id == id)?;
        Some(found)
    }

    fn judged(&self, request: &Request, url: &str) -> (Verdict, Option<&'static str>) {
        let judgement = judge(&Inquiry {
            request,
            url: Some(url),
            provider: Some(self.provider),
            generic: None,
            scheme: None,
            secrets: std::slice::from_ref(&self.secret),
            tolerance: None,
            at: AT,
            params: &self.params,
            published: None,
        });
        (judgement.verdict, judgement.scheme)
    }

    fn holds(&self, request: &Request) -> bool {
        self.judged(request, &self.url).0 == Verdict::Valid
    }

    /// Whether every byte of the body counts.
    fn covers_body(&self) -> bool {
        let pieces = self.scheme.content.pieces();
        let whole = pieces.contains(&Piece::Body) || pieces.contains(&Piece::Crc32);
        let payload = pieces.contains(&Piece::Payload) && !form::is_form(&self.request.headers);
        let hashed = self.scheme.jwt.as_ref().is_some_and(|rules| rules.body_hash.is_some());
        whole
            || payload
            || hashed
            || self.scheme.body_hash.is_some()
            || self.scheme.special == Some(Special::Contentful)
    }

    fn signed(&self) -> Option<Signed<'_>> {
        Signed::find(
            self.scheme,
            View { url: Some(&self.url), params: &self.params, ..View::of_request(&self.request) },
        )
    }

    /// The request with one bit of a header's value flipped, between two of its bytes; `None` where no header can
    /// say that.
    fn with_flip(&self, name: &str, part: &[u8], at: usize, bit: u8) -> Option<Request> {
        let line = self.request.headers.get(name)?;
        let start = line.windows(part.len()).position(|window| window == part)?;
        let mut value = line.to_vec();
        value[start + at % part.len()] ^= 1 << bit;
        let lines = self.request.headers.iter().map(|known| {
            let own = known.name.eq_ignore_ascii_case(name);
            (known.name.to_owned(), if own { value.clone() } else { known.value.to_vec() })
        });
        Some(Request { headers: HeaderLines::from_pairs(lines).ok()?, ..self.request.clone() })
    }

    /// What is wrong when one bit is flipped; `None` where all is well.
    fn complaint(&self, at: usize, bit: u8) -> Option<String> {
        let (id, scheme) = (&self.provider.id, &self.scheme.id);
        let said = |part: &str| Some(format!("{id} {scheme}: {part}, byte {at}, bit {bit}"));
        if self.covers_body() && !self.request.body.is_empty() {
            let mut body = self.request.body.to_vec();
            let at = at % body.len();
            body[at] ^= 1 << bit;
            if self.holds(&Request { body: body.into(), ..self.request.clone() }) {
                return said("body");
            }
        }
        if self.scheme.content.has_url() && bit < 7 {
            let mut url = self.url.clone().into_bytes();
            let at = at % url.len();
            url[at] ^= 1 << bit;
            if self.judged(&self.request, std::str::from_utf8(&url).ok()?).0 == Verdict::Valid {
                return said("URL");
            }
        }
        let signed = self.signed()?;
        let header = self.scheme.signature.get(signed.place).and_then(Place::header)?;
        let given = signed.accepted().next()?;
        let flipped = self.with_flip(header, given, at, bit);
        // Where hex in upper case counts too, the bit that makes it so doesn't matter.
        let decoded = self.scheme.takes_public_key() && self.scheme.encoding == Encoding::Hex;
        let case = (self.scheme.upper || decoded) && bit == 5;
        if flipped.is_some_and(|request| !case && self.holds(&request)) {
            return said("signature");
        }
        if self.scheme.content.has_timestamp() && self.scheme.algorithm != Algorithm::Token {
            let place = self.scheme.timestamp.first().and_then(Place::header).unwrap_or(header);
            let flipped = self.with_flip(place, &signed.parts.timestamp, at, bit);
            if flipped.is_some_and(|request| self.holds(&request)) {
                return said("timestamp");
            }
        }
        None
    }
}

#[test]
fn no_flipped_bit_verifies() {
    let all = genuine();
    assert!(all.len() > 100, "only {} samples are genuine", all.len());
    let flips = (any::<prop::sample::Index>(), any::<usize>(), 0u8..8);
    let config = ProptestConfig { cases: 6000, failure_persistence: None, ..ProptestConfig::default() };
    let result = proptest::test_runner::TestRunner::new(config).run(&flips, |(which, at, bit)| {
        let complaint = which.get(&all).complaint(at, bit);
        prop_assert!(complaint.is_none(), "{}", complaint.unwrap_or_default());
        Ok(())
    });
    result.unwrap();
}
