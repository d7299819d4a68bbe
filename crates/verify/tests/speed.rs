//! The capture path's share: verdict and facts of a GitHub delivery of 3.3 KB.

#![expect(clippy::print_stdout, reason = "the measured times are the point")]

use std::{hint::black_box, time::Instant};

use hookmitt_event::{HeaderLines, Request, Timestamp, Verdict};
use hookmitt_verify::{Inquiry, Secret, SignBy, facts, judge, provider, recognise, sample, sign};

/// Microseconds for one request, and for one that is forged.
fn measured(request: &Request, rounds: u32) -> f64 {
    let secrets = [Secret::new("main", "a secret of the hook")];
    let began = Instant::now();
    for _ in 0..rounds {
        let provider = recognise(request);
        let judgement = judge(&Inquiry {
            request: black_box(request),
            url: None,
            provider,
            generic: None,
            scheme: None,
            secrets: &secrets,
            tolerance: None,
            at: Timestamp::from_seconds(1_750_000_000),
            params: &[],
            published: None,
        });
        black_box((facts(request, provider, None), judgement));
    }
    began.elapsed().as_secs_f64() * 1e6 / f64::from(rounds)
}

#[test]
fn a_delivery_is_judged_and_read_in_microseconds() {
    let at = Timestamp::from_seconds(1_750_000_000);
    let github = provider("github").unwrap();
    let mut made = sample(github, Some("push"), "0197-speed", at).unwrap();
    let padding = "x7Kq".repeat((3300usize.saturating_sub(made.body.len() + 10)) / 4);
    let text = String::from_utf8(made.body.to_vec()).unwrap();
    made.body = text.replacen('{', &format!("{{\"pad\":\"{padding}\","), 1).into();
    let signed = sign(&SignBy::new(github, b"a secret of the hook", at), &made).unwrap();
    let secrets = [Secret::new("main", "a secret of the hook")];
    let inquiry = Inquiry {
        request: &signed,
        url: None,
        provider: Some(github),
        generic: None,
        scheme: None,
        secrets: &secrets,
        tolerance: None,
        at,
        params: &[],
        published: None,
    };
    assert_eq!(judge(&inquiry).verdict, Verdict::Valid);
    measured(&signed, 200);
    let valid = measured(&signed, 5000);
    let forged = Request {
        headers: HeaderLines::from_pairs(signed.headers.iter().map(|line| {
            let value = if line.name == "X-Hub-Signature-256" {
                [b"sha256=", "0a".repeat(32).as_bytes()].concat()
            } else {
                line.value.to_vec()
            };
            (line.name.to_owned(), value)
        }))
        .unwrap(),
        ..signed.clone()
    };
    println!("{} bytes: valid {valid:.1} us, forged {:.1} us", signed.body.len(), measured(&forged, 30));
    // A debug build on a busy machine: the bound only catches what got slower by an order of magnitude.
    assert!(valid < 2000.0, "{valid} us");
}
