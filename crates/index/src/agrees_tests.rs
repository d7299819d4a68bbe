//! What the index finds is what a plain look at each event finds.

use std::{collections::BTreeMap, time::Duration};

use crate::{Entry, Index, Marks};
use hookmitt_event::{EventStatus, Timestamp, Verdict, Via};
use hookmitt_search::{Answer, Mark, Pattern, Query, Span, Term, Test, Text, WordKey};
use proptest::{collection::vec, option, prelude::*, sample::select};

const MARKS: [Mark; 9] = [
    Mark::Duplicate,
    Mark::First,
    Mark::Conflict,
    Mark::Stale,
    Mark::Pinned,
    Mark::Browser,
    Mark::Edited,
    Mark::Handshake,
    Mark::Deleted,
];

/// An event as the index is given it, and its marks, which the index doesn't give back.
#[derive(Clone, Debug)]
struct Made {
    entry: Entry,
    marks: Vec<Mark>,
}

fn words(words: &'static [&'static str]) -> impl Strategy<Value = String> {
    select(words).prop_map(str::to_owned)
}

/// Numbers at the borders of chunks.
fn seqs() -> impl Strategy<Value = i64> {
    prop_oneof![0..6_i64, 8_188..8_196_i64, 16_380..16_390_i64, 65_530..65_540_i64]
}

fn answers() -> impl Strategy<Value = Vec<Answer>> {
    let answer = (option::of(select(vec![200_u16, 404, 500])), 0..3_000_000_u64, any::<bool>());
    vec(
        answer.prop_map(|(status, took, last)| Answer { status, took: Duration::from_micros(took), last }),
        0..4,
    )
}

fn texts() -> impl Strategy<Value = String> {
    vec(words(&["abc", "bcd", "größe", "支付成功", "x", "\"id\":1", "платёж", " "]), 0..9)
        .prop_map(|parts| parts.concat())
}

fn events() -> impl Strategy<Value = Made> {
    let told = (
        seqs(),
        words(&["shop", "Shop-2", "ci"]),
        option::of(words(&["invoice", "invoice.paid", "Invoice.Paid.late", "push"])),
        option::of(words(&["stripe", "github"])),
        vec(words(&["http://localhost:3000/a", "http://localhost:4000/b"]), 0..3),
        prop_oneof![words(&["", "/a", "/a/b"]), Just("/long".repeat(200))],
        vec(words(&["todo", "bug", "two\nlines"]), 0..3),
        answers(),
    );
    let states = (
        select(Verdict::ALL.map(|(verdict, _)| verdict).to_vec()),
        select(EventStatus::ALL.map(|(status, _)| status).to_vec()),
        select(Via::ALL.to_vec()),
        vec(select(MARKS.to_vec()), 0..3),
        prop_oneof![0..300_u64, 0..1_u64 << 40],
        prop_oneof![0..100_i64, any::<i64>()],
        texts(),
    );
    (told, states).prop_map(|(told, states)| made(told, states))
}

type Told = (i64, String, Option<String>, Option<String>, Vec<String>, String, Vec<String>, Vec<Answer>);
type States = (Verdict, EventStatus, Via, Vec<Mark>, u64, i64, String);

fn made(
    (seq, source, event_type, provider, targets, path, tags, answers): Told,
    (verdict, status, via, mut marks, size, received, text): States,
) -> Made {
    marks.retain(|mark| *mark != Mark::First);
    let flags = marks.iter().fold(Marks::default(), |flags, mark| flags.with(*mark, true));
    if !marks.contains(&Mark::Duplicate) {
        marks.push(Mark::First);
    }
    let entry = Entry {
        seq,
        source,
        event_type,
        provider,
        targets,
        method: if seq % 2 == 0 { "POST" } else { "get" }.to_owned(),
        path,
        tags,
        answers,
        verdict,
        status,
        via,
        marks: flags,
        size,
        received_at: Timestamp::from_micros(received),
        text: Some(text),
    };
    Made { entry, marks }
}

fn spans(most: u64) -> impl Strategy<Value = Span> {
    let bound = move || prop_oneof![4 => 0..most, 1 => Just(0), 1 => Just(u64::MAX)];
    (bound(), bound()).prop_map(|(a, b)| Span { min: a.min(b), max: a.max(b) })
}

fn patterns() -> impl Strategy<Value = Test> {
    let keys = [
        WordKey::Source,
        WordKey::Type,
        WordKey::Provider,
        WordKey::Target,
        WordKey::Method,
        WordKey::Path,
        WordKey::Tag,
    ];
    let known = ["shop*", "invoice", "*paid*", "push", "stripe", ":3000", "POST", "GET", "/a*", "/a", "todo"];
    let rare = ["*", "", "bug", "*b", "none", "two\nlines", "/long*"];
    let pattern = prop_oneof![select(known.to_vec()), select(rare.to_vec())];
    (select(keys.to_vec()), pattern).prop_map(|(key, pattern)| Test::Word(key, Pattern::new(pattern)))
}

fn tests() -> impl Strategy<Value = Test> {
    let time = || option::of((-10..110_i64).prop_map(Timestamp::from_micros));
    let text = prop_oneof![texts(), words(&["a", "zzz", "cbc", "支付", "платёж"])];
    prop_oneof![
        4 => patterns(),
        1 => select(Verdict::ALL.to_vec()).prop_map(|(verdict, _)| Test::Verdict(verdict)),
        1 => select(EventStatus::ALL.to_vec()).prop_map(|(status, _)| Test::Status(status)),
        1 => select(Via::ALL.to_vec()).prop_map(Test::Via),
        2 => select(MARKS.to_vec()).prop_map(Test::Is),
        1 => Just(Test::Header("x-odd".to_owned(), Pattern::new("1"))),
        1 => spans(310).prop_map(Test::Size),
        1 => spans(600).prop_map(Test::Response),
        1 => spans(3_100_000).prop_map(Test::Latency),
        1 => (time(), time()).prop_map(|(from, to)| Test::Received { from, to }),
        1 => spans(70_000).prop_map(Test::Number),
        4 => text.prop_map(|text| Test::Text(Text::new(&text))),
    ]
}

fn queries() -> impl Strategy<Value = Query> {
    let term = (any::<bool>(), vec(tests(), 1..3));
    vec(term.prop_map(|(negated, any)| Term { negated, any, place: 0..0 }), 0..4)
        .prop_map(|terms| Query { terms })
}

fn word_holds(key: WordKey, pattern: &Pattern, entry: &Entry) -> bool {
    let finds = |word: &str| pattern.finds(key, word);
    match key {
        WordKey::Source => finds(&entry.source),
        WordKey::Type => entry.event_type.as_deref().is_some_and(finds),
        WordKey::Provider => entry.provider.as_deref().is_some_and(finds),
        WordKey::Target => entry.targets.iter().any(|target| finds(target)),
        WordKey::Method => finds(&entry.method),
        WordKey::Path => finds(&entry.path),
        WordKey::Tag => entry.tags.iter().any(|tag| finds(tag)),
    }
}

fn holds(test: &Test, Made { entry, marks }: &Made) -> bool {
    let within = |span: &Span, value: u64| (span.min..=span.max).contains(&value);
    match test {
        Test::Text(text) => entry.text.as_deref().is_some_and(|found| found.contains(text.folded())),
        Test::Word(key, pattern) => word_holds(*key, pattern, entry),
        Test::Verdict(verdict) => entry.verdict == *verdict,
        Test::Status(status) => entry.status == *status,
        Test::Via(via) => entry.via == *via,
        Test::Is(mark) => marks.contains(mark),
        Test::Header(..) | Test::Body(_) => entry.seq % 2 == 1,
        Test::Size(span) => within(span, entry.size),
        Test::Response(span) => {
            entry.answers.iter().any(|answer| answer.status.is_some_and(|status| within(span, status.into())))
        }
        Test::Latency(span) => {
            let took = |answer: &Answer| u64::try_from(answer.took.as_micros()).unwrap();
            entry.answers.iter().any(|answer| answer.last && within(span, took(answer)))
        }
        Test::Received { from, to } => {
            from.is_none_or(|from| entry.received_at >= from) && to.is_none_or(|to| entry.received_at < to)
        }
        Test::Number(span) => within(span, entry.seq.cast_unsigned()),
    }
}

fn finds(query: &Query, made: &Made) -> bool {
    (query.wants_deleted() || !made.marks.contains(&Mark::Deleted))
        && query.terms.iter().all(|term| term.negated != term.any.iter().any(|test| holds(test, made)))
}

/// What happens to an index before it is asked.
#[derive(Clone, Debug)]
enum Step {
    Write(Vec<Made>),
    /// Writes without texts, which stay as they are.
    Restate(Vec<Made>),
    Remove(Vec<i64>),
    Tidy,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => vec(events(), 1..12).prop_map(Step::Write),
        1 => vec(events(), 1..4).prop_map(Step::Restate),
        1 => vec(seqs(), 1..6).prop_map(Step::Remove),
        1 => Just(Step::Tidy),
    ];
    vec(step, 1..10)
}

fn entries(made: &[Made]) -> crate::Step {
    crate::Step { entries: made.iter().map(|made| made.entry.clone()).collect(), ..crate::Step::default() }
}

fn take(index: &Index, model: &mut BTreeMap<i64, Made>, step: Step) {
    match step {
        Step::Write(made) => {
            index.write(entries(&made)).unwrap();
            model.extend(made.into_iter().map(|made| (made.entry.seq, made)));
        }
        Step::Restate(mut made) => {
            made.retain(|made| model.contains_key(&made.entry.seq));
            for made in &mut made {
                made.entry.text = None;
            }
            index.write(entries(&made)).unwrap();
            for mut made in made {
                made.entry.text = model[&made.entry.seq].entry.text.clone();
                model.insert(made.entry.seq, made);
            }
        }
        Step::Remove(seqs) => {
            index.write(crate::Step { removed: seqs.clone(), ..crate::Step::default() }).unwrap();
            model.retain(|seq, _| !seqs.contains(seq));
        }
        Step::Tidy => while index.tidy().unwrap() {},
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().build().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]
    #[test]
    fn the_index_finds_what_a_look_at_each_event_finds(
        steps in steps(),
        queries in vec(queries(), 12),
        range in (seqs(), seqs()),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let index = Index::open(folder.path(), "inbox").unwrap();
        let mut model = BTreeMap::new();
        steps.into_iter().for_each(|step| take(&index, &mut model, step));
        let range = range.0.min(range.1)..range.0.max(range.1) + 1;
        for query in queries {
            let wanted: Vec<i64> =
                model.range(range.clone()).rev().filter(|(_, made)| finds(&query, made)).map(|(seq, _)| *seq).collect();
            let found = runtime().block_on(index.candidates(&query, range.clone(), 1_000)).unwrap();
            prop_assert_eq!(found.reached, range.start);
            if found.exact {
                prop_assert_eq!(&found.seqs, &wanted);
            }
            prop_assert!(wanted.iter().all(|seq| found.seqs.contains(seq)), "{:?} lacks some of {:?}", found, wanted);
            prop_assert!(found.seqs.is_sorted_by(|a, b| a > b));
            let count = runtime().block_on(index.count(&query)).unwrap();
            let all = model.values().filter(|made| finds(&query, made)).count() as u64;
            prop_assert!(count.at_least <= all && (!count.exact || count.at_least == all));
        }
    }
}
