//! The text with which events are compressed: the product's own samples, and the header lines that everybody sends.

use hookmitt_event::Timestamp;
use hookmitt_inbox::Dictionary;
use hookmitt_verify::{Provider, provider, sample, sample_types};

/// Lines that hosts, clients and proxies add to any request.
const COMMON: &str = "Forwarded: for=;host=;proto=https\r\nTraceparent: 00-\r\nX-Amzn-Trace-Id: Root=1-\r\n\
    CF-Connecting-IP: \r\nCF-IPCountry: US\r\nCF-RAY: \r\nCF-Visitor: {\"scheme\":\"https\"}\r\n\
    CDN-Loop: cloudflare; loops=1\r\nX-Request-Id: \r\nX-Real-IP: \r\nX-Forwarded-Host: \r\nX-Forwarded-Port: 443\r\n\
    X-Forwarded-Proto: https\r\nX-Forwarded-For: \r\nwebhook-id: msg_\r\nwebhook-timestamp: 1\r\n\
    webhook-signature: v1,\r\nX-Signature: sha256=\r\nContent-Type: application/x-www-form-urlencoded\r\n\
    Content-Type: application/json; charset=utf-8\r\nContent-Type: application/json\r\nAccept-Encoding: gzip\r\n\
    Accept-Encoding: gzip, deflate, br\r\nConnection: keep-alive\r\nConnection: close\r\nAccept: */*\r\n\
    Host: localhost:\r\nHost: 127.0.0.1:\r\nUser-Agent: \r\nContent-Length: 1";

/// The moment of all samples, because a dictionary is stored anew whenever its text changes.
const AT: Timestamp = Timestamp::from_seconds(1_800_000_000);

/// Returns the dictionary for events of a provider, or for those of none.
pub(super) fn dictionary(id: Option<&str>) -> Dictionary {
    let mut text = Vec::new();
    let known = id.and_then(provider);
    known.iter().for_each(|known| add_samples(&mut text, known));
    text.extend(COMMON.as_bytes());
    Dictionary { name: known.map_or("any", |known| &known.id).to_owned(), text }
}

fn add_samples(text: &mut Vec<u8>, provider: &'static Provider) {
    for kind in sample_types(provider) {
        let Ok(sample) = sample(provider, Some(kind), "1", AT) else { continue };
        text.extend(&sample.body[..]);
        text.extend(&sample.headers.as_wire()[..]);
    }
    for name in &provider.detect {
        text.extend([name.as_bytes(), b": "].concat());
    }
}
