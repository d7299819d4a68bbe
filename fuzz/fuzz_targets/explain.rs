//! An explanation never panics or takes too long, and never finds a request valid that nobody signed.
#![no_main]

use std::time::{Duration, Instant};

use bytes::Bytes;
use hookmitt_event::{HeaderLines, HttpVersion, Request, Timestamp, Verdict};
use hookmitt_verify::{Context, Inquiry, Secret, explain, providers};
use libfuzzer_sys::fuzz_target;

/// Generous, because a sanitizer and a busy machine make an explanation many times slower.
const LONGEST: Duration = Duration::from_secs(20);

fuzz_target!(|data: &[u8]| {
    let [which, rest @ ..] = data else { return };
    let cut = rest.windows(2).position(|two| two == b"\n\n").map_or(rest.len(), |cut| cut + 1);
    let Ok(headers) = HeaderLines::from_wire(Bytes::copy_from_slice(&rest[..cut])) else { return };
    let body = Bytes::copy_from_slice(rest.get(cut + 1..).unwrap_or_default());
    let request = Request {
        method: "POST".to_owned(),
        path: "/in".to_owned(),
        query: Some("a=1&b=2".to_owned()),
        version: HttpVersion::Http11,
        headers,
        body,
    };
    let Some(provider) = providers().nth(usize::from(*which)) else { return };
    let secrets = [Secret::new("nobody's", "whsec_bm9ib2R5IGtub3dzIHRoaXMgc2VjcmV0IQ".as_bytes().to_vec())];
    let others = [Secret::new("other/main", "nobody knows this one either".as_bytes().to_vec())];
    let urls = ["https://hooks.example.com/in?a=1".to_owned()];
    let began = Instant::now();
    let inquiry = Inquiry {
        request: &request,
        url: Some("http://127.0.0.1:4400/in?a=1&b=2"),
        provider: Some(provider),
        generic: None,
        scheme: None,
        secrets: &secrets,
        tolerance: None,
        at: Timestamp::from_seconds(1_750_000_000),
        params: &[],
        published: None,
    };
    let nearby = [request.clone()];
    let context = Context { secrets: &others, requests: &nearby, urls: &urls, ..Context::default() };
    let found = explain(&inquiry, &context);
    assert_ne!(found.verdict, Verdict::Valid, "{}", provider.id);
    assert!(began.elapsed() < LONGEST, "{}", provider.id);
});
