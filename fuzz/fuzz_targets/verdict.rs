//! Requests that nobody signed: without the secret, no header lines and no body are valid for any provider.
#![no_main]

use bytes::Bytes;
use hookmitt_event::{HeaderLines, HttpVersion, Request, Timestamp, Verdict};
use hookmitt_verify::{Inquiry, Secret, facts, judge, providers, recognise};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let cut = data.windows(2).position(|two| two == b"\n\n").map_or(data.len(), |cut| cut + 1);
    let Ok(headers) = HeaderLines::from_wire(Bytes::copy_from_slice(&data[..cut])) else { return };
    let body = Bytes::copy_from_slice(data.get(cut + 1..).unwrap_or_default());
    let request = Request {
        method: "POST".to_owned(),
        path: String::new(),
        query: None,
        version: HttpVersion::Http11,
        headers,
        body,
    };
    let secrets = [Secret::new("nobody's", "whsec_bm9ib2R5IGtub3dzIHRoaXMgc2VjcmV0IQ".as_bytes().to_vec())];
    let recognised = recognise(&request);
    for provider in providers() {
        let judgement = judge(&Inquiry {
            request: &request,
            url: None,
            provider: Some(provider),
            generic: None,
            scheme: None,
            secrets: &secrets,
            tolerance: None,
            at: Timestamp::from_seconds(1_750_000_000),
            params: &[],
            published: None,
        });
        assert_ne!(judgement.verdict, Verdict::Valid, "{}", provider.id);
    }
    let _facts = facts(&request, recognised, None);
});
