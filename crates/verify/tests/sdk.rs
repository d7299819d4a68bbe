//! Interoperability with the providers' own SDKs: they sign and we verify, we sign and they verify.
//!
//! Needs Node and Python with what `scripts/setup.sh` installs in `tests/sdk`. If they are missing, the test fails on
//! Debian and in CI; elsewhere it only reports that.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test stops at what is not as it should be, and says what it saw"
)]

mod agree;
mod matrix;
mod peer;

use std::collections::BTreeSet;

use agree::{Dice, ROWS, Tally, tally};
use hookmitt_event::Timestamp;
use matrix::{SIGNED_AT, SUBJECTS, Subject, complaint, pairs, request, variants};
use peer::{Language, Order, Peer, report};

/// The number of providers whose own SDKs have to agree with us.
const PROVIDERS: usize = 37;

/// An SDK that isn't published by its provider. It is tested, but not counted.
const COMMUNITY: &str = "telegram";

fn seed() -> u64 {
    let given = std::env::var("HOOKMITT_SEED").ok().and_then(|text| text.parse().ok());
    given.unwrap_or_else(|| u64::try_from(Timestamp::now().as_micros()).unwrap() | 1)
}

#[test]
fn the_sdks_and_we_agree_in_both_directions() {
    let Some(mut node) = Peer::start(Language::Node) else { return };
    let Some(mut python) = Peer::start(Language::Python) else { return };
    let seed = seed();
    println!("seed {seed} (HOOKMITT_SEED)");
    let line = |name: &str, sdk: &str, tally: [&str; 3]| {
        report(&format!("{name:<36} {sdk:<40} {:>8} {:>8} {:>9}", tally[0], tally[1], tally[2]));
    };
    line("provider", "SDK", ["signed", "verified", "re-signed"]);
    let (mut complaints, mut agreed) = (Vec::new(), BTreeSet::new());
    for row in ROWS {
        let peer = if row.language == Language::Node { &mut node } else { &mut python };
        let Tally { signed, verified, resigned, complaints: ours } = tally(peer, row, &mut Dice(seed));
        let from = if row.language == Language::Node { "npm" } else { "PyPI" };
        let counts = [signed, verified, resigned].map(|count| count.to_string());
        line(&row.name(), &format!("{from} {}", row.sdk(peer)), [&counts[0], &counts[1], &counts[2]]);
        if ours.is_empty() && verified > 0 && resigned > 0 && row.id != COMMUNITY {
            agreed.insert(row.id);
        }
        // The first few complaints of a row are enough.
        complaints.extend(ours.into_iter().take(3));
    }
    report(&format!(
        "{} providers' own SDKs take what we sign and re-sign; {PROVIDERS} have to",
        agreed.len()
    ));
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    assert!(agreed.len() >= PROVIDERS, "only {agreed:?}");
}

/// Vectors made live: each slip is applied to a request that the SDK signed, and the SDK and our code judge it.
#[test]
fn every_slip_gets_the_sdk_s_verdict() {
    let Some(mut peer) = Peer::start(Language::Node) else { return };
    let mut complaints = Vec::new();
    let mut count = 0;
    for subject in SUBJECTS.iter().filter(|subject| subject.id != "anthropic") {
        let mut signer = |secret: &str, body: &[u8]| {
            let signed =
                peer.sign(Order { body: body.to_vec(), ..asked(subject, secret, SIGNED_AT) }).unwrap();
            request(signed.headers, body)
        };
        let all = variants(subject, takes_forms(subject.id), &mut signer);
        for variant in &all {
            complaints.extend(complaint(subject, variant));
            let (headers, body) = (pairs(&variant.request), variant.request.body.to_vec());
            let order = Order { headers, body, ..asked(subject, &variant.secret, variant.at) };
            let theirs = peer.verify(&order).is_ok();
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

fn asked(subject: &Subject, secret: &str, now: i64) -> Order {
    Order { sdk: subject.id, secret: secret.to_owned(), now: Some(now), ..Order::default() }
}

/// Whether the SDK accepts more than JSON.
fn takes_forms(id: &str) -> bool {
    !["clerk", "resend", "svix", "liveblocks"].contains(&id)
}

/// Whether a verdict reflects an SDK's policy rather than the wire format.
fn differs_on_purpose(id: &str, reason: &str) -> bool {
    match (id, reason) {
        // Bolt 5 accepts timestamps from the future; Slack's own recipe and its Python SDK don't.
        ("slack", "timestamp_future") => true,
        // Clerk's helper reads the body with Request.text(), which drops the byte order mark.
        ("clerk", "bom_prepended") => true,
        _ => false,
    }
}
