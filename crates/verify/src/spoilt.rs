//! Finds out whether a changed request still has a signature of the original, which no longer fits.

use hookmitt_event::Request;

use crate::{
    generic,
    request_view::RequestView,
    scheme::Scheme,
    sign::{SignBy, sign},
};

/// Whether `after` still has a signature of `before`, although something that is signed was changed.
///
/// Signs both requests alike and compares the signatures, so the secret need not be the one that signed `before`. Returns
/// `false` if they can't be signed.
pub fn fits_no_more(by: &SignBy<'_>, before: &Request, after: &Request) -> bool {
    let own = by.generic.and_then(|generic| generic::compile(generic).ok().flatten());
    let schemes = own.as_ref().map_or(&by.provider.schemes[..], std::slice::from_ref);
    let kept = signatures(schemes, after);
    if !signatures(schemes, before).iter().any(|signature| kept.contains(signature)) {
        return false;
    }
    let signed = |request| sign(by, request).ok().map(|signed| signatures(schemes, &signed));
    match (signed(before), signed(before), signed(after)) {
        // Some algorithms use random numbers, so that even equal requests get different signatures. Almost all of them
        // sign the body.
        (Some(once), Some(again), Some(_)) if once != again => before.body != after.body,
        (Some(once), _, Some(changed)) => once != changed,
        _ => false,
    }
}

fn signatures(schemes: &[Scheme], request: &Request) -> Vec<Vec<u8>> {
    let view = RequestView::of_request(request);
    let places = schemes.iter().flat_map(|scheme| &scheme.signature);
    places.flat_map(|place| place.read_all(&view)).map(|value| value.into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use hookmitt_event::{GenericScheme, HeaderLines, Timestamp};

    use super::*;
    use crate::{provider, providers, sample, test_secret};

    fn by(id: &str) -> SignBy<'static> {
        let provider = provider(id).unwrap();
        let secret = Box::leak(Box::new(test_secret(provider)));
        SignBy {
            url: Some("https://a.example.com/x"),
            ..SignBy::new(provider, secret.value.as_bytes(), Timestamp::from_seconds(0))
        }
    }

    /// A signed sample, the same with another body, and the same with one more header line.
    fn edits(by: &SignBy<'_>) -> [Request; 3] {
        let now = Timestamp::from_seconds(1_800_000_000);
        let request = sample(by.provider, None, "seed", now).unwrap();
        let signed = sign(&SignBy { at: now, ..*by }, &request).unwrap();
        let body = [&signed.body[..], b" "].concat();
        let line = [&signed.headers.as_wire()[..], b"X-Other: 1\r\n"].concat();
        let headers = HeaderLines::from_wire(Bytes::from(line)).unwrap();
        [signed.clone(), Request { body: Bytes::from(body), ..signed.clone() }, Request { headers, ..signed }]
    }

    #[test]
    fn a_change_of_what_is_signed_is_told_from_another() {
        for id in ["github", "stripe", "slack", "standardwebhooks", "discord", "linear"] {
            let by = by(id);
            let [signed, other_body, other_line] = edits(&by);
            assert!(fits_no_more(&by, &signed, &other_body), "{id}");
            assert!(!fits_no_more(&by, &signed, &other_line), "{id}: that line isn't signed");
            assert!(!fits_no_more(&by, &signed, &signed), "{id}");
        }
    }

    #[test]
    fn a_token_fits_every_body_and_a_signature_that_is_gone_none() {
        let telegram = by("telegram");
        let [signed, other_body, _] = edits(&telegram);
        assert!(!fits_no_more(&telegram, &signed, &other_body));
        let github = by("github");
        let [signed, other_body, _] = edits(&github);
        let unsigned = Request { headers: HeaderLines::default(), ..other_body };
        assert!(!fits_no_more(&github, &signed, &unsigned));
    }

    #[test]
    fn a_scheme_of_the_source_counts_instead_of_the_provider_s() {
        let generic =
            GenericScheme { signature_header: Some("X-Sign".to_owned()), ..GenericScheme::default() };
        let by = SignBy {
            generic: Some(&generic),
            ..SignBy::new(providers().next().unwrap(), b"hush", Timestamp::from_seconds(0))
        };
        let [signed, other_body, other_line] = edits(&by);
        assert!(fits_no_more(&by, &signed, &other_body));
        assert!(!fits_no_more(&by, &signed, &other_line));
    }
}
