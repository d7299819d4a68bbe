//! The starting inputs for fuzzing, `fuzz/corpus`, made from our own samples.
//!
//! `UPDATE_SEEDS=1 cargo test -p hookmitt-verify --test seeds` rewrites them. They need not follow every change of a
//! sample, because a seed is only a starting point.

#![expect(clippy::unwrap_used, reason = "a test stops at what is not as it should be, and says what it saw")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use hookmitt_event::{Request, Timestamp};
use hookmitt_verify::{Provider, SignBy, providers, sample, sign, test_secret};
use serde_json::json;
use sha2::{Digest as _, Sha256};

const AT: Timestamp = Timestamp::from_seconds(1_750_000_000);
const LARGEST: usize = 4096;
/// The targets that read requests. The seeds for `template` are written by hand.
const TARGETS: [&str; 5] = ["explain", "fixture_file", "header_lines", "request_head", "verdict"];

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus")
}

/// Returns the provider's default event, signed if the provider signs.
fn signed(provider: &'static Provider) -> Option<Request> {
    let made = sample(provider, None, "0197-seed", AT).ok()?;
    let secret = test_secret(provider).value;
    let url = Some("https://hooks.example.com/in");
    Some(sign(&SignBy { url, ..SignBy::new(provider, secret.as_bytes(), AT) }, &made).unwrap_or(made))
}

fn lines(request: &Request, end: &str) -> Vec<u8> {
    let line = |line: hookmitt_event::HeaderLine<'_>| [line.line, end.as_bytes()].concat();
    request.headers.iter().flat_map(line).collect()
}

fn message(request: &Request) -> Vec<u8> {
    let query = request.query.as_ref().map(|query| format!("?{query}")).unwrap_or_default();
    let first = format!("{} /in{query} HTTP/1.1\r\n", request.method);
    [first.as_bytes(), &lines(request, "\r\n"), b"\r\n", &request.body].concat()
}

fn fixture(provider: &Provider, request: &Request) -> Vec<u8> {
    let pair = |line: hookmitt_event::HeaderLine<'_>| json!([line.name, String::from_utf8_lossy(line.value)]);
    let fixture = json!({
        "format": 1,
        "source": "seed",
        "provider": provider.id,
        "type": null,
        "received_at": AT.to_string(),
        "url": "http://127.0.0.1:4400/in",
        "method": request.method,
        "path": "/in",
        "query": request.query,
        "http_version": request.version.to_string(),
        "headers": request.headers.iter().map(pair).collect::<Vec<_>>(),
        "body": String::from_utf8_lossy(&request.body),
        "sha256": hex::encode(Sha256::digest(&request.body)),
        "dedupe_key": null,
        "verdict": null,
        "redacted": false,
        "test_secret": null,
    });
    fixture.to_string().into_bytes()
}

fn write(target: &str, name: &str, bytes: &[u8]) {
    if bytes.len() <= LARGEST {
        let folder = corpus().join(target);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(name), bytes).unwrap();
    }
}

fn update() {
    for (number, provider) in providers().enumerate() {
        let Some(request) = signed(provider) else { continue };
        let name = format!("{}-sample", provider.id);
        let judged = [&lines(&request, "\n")[..], b"\n", &request.body].concat();
        write("verdict", &name, &judged);
        // The input begins with the index of the provider.
        let which = u8::try_from(number).unwrap_or_default();
        write("explain", &name, &[&[which], &judged[..]].concat());
        write("header_lines", &name, &lines(&request, "\r\n"));
        write("request_head", &name, &message(&request));
        let file = if number.is_multiple_of(2) { message(&request) } else { fixture(provider, &request) };
        write("fixture_file", &name, &file);
    }
}

#[test]
fn every_target_has_seeds() {
    if std::env::var_os("UPDATE_SEEDS").is_some() {
        update();
    }
    for target in TARGETS {
        let seeds: Vec<_> = fs::read_dir(corpus().join(target)).unwrap().map(Result::unwrap).collect();
        assert!(seeds.len() >= 24, "{target} has {} seeds", seeds.len());
        for seed in seeds {
            let length = seed.metadata().unwrap().len();
            assert!((1..=LARGEST as u64).contains(&length), "{}: {length} bytes", seed.path().display());
        }
    }
}
