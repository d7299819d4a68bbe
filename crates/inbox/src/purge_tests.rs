//! The trash, and what is left of events that were deleted for good.

use std::fs;

use hookmitt_clock::Clock as _;
use hookmitt_event::{Actor, DedupeKey, EventId, HeaderLines, OrderMode, Request, Timestamp};
use serde_json::json;

use crate::{
    BinPart, Emptied, Emptier, Inbox, InboxError, Marks, NewEvent, NewJob, TrashPlace, acting, purge::purge,
    queue_story::Story, samples,
};

async fn trash(inbox: &Inbox) -> Vec<(i64, Option<Actor>)> {
    let page = inbox.trash(None, 100).await.unwrap();
    page.items.iter().map(|trashed| (trashed.listed.event.seq, trashed.by)).collect()
}

/// Empties the trash of what was deleted before a moment, as a job.
pub(crate) async fn emptied(inbox: &Inbox, before: Timestamp) -> Emptied {
    inbox.add_job(NewJob { kind: "empty", asked: json!({}) }).await.unwrap();
    let job = inbox.begin_job().await.unwrap().unwrap();
    let (mut emptier, mut all) =
        (Emptier::new(inbox.clone(), job.id, inbox.bin_now(Some(before))), Emptied::default());
    loop {
        let step = emptier.step().await.unwrap();
        all = Emptied { gone: all.gone + step.gone, stay: all.stay + step.stay, more: false };
        if !step.more {
            assert!(inbox.end_job(job.id, None).await.unwrap());
            let job = inbox.job(job.id).await.unwrap();
            assert_eq!((job.done, job.failed, job.result.events), (all.gone + all.stay, all.stay, all.gone));
            return all;
        }
    }
}

#[tokio::test]
async fn the_trash_lists_what_was_deleted_last_first_and_by_whom() {
    let story = Story::begin(OrderMode::Sequential).await;
    let (inbox, now) = (&story.inbox, story.clock.now());
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(story.arrives(None).await);
    }
    let at = |seconds: i64| Some(Timestamp::from_micros(now.as_micros() + seconds * 1_000_000));
    acting(Actor::Cli, inbox.set_deleted(ids[3], at(1))).await.unwrap();
    acting(Actor::Page, inbox.set_deleted(ids[0], at(2))).await.unwrap();
    inbox.set_deleted(ids[1], at(2)).await.unwrap();
    assert_eq!(trash(inbox).await, [(2, None), (1, Some(Actor::Page)), (4, Some(Actor::Cli))]);

    let first = inbox.trash(None, 2).await.unwrap();
    let place = TrashPlace { deleted_at: at(2).unwrap(), seq: 1 };
    assert_eq!((first.items.len(), first.next), (2, Some(place)));
    let second = inbox.trash(first.next, 2).await.unwrap();
    assert_eq!((second.items[0].listed.event.seq, second.items.len(), second.next), (4, 1, None));
    inbox.set_deleted(ids[0], None).await.unwrap();
    inbox.set_deleted(ids[0], at(3)).await.unwrap();
    assert_eq!(trash(inbox).await[0], (1, None), "who deleted it before is forgotten");
}

#[tokio::test]
async fn only_the_trash_is_emptied_and_only_what_was_deleted_before() {
    let story = Story::begin(OrderMode::Sequential).await;
    let (inbox, now) = (&story.inbox, story.clock.now());
    let later = Timestamp::from_micros(now.as_micros() + 1);
    let [kept, old, new] = [story.arrives(None).await, story.arrives(None).await, story.arrives(None).await];
    let refused = inbox.delete_for_good(kept).await;
    assert!(matches!(refused, Err(InboxError::NotInTrash(1))), "{refused:?}");
    inbox.set_deleted(old, Some(now)).await.unwrap();
    inbox.set_deleted(new, Some(later)).await.unwrap();
    let done = emptied(inbox, later).await;
    assert_eq!((done.gone, done.stay), (1, 0));
    assert!(matches!(inbox.event(old).await, Err(InboxError::UnknownEvent(_))));
    assert!(inbox.delete_for_good(new).await.unwrap());
    assert_eq!(trash(inbox).await, []);
    assert_eq!(inbox.event(kept).await.unwrap().seq, 1);
    let copy = story.repeats(old).await;
    assert_eq!(inbox.event(copy).await.unwrap().duplicate_of, Some(old), "first keys outlive their events");
}

#[tokio::test]
async fn a_repeat_with_other_bytes_is_a_conflict_though_its_first_is_gone() {
    let story = Story::begin(OrderMode::Sequential).await;
    let (inbox, first) = (&story.inbox, story.arrives(None).await);
    let [same_before, other_before] =
        [story.repeats(first).await, story.repeats_with(first, "another").await];
    inbox.set_deleted(first, Some(story.clock.now())).await.unwrap();
    assert!(inbox.delete_for_good(first).await.unwrap());
    let [same, other] = [story.repeats(first).await, story.repeats_with(first, "another").await];
    for (id, conflict) in [(same_before, false), (other_before, true), (same, false), (other, true)] {
        let event = inbox.event(id).await.unwrap();
        assert_eq!((event.duplicate_of, event.conflict), (Some(first), conflict), "#{}", event.seq);
    }
}

#[tokio::test]
async fn what_is_being_sent_is_deleted_for_good_only_afterwards() {
    let story = Story::begin(OrderMode::Sequential).await;
    let (inbox, now) = (&story.inbox, story.clock.now());
    let id = story.arrives(None).await;
    let claimed = story.claimed().await.unwrap();
    inbox.set_deleted(id, Some(now)).await.unwrap();
    assert!(!inbox.delete_for_good(id).await.unwrap());
    let later = Timestamp::from_micros(now.as_micros() + 1);
    assert_eq!(emptied(inbox, later).await.stay, 1);
    story.fails(&claimed, std::time::Duration::from_secs(1)).await;
    assert_eq!(emptied(inbox, later).await.gone, 1);
    assert_eq!(inbox.stats().await.unwrap().deliveries, []);
}

#[tokio::test]
async fn emptying_that_goes_on_looks_again_at_what_stayed() {
    let story = Story::begin(OrderMode::Sequential).await;
    let (inbox, now) = (&story.inbox, story.clock.now());
    let [sent, other] = [story.arrives(None).await, story.arrives(None).await];
    let claimed = story.claimed().await.unwrap();
    assert_eq!(claimed.delivery.event, sent);
    for id in [sent, other] {
        inbox.set_deleted(id, Some(now)).await.unwrap();
    }
    inbox.add_job(NewJob { kind: "empty", asked: json!({}) }).await.unwrap();
    let job = inbox.begin_job().await.unwrap().unwrap();
    let all = BinPart::default();
    let begun = Emptier::new(inbox.clone(), job.id, all).step().await.unwrap();
    assert_eq!(begun, Emptied { gone: 1, stay: 1, more: true });
    let failures = inbox.job_failures(job.id, 0, 10).await.unwrap();
    assert_eq!((failures.len(), failures[0].event, failures[0].seq), (1, sent, Some(1)));

    inbox.stop_jobs().await.unwrap();
    let refused = Emptier::new(inbox.clone(), job.id, all).step().await;
    assert!(matches!(refused, Err(InboxError::JobEnded)), "{refused:?}");
    story.fails(&claimed, std::time::Duration::from_secs(1)).await;
    inbox.resume_job(job.id).await.unwrap();
    inbox.begin_job().await.unwrap().unwrap();
    assert_eq!(Emptier::new(inbox.clone(), job.id, all).step().await.unwrap().gone, 1);
    let job = inbox.job(job.id).await.unwrap();
    assert_eq!((job.done, job.failed, job.result.events), (2, 0, 2));
    assert!(inbox.job_failures(job.id, 0, 10).await.unwrap().is_empty());
}

#[tokio::test]
async fn whoever_stood_behind_a_purged_event_gets_its_turn() {
    let story = Story::begin(OrderMode::FifoByKey).await;
    let [first, second] = [story.arrives(Some("a")).await, story.arrives(Some("a")).await];
    let seq = story.inbox.event(first).await.unwrap().seq;
    assert_eq!(story.inbox.write(move |batch| Ok(purge(batch, &[seq])?.gone)).await.unwrap(), 1);
    assert_eq!(story.claimed().await.unwrap().delivery.event, second);
}

/// Stores an event with a text in each place that a sender chooses.
async fn planted(story: &Story, text: &str, size: usize) -> EventId {
    let headers = format!("X-Planted: {text}\r\n");
    let event = samples::event(story.source, story.clock.now());
    let event = samples::with_body(event, text.repeat(size / text.len() + 1));
    let new = NewEvent {
        request: Request {
            path: format!("/{text}"),
            query: Some(text.to_owned()),
            headers: HeaderLines::from_wire(headers.into()).unwrap(),
            ..event.request
        },
        remote: Some(text.to_owned()),
        url: Some(format!("http://h/{text}")),
        dedupe_key: DedupeKey::Id(format!("{text}{size}")),
        key_hash: *EventId::fresh().as_bytes(),
        ..event
    };
    story.inbox.store(new).await.unwrap().id
}

fn is_anywhere(story: &Story, text: &str) -> Vec<String> {
    let files = fs::read_dir(story.folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let holds = |bytes: &[u8]| bytes.windows(text.len()).any(|window| window == text.as_bytes());
    files.filter(|file| holds(&fs::read(file).unwrap())).map(|file| file.display().to_string()).collect()
}

#[tokio::test]
async fn what_is_deleted_for_good_leaves_the_file_and_the_log() {
    const TEXT: &str = "a-planted-text-that-is-nowhere-else";
    let story = Story::begin(OrderMode::Sequential).await;
    let (inbox, now) = (&story.inbox, story.clock.now());
    let mut all = Vec::new();
    for round in 0..120 {
        let id = planted(&story, TEXT, [10, 900, 4_000, 30_000][round % 4]).await;
        planted(&story, "kept", [2_000, 90_000, 300][round % 3]).await;
        // Rows that grow and shrink move about in the file.
        let note = Some(Some(TEXT.repeat(round % 9 * 20 + 1)));
        inbox
            .mark(id, Marks { note, tags: Some(vec![TEXT.parse().unwrap()]), pinned: Some(true) })
            .await
            .unwrap();
        if round % 3 == 0 {
            inbox.mark(id, Marks { note: Some(None), ..Marks::default() }).await.unwrap();
        }
        while let Some(claimed) = story.claimed().await {
            story.answers(&claimed, if claimed.delivery.event == id { TEXT } else { "kept" }).await;
        }
        all.push(id);
    }
    for id in all {
        inbox.set_deleted(id, Some(now)).await.unwrap();
    }
    assert!(!is_anywhere(&story, TEXT).is_empty(), "this test would notice");
    assert!(inbox.cut_log().await.unwrap());
    let size = fs::metadata(inbox.path()).unwrap().len();
    let gone = emptied(inbox, Timestamp::from_micros(now.as_micros() + 1)).await.gone;
    assert_eq!(gone, 120);
    assert!(inbox.give_back().await.unwrap());
    assert_eq!(is_anywhere(&story, TEXT), Vec::<String>::new());
    assert!(fs::metadata(inbox.path()).unwrap().len() < size, "the disk has its room back");
    assert!(!is_anywhere(&story, "keptkept").is_empty());
    inbox.check().await.unwrap();
}

#[tokio::test]
async fn a_log_that_somebody_reads_is_cut_later() {
    let story = Story::begin(OrderMode::Sequential).await;
    let inbox = &story.inbox;
    story.arrives(None).await;
    let reader = hookmitt_sqlite::reader(&inbox.path()).unwrap();
    let reading = reader.unchecked_transaction().unwrap();
    let count: i64 = reading.query_row("SELECT count(*) FROM event", [], |row| row.get(0)).unwrap();
    assert_eq!(count, 1);
    story.arrives(None).await;
    assert!(!inbox.give_back().await.unwrap());
    drop(reading);
    assert!(inbox.give_back().await.unwrap());
    let log = fs::metadata(story.folder.path().join("inbox.db-wal")).unwrap();
    assert_eq!(log.len(), 0);
}
