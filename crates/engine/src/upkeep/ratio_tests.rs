//! How little of the disk packed events take, measured with events like those that providers send.

use std::{sync::Arc, time::Duration};

use hookmitt_clock::{Clock as _, HandClock};
use hookmitt_event::{EventId, HeaderLines, Request, Timestamp, Verdict};
use hookmitt_inbox::{Dictionary, NewEvent, Packer};
use hookmitt_verify::{Provider, providers, sample, sample_types};
use rand::{Rng as _, RngExt as _, SeedableRng as _, rngs::SmallRng};

use super::dictionaries::dictionary;
use crate::begun::{engine_by, post, source};

/// How many events are packed. Of 20,000 it is 0.43, because what an empty inbox takes counts for less.
const EVENTS: usize = 2_000;

/// How large an event's bytes are on average. Samples are cut down, so several are put together.
const MEAN: f64 = 3_200.0;

/// Replaces what differs from event to event: ids, numbers, hashes, names. Words in lower case stay, and so do the names
/// of fields.
fn varied(text: &[u8], rng: &mut SmallRng) -> Vec<u8> {
    let mut out = text.to_vec();
    let mut begin = 0;
    while begin < out.len() {
        let run = out[begin..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let end = begin + run;
        let word = &out[begin..end];
        let is_name = out[end..].starts_with(b"\":");
        let varies = word.iter().any(u8::is_ascii_digit) || word.first().is_some_and(u8::is_ascii_uppercase);
        if varies && !is_name {
            let is_hex = word.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
            for byte in &mut out[begin..end] {
                *byte = match byte {
                    _ if is_hex => b"0123456789abcdef"[rng.random_range(0..16)],
                    b'0'..=b'9' => rng.random_range(b'0'..=b'9'),
                    b'a'..=b'z' => rng.random_range(b'a'..=b'z'),
                    _ => rng.random_range(b'A'..=b'Z'),
                };
            }
        }
        begin = end + 1;
    }
    out
}

/// Returns a request as a provider sends it, with a signature.
fn request(provider: &'static Provider, rng: &mut SmallRng) -> Option<Request> {
    let kinds = sample_types(provider);
    let wanted = -MEAN * (1.0 - rng.random::<f64>()).ln();
    let mut whole: Option<Request> = None;
    let mut body = Vec::new();
    while whole.is_none() || (body.len() as f64) < wanted {
        let kind = kinds.get(rng.random_range(0..kinds.len().max(1)))?;
        let seed = format!("{:x}", rng.next_u64());
        let at = Timestamp::from_seconds(1_790_000_000 + i64::from(rng.random_range(0..9_000_000)));
        let made = sample(provider, Some(kind), &seed, at).ok()?;
        body.extend(varied(&made.body, rng));
        whole.get_or_insert(made);
    }
    let whole = whole?;
    let lines: Vec<_> =
        whole.headers.iter().map(|line| (line.name.to_owned(), line.value.to_vec())).collect();
    let signature = provider.detect.first().map_or("X-Signature", |name| name).to_owned();
    let hash = hex::encode(rng.random::<[u8; 32]>()).into_bytes();
    let more = [
        ("X-Forwarded-For".to_owned(), varied(b"10.20.30.40", rng)),
        ("X-Forwarded-Proto".to_owned(), b"https".to_vec()),
        ("Content-Length".to_owned(), body.len().to_string().into_bytes()),
        (signature, hash),
    ];
    let headers = HeaderLines::from_pairs(lines.into_iter().chain(more)).ok()?;
    Some(Request { headers, body: body.into(), ..whole })
}

/// Returns how many bytes of the disk the events take, per byte as they came, and the ratio of the packed bytes alone.
async fn ratio(dictionary: impl Fn(Option<&str>) -> Dictionary + Send + 'static) -> (f64, f64) {
    let folder = tempfile::tempdir().unwrap();
    let clock = HandClock::at(Timestamp::from_seconds(1_800_000_000));
    let engine = engine_by(folder.path(), Arc::new(clock.clone())).await;
    let mut rng = SmallRng::seed_from_u64(7);
    let all: Vec<_> = providers().filter(|provider| !sample_types(provider).is_empty()).collect();
    let source = source(&engine, "any").await;
    let (mut raw, mut stores) = (0, tokio::task::JoinSet::new());
    for number in 0..EVENTS {
        let Some(request) = request(all[number % all.len()], &mut rng) else { continue };
        raw += request.headers.as_wire().len() + request.body.len();
        let mut arrival = post([], b"");
        (arrival.request, arrival.received_at) = (request, clock.now());
        let event = source.judge(arrival).event;
        let provider = Some(all[number % all.len()].id.clone());
        let event =
            NewEvent { verdict: Verdict::Valid, causes: Vec::new(), provider, id: EventId::fresh(), ..event };
        let inbox = engine.inbox().clone();
        stores.spawn(async move { inbox.store(event).await.unwrap() });
    }
    stores.join_all().await;
    clock.pass(Duration::from_secs(3_600));
    let mut packer = Packer::new(engine.inbox().clone(), dictionary).unwrap();
    while packer.step().await.unwrap() > 0 {}
    let packing = engine.inbox().packing().await.unwrap();
    engine.stop().await;
    (packing.in_use as f64 / raw as f64, packing.after as f64 / packing.before as f64)
}

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::print_stdout, reason = "the figures say more than that they are small enough")]
async fn packed_events_take_half_of_their_bytes_on_the_disk() {
    let (on_disk, packed) = ratio(dictionary).await;
    let none = |_: Option<&str>| Dictionary { name: "none".to_owned(), text: Vec::new() };
    let plain = ratio(none).await;
    let common = ratio(|_| dictionary(None)).await;
    println!(
        "on the disk, and packed alone: {on_disk:.3}, {packed:.3}; with one dictionary for all: {common:.3?}; without: {plain:.3?}"
    );
    assert!(on_disk <= 0.5, "{on_disk:.3} of their bytes");
    assert!(on_disk < plain.0, "dictionaries don't pay: {plain:.3?}");
}
