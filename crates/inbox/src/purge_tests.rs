//! The trash, and what is left of events that were deleted for good.

use std::fs;

use hookmitt_clock::Clock as _;
use hookmitt_event::{Actor, DedupeKey, DeliveryState, EventId, HeaderLines, OrderMode, Request, Timestamp};

use crate::{
    Inbox, InboxError, Marks, NewEvent, TrashPlace, acting, purge::purge, queue_story::Story, samples,
};

async fn trash(inbox: &Inbox) -> Vec<(i64, Option<Actor>)> {
    let page = inbox.trash(None, 100).await.unwrap();
    page.items.iter().map(|trashed| (trashed.listed.event.seq, trashed.by)).collect()
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
    let emptied = inbox.empty_trash(later).await.unwrap();
    assert_eq!((emptied.gone, emptied.stay), (1, 0));
    assert!(matches!(inbox.event(old).await, Err(InboxError::UnknownEvent(_))));
    assert!(inbox.delete_for_good(new).await.unwrap());
    assert_eq!(trash(inbox).await, []);
    assert_eq!(inbox.event(kept).await.unwrap().seq, 1);
    let copy = story.repeats(old).await;
    assert_eq!(inbox.event(copy).await.unwrap().duplicate_of, Some(old), "first keys outlive their events");
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
    assert_eq!(inbox.empty_trash(later).await.unwrap().stay, 1);
    story.fails(&claimed, std::time::Duration::from_secs(1)).await;
    assert_eq!(inbox.empty_trash(later).await.unwrap().gone, 1);
    assert_eq!(inbox.stats().await.unwrap().deliveries, []);
}

#[tokio::test]
async fn whoever_stood_behind_a_purged_event_gets_its_turn() {
    let story = Story::begin(OrderMode::FifoByKey).await;
    let [first, second] = [story.arrives(Some("a")).await, story.arrives(Some("a")).await];
    let seq = story.inbox.event(first).await.unwrap().seq;
    assert_eq!(story.inbox.write(move |batch| Ok(purge(batch, &[seq])?.gone)).await.unwrap(), 1);
    assert_eq!(story.claimed().await.unwrap().delivery.event, second);
}

#[tokio::test]
async fn a_source_or_a_time_is_cleared_page_by_page_and_pins_stay() {
    let story = Story::begin(OrderMode::Sequential).await;
    let (inbox, now) = (&story.inbox, story.clock.now());
    let mut ids = Vec::new();
    for _ in 0..450 {
        ids.push(story.arrives(None).await);
    }
    inbox.mark(ids[7], Marks { pinned: Some(true), ..Marks::default() }).await.unwrap();
    let other = inbox.add_source("two".parse().unwrap(), crate::SourceSettings::default(), false, now).await;
    let kept = inbox.store(samples::event(other.unwrap().row, now)).await.unwrap().id;
    assert_eq!(inbox.clear(None, Some(now), now).await.unwrap().events, 0, "nothing came before");
    let cleared = inbox.clear(Some("one".parse().unwrap()), None, now).await.unwrap();
    assert_eq!((cleared.events, cleared.ended, cleared.targets), (449, 449, vec![story.target]));
    for stays in [ids[7], kept] {
        assert_eq!(inbox.event(stays).await.unwrap().deleted_at, None);
    }
    assert_eq!(inbox.deliveries(ids[9]).await.unwrap()[0].state, DeliveryState::Skipped);
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
    let gone = inbox.empty_trash(Timestamp::from_micros(now.as_micros() + 1)).await.unwrap().gone;
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
