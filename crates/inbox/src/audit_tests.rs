//! Who did what: what is in the audit trail, and what isn't.

use std::time::Duration;

use hookmitt_clock::Clock as _;
use hookmitt_event::{Actor, Deed, OrderMode, TargetKind, Timestamp};
use serde_json::json;

use crate::{
    AuditFilter, Inbox, SourceSettings, Subject, TargetSettings, acting, audit::Entry, purge_tests::emptied,
    queue_story::Story,
};

async fn trail(inbox: &Inbox) -> Vec<Entry> {
    inbox.audit(AuditFilter::default(), None, 100).await.unwrap().items
}

async fn deeds(inbox: &Inbox) -> Vec<(Actor, Deed)> {
    trail(inbox).await.iter().rev().map(|entry| (entry.who, entry.what)).collect()
}

#[tokio::test]
async fn what_is_done_by_somebody_is_recorded_with_the_change_and_what_hookmitt_does_itself_is_not() {
    let story = Story::begin(OrderMode::Sequential).await;
    let (inbox, now) = (&story.inbox, story.clock.now());
    let id = story.arrives(None).await;
    assert_eq!(deeds(inbox).await, [], "nobody added that source and that target");
    acting(Actor::Page, inbox.set_deleted(id, Some(now))).await.unwrap();
    acting(Actor::Page, inbox.set_deleted(id, Some(now))).await.unwrap();
    acting(Actor::Cli, inbox.set_deleted(id, None)).await.unwrap();
    inbox.set_deleted(id, Some(now)).await.unwrap();
    acting(Actor::Api, inbox.delete_for_good(id)).await.unwrap();
    let expected =
        [(Actor::Page, Deed::Deleted), (Actor::Cli, Deed::Restored), (Actor::Api, Deed::DeletedForGood)];
    assert_eq!(deeds(inbox).await, expected);
    assert!(trail(inbox).await.iter().all(|entry| entry.subject == Subject::event(id, 1)));
}

#[tokio::test]
async fn what_is_done_to_many_events_is_one_entry() {
    let story = Story::begin(OrderMode::Sequential).await;
    let (inbox, now) = (&story.inbox, story.clock.now());
    for _ in 0..450 {
        let id = story.arrives(None).await;
        inbox.set_deleted(id, Some(now)).await.unwrap();
    }
    let end = Timestamp::from_micros(i64::MAX);
    acting(Actor::Window, emptied(inbox, end)).await;
    acting(Actor::Window, emptied(inbox, end)).await;
    let [entry] = &trail(inbox).await[..] else { panic!() };
    assert_eq!((entry.who, entry.what), (Actor::Window, Deed::DeletedForGood));
    assert_eq!(entry.subject, Subject::default().with("job", 1).with("events", 450));
}

#[tokio::test]
async fn of_a_target_only_its_origin_is_recorded_and_of_settings_only_their_names() {
    let story = Story::begin(OrderMode::Sequential).await;
    let (inbox, now) = (&story.inbox, story.clock.now());
    let id = story.arrives(None).await;
    acting(Actor::Cli, async {
        let (url, settings) = ("https://me:hush@h:1/hush?hush#hush".to_owned(), TargetSettings::default());
        let kept =
            inbox.add_target(None, url.clone(), settings.clone(), TargetKind::Kept, now).await.unwrap();
        inbox.set_target(kept.id, url.clone(), settings.clone(), true).await.unwrap();
        inbox.remove_target(kept.id, now).await.unwrap();
        let once = inbox.add_target(None, url, settings, TargetKind::Once, now).await.unwrap();
        inbox.add_replays(id, vec![once.id, once.id]).await.unwrap();
        inbox.add_replays(id, vec![story.target]).await.unwrap();
        let other =
            SourceSettings { public_url: Some("https://hush".to_owned()), ..SourceSettings::default() };
        inbox.add_source("two".parse().unwrap(), SourceSettings::default(), false, now).await.unwrap();
        inbox.set_source("two".parse().unwrap(), other).await.unwrap();
        inbox.remove_source("two".parse().unwrap(), now).await.unwrap();
    })
    .await;
    let deeds: Vec<_> = deeds(inbox).await.into_iter().map(|(_, deed)| deed.as_str()).collect();
    assert_eq!(
        deeds.join(" "),
        "target_added target_changed target_removed replayed_elsewhere \
        source_added source_changed source_removed"
    );
    let all = trail(inbox).await;
    assert!(!format!("{all:?}").contains("hush"), "{all:?}");
    assert_eq!(all[3].subject.target.as_deref(), Some("https://h:1"));
    assert_eq!(all[1].subject, Subject::source("two").with("changed", json!(["public_url"])));
}

#[tokio::test]
async fn the_trail_is_kept_for_90_days_by_the_store_clock_and_read_by_page() {
    let story = Story::begin(OrderMode::Sequential).await;
    let inbox = &story.inbox;
    let note = async |number: i64| {
        let subject = Subject::default().with("number", number);
        acting(Actor::Api, inbox.record(Deed::SecretSet, subject)).await.unwrap();
    };
    for number in 0..5 {
        note(number).await;
        story.clock.pass(Duration::from_secs(60));
    }
    story.clock.step(-400 * 86_400 * 1_000_000); // the wall clock is set; nothing ages by that
    let first = inbox.audit(AuditFilter::default(), None, 3).await.unwrap();
    let rest = inbox.audit(AuditFilter::default(), first.next, 3).await.unwrap();
    assert_eq!((first.items.len(), rest.items.len(), rest.next), (3, 2, None));
    let none = AuditFilter { who: Some(Actor::Page), ..AuditFilter::default() };
    assert_eq!(inbox.audit(none, None, 9).await.unwrap().items, []);
    let since = AuditFilter { since: Some(rest.items[0].at), ..AuditFilter::default() };
    assert_eq!(inbox.audit(since, None, 9).await.unwrap().items.len(), 4);

    story.clock.pass(Duration::from_secs(90 * 86_400 - 200));
    assert_eq!(trail(inbox).await.len(), 3, "what is older isn't shown");
    let rows = || -> i64 {
        let db = hookmitt_sqlite::reader(&inbox.path()).unwrap();
        db.query_row("SELECT count(*) FROM audit", [], |row| row.get(0)).unwrap()
    };
    assert_eq!(rows(), 5);
    inbox.keep_clock().await.unwrap();
    assert_eq!(rows(), 3, "and goes");
}

#[tokio::test]
async fn the_oldest_go_first_when_there_are_too_many() {
    let story = Story::begin(OrderMode::Sequential).await;
    let fill = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n LIMIT 100000)
        INSERT INTO audit (at, stored_at, who, what) SELECT 1, 9e17, 0, 0 FROM n";
    story.inbox.write(move |batch| Ok(batch.db.execute(fill, [])?)).await.unwrap();
    acting(Actor::Api, story.inbox.record(Deed::SecretSet, Subject::default())).await.unwrap();
    let db = hookmitt_sqlite::reader(&story.inbox.path()).unwrap();
    let count = |sql: &str| db.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count("SELECT count(*) FROM audit"), 100_000);
    assert_eq!(count("SELECT min(id) FROM audit"), 2);
}
