//! Prints the index's size, speed and answers' times: `cargo run --release -p hookmitt-index --example size -- N`. The
//! index is kept if a folder for it is given as well.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program for the terminal, whose faults are shown"
)]

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use hookmitt_event::{EventStatus, Timestamp, Verdict, Via};
use hookmitt_index::{Entry, Index, IndexError, Marks, Step};
use hookmitt_search::{Mark, Pattern, Query, Span, Term, Test, Text, WordKey};

/// How many events are written at a time.
const BATCH: i64 = 500;

/// Random numbers that are the same in each run (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() >> 11) as usize % end
    }

    fn text(&mut self, letters: &[u8], count: usize) -> String {
        (0..count).map(|_| char::from(letters[self.below(letters.len())])).collect()
    }
}

/// The samples of all providers, each with its provider and type.
fn samples() -> Vec<(String, String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../verify/samples");
    let mut samples = Vec::new();
    for provider in fs::read_dir(folder).unwrap() {
        let provider = provider.unwrap();
        for sample in fs::read_dir(provider.path()).unwrap() {
            let path = sample.unwrap().path();
            let Ok(body) = fs::read_to_string(&path) else { continue };
            let event_type = path.file_stem().unwrap().to_string_lossy().into_owned();
            samples.push((provider.file_name().to_string_lossy().into_owned(), event_type, body));
        }
    }
    samples.sort();
    samples
}

/// Replaces what looks like an id, and adds fields until the body has about 3 KB.
fn body(sample: &str, random: &mut Random) -> String {
    const BASE62: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    const KEYS: [&str; 8] = ["id", "customer", "request", "trace", "user", "invoice", "commit", "parent"];
    const NAMES: [&str; 5] = ["active", "pending", "canceled", "Ada Lovelace", "Grace Hopper"];
    let mut body = String::new();
    for word in sample.split_inclusive(|letter: char| !letter.is_ascii_alphanumeric()) {
        let is_id = word.len() > 7 && word.bytes().any(|byte| byte.is_ascii_digit());
        let kept = word.len() - usize::from(!word.ends_with(|letter: char| letter.is_ascii_alphanumeric()));
        if is_id && word.is_ascii() {
            body.push_str(&random.text(BASE62, kept));
            body.push_str(&word[kept..]);
        } else {
            body.push_str(word);
        }
    }
    while body.len() < 3_000 {
        let key = KEYS[random.below(KEYS.len())];
        let value = match random.below(5) {
            0 => random.text(b"0123456789abcdef", 36),
            1 => format!("{}_{}", &key[..2], random.text(BASE62, 24)),
            2 => random.text(b"0123456789", 12),
            3 => format!("https://api.example.com/v1/{key}s/{}", random.text(BASE62, 14)),
            _ => NAMES[random.below(NAMES.len())].to_owned(),
        };
        body.push_str(&format!(r#""{key}":"{value}","#));
    }
    body
}

fn entry(seq: i64, (provider, event_type, sample): &(String, String, String), random: &mut Random) -> Entry {
    let status = if random.below(50) == 0 { EventStatus::DeadLetter } else { EventStatus::Completed };
    let verdict = if seq % 2 == 0 { Verdict::Valid } else { Verdict::Invalid };
    Entry {
        seq,
        source: format!("source-{}", random.below(20)),
        event_type: Some(event_type.clone()),
        provider: Some(provider.clone()),
        targets: vec!["http://localhost:3000/webhooks".to_owned()],
        method: "POST".to_owned(),
        path: if random.below(10) == 0 { format!("/orders/{}", random.below(30_000)) } else { String::new() },
        tags: Vec::new(),
        answers: Vec::new(),
        verdict,
        status,
        via: if seq % 2 == 0 { Via::Tunnel } else { Via::Direct },
        marks: Marks::default().with(Mark::Duplicate, random.below(20) == 0),
        size: 3_000 + random.below(100) as u64,
        received_at: Timestamp::from_micros(
            1_750_000_000_000_000 + seq * 10_000 + random.below(9_000) as i64,
        ),
        text: Some(Text::new(&body(sample, random)).folded().to_owned()),
    }
}

/// Writes the events. Returns how many bytes of text they have, and a word that only the middle one has.
fn fill(index: &Index, count: i64) -> (usize, String) {
    let (samples, mut random) = (samples(), Random(88_172_645_463_325_252));
    let (mut raw, mut part, mut spent, mut slowest) = (0, String::new(), Duration::ZERO, Duration::ZERO);
    for first in (1..=count).step_by(BATCH as usize) {
        let batch = first..(first + BATCH).min(count + 1);
        let entries: Vec<Entry> =
            batch.clone().map(|seq| entry(seq, &samples[random.below(samples.len())], &mut random)).collect();
        raw += entries.iter().filter_map(|entry| entry.text.as_ref()).map(String::len).sum::<usize>();
        if batch.contains(&(count / 2)) {
            let text = entries[0].text.as_deref().unwrap();
            let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
            part = words.max_by_key(|word| word.len()).unwrap().to_owned();
        }
        let begun = Instant::now();
        index.write(Step { entries, whole: Some(batch), ..Step::default() }).unwrap();
        slowest = slowest.max(begun.elapsed());
        while index.tidy().unwrap() {}
        spent += begun.elapsed();
    }
    println!("{:.0} events/s on one core; slowest write {slowest:.1?}", count as f64 / spent.as_secs_f64());
    (raw, part)
}

/// Changes and removes some events.
fn change(index: &Index, count: i64) {
    let (samples, mut random) = (samples(), Random(1));
    let mut again = |seqs: Vec<i64>| -> Vec<Entry> {
        seqs.into_iter().map(|seq| Entry { text: None, ..entry(seq, &samples[0], &mut random) }).collect()
    };
    let newest = again((count - BATCH..count).collect());
    let spread = again((1..=BATCH).map(|part| part * count / BATCH).collect());
    let timed = |name: &str, work: &dyn Fn() -> Result<(), IndexError>| {
        let begun = Instant::now();
        work().unwrap();
        println!("{name:40} {:9.2?}", begun.elapsed());
    };
    let upkeep = || {
        while index.tidy()? {}
        Ok(())
    };
    timed("500 newest change", &|| index.write(Step { entries: newest.clone(), ..Step::default() }));
    timed("500 of all chunks change", &|| index.write(Step { entries: spread.clone(), ..Step::default() }));
    timed("500 oldest are removed", &|| index.write(removed(1..BATCH + 1)));
    timed("upkeep", &upkeep);
    timed("the oldest chunk is removed", &|| index.write(removed(1..8_192)));
    timed("upkeep", &upkeep);
}

fn removed(seqs: std::ops::Range<i64>) -> Step {
    Step { removed: seqs.collect(), ..Step::default() }
}

fn all(tests: Vec<Test>) -> Query {
    let term = |test| Term { negated: false, any: vec![test], place: 0..0 };
    Query { terms: tests.into_iter().map(term).collect() }
}

fn text(text: &str) -> Test {
    Test::Text(Text::new(text))
}

fn queries(part: &str) -> Vec<(&'static str, Query)> {
    let word = |key, pattern: &str| Test::Word(key, Pattern::new(pattern));
    let even = || Test::Verdict(Verdict::Valid);
    vec![
        ("everything", all(vec![])),
        ("type: none", all(vec![word(WordKey::Type, "nowhere")])),
        ("path: glob", all(vec![word(WordKey::Path, "/orders/1234*")])),
        ("target: any part", all(vec![word(WordKey::Target, ":3000")])),
        ("two dense, no overlap", all(vec![even(), Test::Via(Via::Direct)])),
        ("status and verdict", all(vec![Test::Status(EventStatus::DeadLetter), even()])),
        (
            "size and time, none",
            all(vec![
                Test::Size(Span { min: 9_000, max: u64::MAX }),
                Test::Received { from: None, to: Some(Timestamp::from_micros(1_750_000_000_000_000)) },
            ]),
        ),
        (
            "duplicate and response",
            all(vec![Test::Is(Mark::Duplicate), Test::Response(Span { min: 500, max: 599 })]),
        ),
        ("latency", all(vec![Test::Latency(Span { min: 1, max: u64::MAX })])),
        ("text: one event", all(vec![text(part)])),
        ("text: no such word", all(vec![text("zebrafinches")])),
        ("text: no such id", all(vec![text("deadbeefcafe0123deadbeef")])),
        ("text: three letters", all(vec![text("cus")])),
        ("text: three rare", all(vec![text("~~~")])),
        ("text: dense, no overlap", all(vec![text("ada lovelace hopper pending")])),
        ("text: dense, other word order", all(vec![text("example.com/v1/requests/customers")])),
        ("text and key, none", all(vec![text("lovelace"), even(), Test::Via(Via::Direct)])),
    ]
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let count: i64 = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(50_000);
    let folder = tempfile::tempdir().unwrap();
    let kept = std::env::args().nth(2).map(std::path::PathBuf::from);
    let index = Index::open(kept.as_deref().unwrap_or(folder.path()), "example").unwrap();
    let (raw, part) = fill(&index, count);
    let state = index.state().await.unwrap();
    let events = state.events as f64;
    println!("{} events of {:.0} bytes", state.events, raw as f64 / events);
    println!(
        "index {:.0} bytes an event, {:.3} of the raw bytes",
        state.bytes as f64 / events,
        state.bytes as f64 / raw as f64
    );
    change(&index, count);
    for (name, query) in queries(&part) {
        let (mut times, mut found) = (Vec::new(), 0);
        for _ in 0..21 {
            let begun = Instant::now();
            found = index.candidates(&query, 0..i64::MAX, 100).await.unwrap().seqs.len();
            times.push(begun.elapsed());
        }
        times.sort();
        println!("{name:30} {found:4} found  p50 {:9.2?}  p95 {:9.2?}", times[10], times[19]);
    }
    println!(
        "{}",
        fs::read_to_string("/proc/self/status").map_or(String::new(), |status| {
            status.lines().filter(|line| line.starts_with("VmHWM")).collect()
        })
    );
}
