//! Every sample of every provider is recognised without a set provider, and gives its id, type and subject:
//! `subjects.txt` lists them all.
//!
//! `UPDATE_SUBJECTS=1 cargo test -p hookmitt-verify --test subjects` writes the list anew; read what changed in it.

#![expect(clippy::unwrap_used, reason = "a test stops at what is not as it should be, and says what it saw")]

use std::fmt::Write as _;

use hookmitt_event::{Facts, Request, Timestamp};
use hookmitt_verify::{
    HandshakeOutcome, Provider, SignBy, facts, handshake, providers, recognise, sample, sample_types, sign,
    test_secret,
};

#[path = "subjects/hostile.rs"]
mod hostile;

const AT: Timestamp = Timestamp::from_seconds(1_750_000_000);
const LIST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/subjects.txt");
const HEAD: &str = "\
# Every sample: provider, sample, recognised provider, type, whether the event has an id of its own, subject.
# An adopter of another provider's format is recognised as that provider.
";

fn made(provider: &'static Provider, kind: &str, seed: &str) -> Request {
    sample(provider, Some(kind), seed, AT).unwrap()
}

/// Returns the sample signed with the public test secret. One that its provider doesn't sign stays as it is.
fn signed(provider: &'static Provider, kind: &str, seed: &str) -> Request {
    let made = made(provider, kind, seed);
    let secret = test_secret(provider).value;
    let url = Some("https://hooks.example.com/in");
    sign(&SignBy { url, ..SignBy::new(provider, secret.as_bytes(), AT) }, &made).unwrap_or(made)
}

/// Returns the facts of a request, with the subject that a set-up request gets once it is answered.
fn read(request: &Request, provider: &'static Provider) -> Facts {
    let asked = handshake(request, provider, &[]).filter(|asked| asked.answered);
    let facts = facts(request, Some(provider), None);
    let title = asked.and_then(|asked| asked.subject(HandshakeOutcome::Answered)).or(facts.title);
    Facts { title, ..facts }
}

fn line(provider: &'static Provider, kind: &str) -> String {
    let request = made(provider, kind, "0197abc-1");
    let facts = read(&signed(provider, kind, "0197abc-1"), provider);
    let later = read(&signed(provider, kind, "0197abc-2"), provider);
    let has_id = facts.event_id.is_some() && facts.event_id != later.event_id;
    let recognised = recognise(&request).map_or("-", |found| found.id.as_str());
    let (id, event_type) = (if has_id { "id" } else { "no id" }, facts.event_type.unwrap_or_default());
    let subject = facts.title.unwrap_or_else(|| "-".to_owned());
    format!("{} | {kind} | {recognised} | {event_type} | {id} | {subject}", provider.id)
}

fn lines() -> Vec<String> {
    let mut ordered: Vec<_> = providers().collect();
    ordered.sort_by_key(|provider| provider.id.as_str());
    let kinds = |provider: &&'static Provider| {
        let provider = *provider;
        sample_types(provider).into_iter().map(move |kind| line(provider, kind))
    };
    ordered.iter().flat_map(kinds).collect()
}

#[test]
fn every_sample_says_what_it_is() {
    let now = lines().into_iter().fold(HEAD.to_owned(), |mut text, line| {
        writeln!(text, "{line}").unwrap();
        text
    });
    if std::env::var_os("UPDATE_SUBJECTS").is_some() {
        std::fs::write(LIST, &now).unwrap();
    }
    let listed = std::fs::read_to_string(LIST).unwrap();
    let changed = now.lines().filter(|line| !listed.lines().any(|other| other == *line));
    assert_eq!(changed.collect::<Vec<_>>(), [""; 0], "not in subjects.txt");
    assert_eq!(listed, now);
}

/// The samples that tell nothing but ids. All others have a subject.
const SILENT: [&str; 9] = [
    "airtable | ping",
    "anthropic | session.status_idled",
    "discord | ENTITLEMENT_CREATE",
    "dropbox | list_folder",
    "line | follow",
    "meta | page.leadgen",
    "openai | batch.completed",
    "openai | response.completed",
    "xero | INVOICE.UPDATE",
];

/// Whether a text holds a token that people can't read: 16 letters and digits in turns, or a UUID.
fn holds_random(text: &str) -> bool {
    let is_random = |token: &str| {
        let digits = token.bytes().filter(u8::is_ascii_digit).count();
        token.len() >= 16 && digits > 0
    };
    let is_uuid = |token: &str| token.len() >= 32 && token.matches('-').count() >= 4;
    text.split(|letter: char| !letter.is_ascii_alphanumeric()).any(is_random) || text.split(' ').any(is_uuid)
}

#[test]
fn no_subject_is_a_mention_a_random_token_or_the_type_again() {
    for line in lines() {
        let cells: Vec<_> = line.splitn(6, " | ").collect();
        let subject = cells[5];
        assert!(!subject.contains("<@") && !holds_random(subject), "{line}");
        let silent = SILENT.contains(&format!("{} | {}", cells[0], cells[1]).as_str());
        assert_eq!(subject == "-", silent, "{line}");
        let is_set_up = subject.ends_with(" answered");
        assert!(is_set_up || !subject.starts_with(cells[3]), "the type stands before the subject: {line}");
    }
}

#[test]
fn ids_of_samples_have_their_providers_own_form() {
    let forms = [
        ("stripe", "evt_1", 28),
        ("slack", "Ev0", 12),
        ("svix", "msg_3", 31),
        ("openai", "wh_", 35),
        ("github", "", 36),
        ("shopify", "", 36),
        ("paddle", "evt_01", 30),
        ("razorpay", "", 14),
        ("zendesk", "01K", 26),
    ];
    for (id, start, length) in forms {
        let provider = hookmitt_verify::provider(id).unwrap();
        let kind = sample_types(provider)[0];
        let own = |seed: &str| read(&made(provider, kind, seed), provider).event_id.unwrap();
        let (one, other) = (own("0197abc-1"), own("0197abc-2"));
        assert!(one.starts_with(start) && one.len() == length && one != other, "{id}: {one}, {other}");
    }
}
