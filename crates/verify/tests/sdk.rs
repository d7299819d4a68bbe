//! The providers' own SDKs as the other side: they sign and we verify, we sign and they verify.
//!
//! Needs Node and `npm ci` in `tests/sdk`; on Debian and in CI their absence is a failure, elsewhere it is noted.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test stops at what is not as it should be, and says what it saw"
)]

mod matrix;
mod peer;

use std::collections::BTreeMap;

use hookmitt_event::{Request, Timestamp, Verdict};
use hookmitt_verify::{Provider, Secret, SignBy, provider, sample, sample_types, sign};
use matrix::{PLAIN, SIGNED_AT, SUBJECTS, Subject, complaint, judged, pairs, request, variants};
use peer::{Peer, report};

const TELEGRAM: Subject = Subject { id: "telegram", secret: "A1_b-2", other_secret: "A1_b-3" };

/// What the SDKs can't be asked, because they parse the body as JSON or refuse an empty one.
fn takes(id: &str, body: &[u8]) -> bool {
    let json = serde_json::from_slice::<serde_json::Value>(body).is_ok();
    match id {
        "clerk" | "resend" | "svix" => json,
        "liveblocks" => json && String::from_utf8_lossy(body).contains("\"storageUpdated\""),
        "github" | "stripe" | "shopify" | "replicate" => !body.is_empty(),
        _ => true,
    }
}

/// Bodies with spaces, letters of many scripts, odd numbers; some that are no JSON, an empty one, and (for the static
/// token, which covers no body) bytes that are no text.
fn bodies(id: &str, seed: u64) -> Vec<Vec<u8>> {
    let mut dice = Dice(seed);
    let mut all: Vec<Vec<u8>> = (0..12).map(|_| dice.json().into_bytes()).collect();
    all.extend([
        b"".to_vec(),
        b"hello, world ".to_vec(),
        "payload=%7B%7D&x=ä+b".into(),
        b"{\"a\":1}\r\n".to_vec(),
    ]);
    if id == "telegram" {
        all.push(vec![0, 0xff, 0xfe, b'\r', b'\n', 0x80]);
    }
    all.retain(|body| takes(id, body));
    all
}

/// A small generator (xorshift64*): the seed is printed, so a failing run can be repeated.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        usize::try_from(self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33).unwrap() % sides
    }

    fn json(&mut self) -> String {
        let space = ["", " ", "\n  ", "\t"][self.roll(4)];
        let mut members = vec!["\"type\":\"storageUpdated\"".to_owned(), "\"data\":{}".to_owned()];
        for at in 0..self.roll(6) {
            let value = match self.roll(4) {
                0 => ["12345678901234567890", "1.10", "-0.0", "1e3"][self.roll(4)].to_owned(),
                1 => format!("\"{}\"", ["Zoë", "東京 🚀", "\\u00eb\\/", "<&>", "a  b"][self.roll(5)]),
                2 => ["true", "null", "[]", "[1, 2 ,3]"][self.roll(4)].to_owned(),
                _ => format!("\"{}\"", "x".repeat(self.roll(3000))),
            };
            members.push(format!("\"k{at}\":{space}{value}"));
        }
        let end = ["", "\n", "\r\n"][self.roll(3)];
        format!("{{{space}{}{space}}}{end}", members.join(&format!(",{space}")))
    }
}

fn headers_of(provider: &Provider, subject: &Subject, at: i64) -> Request {
    let sample =
        sample(self::provider(&provider.id).unwrap(), None, "0197-fresh", Timestamp::from_seconds(at));
    let mut request = sample.unwrap();
    assert_eq!(request.method, "POST", "{}", subject.id);
    request.body = PLAIN.into();
    request
}

fn seed() -> u64 {
    let given = std::env::var("HOOKMITT_SEED").ok().and_then(|text| text.parse().ok());
    given.unwrap_or_else(|| u64::try_from(Timestamp::now().as_micros()).unwrap() | 1)
}

#[test]
fn the_sdks_and_we_agree_in_both_directions() {
    let Some(mut peer) = Peer::start() else { return };
    let seed = seed();
    println!("seed {seed} (HOOKMITT_SEED)");
    let mut lines = BTreeMap::new();
    for subject in SUBJECTS.iter().chain([&TELEGRAM]).filter(|subject| subject.id != "anthropic") {
        let provider = provider(subject.id).unwrap();
        let (mut signed, mut verified) = (0, 0);
        for body in bodies(subject.id, seed) {
            they_sign(&mut peer, provider, subject, &body);
            signed += 1;
            we_sign(&mut peer, provider, subject, &body);
            verified += 1;
        }
        for kind in sample_types(provider) {
            if kind != "url_verification" {
                verified += usize::from(a_sample_is_taken(&mut peer, provider, subject, kind));
            }
        }
        lines.insert(
            subject.id,
            format!("{}: {}, signed {signed}, verified {verified}", subject.id, peer.version(subject.id)),
        );
    }
    lines.values().for_each(|line| report(line));
}

/// The SDK signs; we find it valid, and invalid once a byte differs.
fn they_sign(peer: &mut Peer, provider: &'static Provider, subject: &Subject, body: &[u8]) {
    let signed = request(peer.sign(subject.id, subject.secret, body, SIGNED_AT), body);
    let secrets = [Secret::new("old", subject.other_secret), Secret::new("new", subject.secret)];
    let judgement = judged(provider, &signed, &secrets, SIGNED_AT);
    let shown = String::from_utf8_lossy(body);
    assert_eq!(judgement.verdict, Verdict::Valid, "{} signed {shown:?}: {:?}", subject.id, judgement.causes);
    assert_eq!(judgement.secret_label.as_deref(), Some("new"));
    if subject.id != "telegram" {
        let other = Request { body: [body, b"x"].concat().into(), ..signed };
        assert_eq!(judged(provider, &other, &secrets, SIGNED_AT).verdict, Verdict::Invalid, "{}", subject.id);
    }
}

/// We sign; the SDK takes it.
fn we_sign(peer: &mut Peer, provider: &'static Provider, subject: &Subject, body: &[u8]) {
    let unsigned = Request { body: body.to_vec().into(), ..headers_of(provider, subject, SIGNED_AT) };
    let at = Timestamp::from_seconds(SIGNED_AT);
    let signed = sign(
        &SignBy { fresh_id: Some("0197-other"), ..SignBy::new(provider, subject.secret.as_bytes(), at) },
        &unsigned,
    )
    .unwrap();
    let answer = peer.verify(subject.id, subject.secret, &signed.body, &pairs(&signed), SIGNED_AT);
    assert_eq!(answer, Ok(()), "{} refused {:?}", subject.id, String::from_utf8_lossy(body));
}

/// A sample, signed by us, is taken by the SDK where it can take its body at all.
fn a_sample_is_taken(peer: &mut Peer, provider: &'static Provider, subject: &Subject, kind: &str) -> bool {
    let at = Timestamp::from_seconds(SIGNED_AT);
    let made = sample(provider, Some(kind), "0197-sample", at).unwrap();
    let signed = sign(&SignBy::new(provider, subject.secret.as_bytes(), at), &made).unwrap();
    assert_eq!(
        peer.verify(subject.id, subject.secret, &signed.body, &pairs(&signed), SIGNED_AT),
        Ok(()),
        "{kind}"
    );
    true
}

/// Vectors made live: each slip, from a request that the SDK signed, judged by the SDK and by us.
#[test]
fn every_slip_gets_the_sdk_s_verdict() {
    let Some(mut peer) = Peer::start() else { return };
    let mut complaints = Vec::new();
    let mut count = 0;
    for subject in SUBJECTS.iter().filter(|subject| subject.id != "anthropic") {
        let mut signer =
            |secret: &str, body: &[u8]| request(peer.sign(subject.id, secret, body, SIGNED_AT), body);
        let all = variants(subject, takes(subject.id, b"a=b"), &mut signer);
        for variant in &all {
            complaints.extend(complaint(subject, variant));
            let given = pairs(&variant.request);
            let theirs =
                peer.verify(subject.id, &variant.secret, &variant.request.body, &given, variant.at).is_ok();
            let ours = variant.cause.is_none();
            if theirs != ours && !differs_on_purpose(subject.id, variant.reason) {
                complaints
                    .push(format!("{} {}: the SDK says {theirs}, we say {ours}", subject.id, variant.reason));
            }
            count += 1;
        }
    }
    report(&format!("slips judged by the SDKs and by us: {count}, {} differ", complaints.len()));
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// Where a verdict is an SDK's policy rather than the wire format.
fn differs_on_purpose(id: &str, reason: &str) -> bool {
    match (id, reason) {
        // Bolt 5 accepts timestamps from the future; Slack's own recipe and its Python SDK don't.
        ("slack", "timestamp_future") => true,
        // Clerk's helper reads the body with Request.text(), which drops the mark.
        ("clerk", "bom_prepended") => true,
        _ => false,
    }
}
