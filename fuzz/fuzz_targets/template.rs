//! Settings of a source's own signature scheme, as strangers may share them: they are refused or used. Nothing panics,
//! and no unsigned request becomes valid.
#![no_main]

use bytes::Bytes;
use hookmitt_event::{GenericScheme, HeaderLines, HttpVersion, Request, Timestamp, Verdict};
use hookmitt_verify::{Context, Inquiry, Secret, explain, facts, validate_generic};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let mut lines = text.lines().map(str::to_owned);
    let generic = GenericScheme {
        signature_header: lines.next().filter(|name| !name.is_empty()).or(Some("X-Signature".to_owned())),
        signed_content: lines.next().filter(|content| !content.is_empty()),
        prefix: lines.next().filter(|prefix| !prefix.is_empty()),
        timestamp_header: lines.next().filter(|name| !name.is_empty()),
        id_at: lines.next().filter(|place| !place.is_empty()),
        type_at: lines.next().filter(|place| !place.is_empty()),
        ..GenericScheme::default()
    };
    let _refused = validate_generic(&generic).is_err();
    let rest: String = lines.collect::<Vec<_>>().join("\n");
    let pairs = [("X-Signature", "00".repeat(32)), ("X-Time", "1750000000".to_owned())];
    let Ok(headers) = HeaderLines::from_pairs(pairs) else { return };
    let request = Request {
        method: "POST".to_owned(),
        path: "/in".to_owned(),
        query: None,
        version: HttpVersion::Http11,
        headers,
        body: Bytes::from(rest),
    };
    let secrets = [Secret::new("main", "a secret of the fuzzer".as_bytes().to_vec())];
    let inquiry = Inquiry {
        request: &request,
        url: Some("https://hooks.example.com/in"),
        provider: None,
        generic: Some(&generic),
        scheme: None,
        secrets: &secrets,
        tolerance: None,
        at: Timestamp::from_seconds(1_750_000_000),
        params: &[],
        published: None,
    };
    let found = explain(&inquiry, &Context::default());
    assert_ne!(found.verdict, Verdict::Valid);
    let _facts = facts(&request, None, Some(&generic));
});
