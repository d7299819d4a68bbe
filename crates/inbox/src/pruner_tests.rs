//! What pruning lets go, by the inbox's own clock, and what it never touches.

use std::time::Duration;

use hookmitt_clock::Clock as _;
use hookmitt_event::{Actor, Deed, EventId, Keep, Kept, OrderMode};
use rusqlite::Connection;

use crate::{
    AuditFilter, Finish, Inbox, InboxError, Marks, NewEvent, NewJob, Pruner, RetentionChange, acting,
    queue_story::Story, room::Why, samples,
};

pub(crate) const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn days(days: u64) -> Option<Keep> {
    Some(Keep::For(DAY * u32::try_from(days).unwrap()))
}

/// Prunes until there is nothing left to do. Returns how many events went.
pub(crate) async fn prune(inbox: &Inbox) -> u64 {
    let (mut pruner, mut gone) = (Pruner::new(inbox.clone(), None), 0);
    loop {
        let pruned = acting(Actor::Retention, pruner.step()).await.unwrap();
        gone += pruned.gone;
        if !pruned.more {
            return gone;
        }
    }
}

async fn is_there(inbox: &Inbox, id: EventId) -> bool {
    inbox.event(id).await.is_ok()
}

pub(crate) async fn pin(inbox: &Inbox, id: EventId, pinned: bool) {
    inbox.mark(id, Marks { pinned: Some(pinned), ..Marks::default() }).await.unwrap();
}

/// Stores an event and delivers it.
pub(crate) async fn completed(story: &Story) -> EventId {
    let id = story.arrives(None).await;
    let claimed = story.claimed().await.unwrap();
    story.completes(&claimed).await;
    id
}

/// Stores an event whose delivery fails for good.
pub(crate) async fn failed(story: &Story) -> EventId {
    let id = story.arrives(None).await;
    let claimed = story.claimed().await.unwrap();
    let end = Finish::Final(story.attempt(&claimed));
    assert!(story.inbox.finish(&claimed, end, None).await.unwrap().stored);
    id
}

#[tokio::test]
async fn what_is_done_goes_after_7_days_what_failed_after_30_and_the_rest_never() {
    let story = Story::begin(OrderMode::Sequential).await;
    let inbox = &story.inbox;
    let [done, pinned, bad] = [completed(&story).await, completed(&story).await, failed(&story).await];
    let waits = story.arrives(None).await;
    pin(inbox, pinned, true).await;
    story.clock.pass(DAY * 7 - Duration::from_secs(1));
    assert_eq!(prune(inbox).await, 0, "never too early");
    story.clock.pass(Duration::from_secs(1));
    assert_eq!((prune(inbox).await, is_there(inbox, done).await), (1, false));
    story.clock.pass(DAY * 23);
    assert_eq!((prune(inbox).await, is_there(inbox, bad).await), (1, false));
    story.clock.pass(DAY * 400);
    assert_eq!(prune(inbox).await, 0);
    assert!(is_there(inbox, pinned).await && is_there(inbox, waits).await);

    let claimed = story.claimed().await.unwrap();
    story.completes(&claimed).await;
    assert_eq!((prune(inbox).await, is_there(inbox, waits).await), (1, false), "it no longer waits");
    pin(inbox, pinned, false).await;
    assert_eq!((prune(inbox).await, is_there(inbox, pinned).await), (1, false), "it lost its pin");
    assert_eq!(
        inbox.stats().await.unwrap(),
        crate::Stats { sources: inbox.stats().await.unwrap().sources, ..Default::default() }
    );
    inbox.check().await.unwrap();
}

#[tokio::test]
async fn no_step_of_the_wall_clock_makes_anything_go_and_a_pause_counts_for_a_day() {
    let story = Story::begin(OrderMode::Sequential).await;
    completed(&story).await;
    for step in [400_i64, -800, 400] {
        story.clock.step(step * 86_400_000_000);
        assert_eq!(prune(&story.inbox).await, 0, "{step} days");
    }
    story.inbox.keep_clock().await.unwrap();
    let mut inbox = story.inbox.clone();
    for _ in 0..6 {
        story.clock.step(365 * 86_400_000_000);
        inbox = story.restarted();
        assert_eq!(prune(&inbox).await, 0);
        inbox.keep_clock().await.unwrap();
    }
    story.clock.step(365 * 86_400_000_000);
    inbox.keep_clock().await.unwrap();
    story.clock.pass(DAY);
    assert_eq!(prune(&inbox).await, 1);
}

#[tokio::test]
async fn a_source_may_keep_its_events_for_longer_and_for_ever() {
    let story = Story::begin(OrderMode::Sequential).await;
    let (inbox, now) = (&story.inbox, story.clock.now());
    let two: hookmitt_event::Slug = "two".parse().unwrap();
    let other =
        inbox.add_source(two.clone(), crate::SourceSettings::default(), false, now).await.unwrap().row;
    let here = completed(&story).await;
    let new = NewEvent { id: EventId::fresh(), ..samples::event(other, now) };
    let there = inbox.store(new).await.unwrap().id;
    let keep =
        vec![(Some(two.clone()), Kept::Captured, Some(Keep::Forever)), (None, Kept::Completed, days(1))];
    let change = RetentionChange { keep, size_limit: Some(Some(1 << 30)), ..RetentionChange::default() };
    let held = acting(Actor::Cli, inbox.set_retention(change)).await.unwrap();
    assert_eq!(held.sources["two"][&Kept::Captured], Keep::Forever);
    assert_eq!((held.keep[&Kept::Completed], held.size_limit), (days(1).unwrap(), Some(1 << 30)));
    assert_eq!(inbox.retention().await.unwrap(), held);
    let noted = inbox.audit(AuditFilter::default(), None, 1).await.unwrap().items.remove(0);
    assert_eq!((noted.what, noted.who), (Deed::RetentionChanged, Actor::Cli));
    assert_eq!(noted.subject.detail["two: captured"], "never");

    story.clock.pass(DAY * 1_000);
    assert_eq!((prune(inbox).await, is_there(inbox, here).await), (1, false));
    assert!(is_there(inbox, there).await);
    let keep = vec![(Some(two), Kept::Captured, None)];
    inbox.set_retention(RetentionChange { keep, ..RetentionChange::default() }).await.unwrap();
    let would = inbox.prunable().await.unwrap();
    assert_eq!((would.items.len(), would.items[0].source.as_str(), would.items[0].events), (1, "two", 1));
    assert!(would.complete);
    assert_eq!((prune(inbox).await, is_there(inbox, there).await), (1, false));
    assert_eq!(inbox.prunable().await.unwrap().items, []);
    let unknown = vec![(Some("none".parse().unwrap()), Kept::Failed, None)];
    let refused = inbox.set_retention(RetentionChange { keep: unknown, ..RetentionChange::default() }).await;
    assert!(matches!(refused, Err(InboxError::UnknownSource(_))), "{refused:?}");
}

#[tokio::test]
async fn the_trash_ages_from_when_an_event_was_deleted() {
    let story = Story::begin(OrderMode::Sequential).await;
    let inbox = &story.inbox;
    let [gone, back, pinned] = [failed(&story).await, completed(&story).await, completed(&story).await];
    story.clock.pass(DAY * 6);
    pin(inbox, pinned, true).await;
    for id in [gone, back, pinned] {
        inbox.set_deleted(id, Some(story.clock.now())).await.unwrap();
    }
    story.clock.pass(DAY * 6);
    assert_eq!(prune(inbox).await, 0, "it is in the trash for 6 days");
    inbox.set_deleted(back, None).await.unwrap();
    assert_eq!((prune(inbox).await, is_there(inbox, back).await), (1, false), "it was old enough long ago");
    story.clock.pass(DAY);
    assert_eq!(inbox.prunable().await.unwrap().items[0].kept, Kept::Trash);
    assert_eq!((prune(inbox).await, is_there(inbox, gone).await), (1, false));
    assert!(is_there(inbox, pinned).await);
}

#[tokio::test]
async fn an_event_with_very_many_attempts_goes_in_pieces_and_goes_on_after_a_crash() {
    let story = Story::begin(OrderMode::Sequential).await;
    let inbox = &story.inbox;
    let id = completed(&story).await;
    let many = |batch: &mut crate::batch::Batch<'_>| {
        batch.db.execute_batch(
            "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
            INSERT INTO attempt (event, delivery, number, started_at, duration, truncated, body)
            SELECT 1, 1, i, 0, 0, 0, zeroblob(20000) FROM n;
            WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
            INSERT INTO delivery (event, number, target, state) SELECT 1, i, 1, 2 FROM n;
            UPDATE tally SET deliveries = deliveries + 19999;",
        )?;
        Ok(())
    };
    inbox.write(many).await.unwrap();
    story.clock.pass(DAY * 7);
    let mut pruner = Pruner::new(inbox.clone(), None);
    let first = pruner.step().await.unwrap();
    assert_eq!((first.gone, first.more), (0, true), "not all of it goes at once");
    assert!(is_there(inbox, id).await);
    let next = story.restarted();
    next.keep_clock().await.unwrap();
    assert_eq!(prune(&next).await, 1);
    assert_eq!(next.stats().await.unwrap().deliveries, []);
    let db = Connection::open(next.path()).unwrap();
    let left: i64 = db.query_row("SELECT count(*) FROM attempt", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 0);
}

#[tokio::test]
async fn the_size_limit_takes_the_oldest_that_may_go() {
    let story = Story::begin(OrderMode::Sequential).await;
    let inbox = &story.inbox;
    let (now, slug) = (story.clock.now(), "two".parse().unwrap());
    let two = inbox.add_source(slug, crate::SourceSettings::default(), false, now).await.unwrap().row;
    let waits = story.arrives(None).await;
    let mut ids = Vec::new();
    for _ in 0..200 {
        let new = NewEvent { key_hash: *EventId::fresh().as_bytes(), ..samples::event(two, now) };
        let new = samples::with_body(new, vec![b'x'; 20_000]);
        ids.push(inbox.store(new).await.unwrap().id);
    }
    pin(inbox, ids[0], true).await;
    let used = inbox.packing().await.unwrap().in_use;
    let change = RetentionChange { size_limit: Some(Some(used / 2)), ..RetentionChange::default() };
    inbox.set_retention(change).await.unwrap();
    let would = inbox.prunable().await.unwrap();
    assert_eq!((would.in_use, would.over_limit), (used, used - used / 2));
    assert!(would.complete);
    let listed: u64 = would.items.iter().map(|some| some.events).sum();
    assert!(would.items.iter().all(|some| some.why == Why::SizeLimit && some.source == "two"), "{would:?}");
    let gone = prune(inbox).await;
    assert!(listed.abs_diff(gone) * 5 <= gone, "{listed} were listed, and {gone} went");
    assert!((60..140).contains(&gone), "{gone}");
    let left = inbox.packing().await.unwrap().in_use;
    assert!(left <= used / 2 && left > used / 3, "{left} of {used}");
    assert!(is_there(inbox, ids[0]).await && is_there(inbox, waits).await);
    assert!(!is_there(inbox, ids[1]).await && is_there(inbox, ids[199]).await);
}

#[tokio::test]
async fn a_size_limit_that_leaves_no_room_beside_what_is_pinned_is_noticed() {
    let story = Story::begin(OrderMode::Sequential).await;
    let inbox = &story.inbox;
    let mut ids = Vec::new();
    for _ in 0..40 {
        ids.push(completed(&story).await);
    }
    let in_use = inbox.packing().await.unwrap().in_use;
    let limit = |limit| RetentionChange { size_limit: Some(limit), ..RetentionChange::default() };
    inbox.set_retention(limit(Some(in_use / 2))).await.unwrap();
    assert_eq!(inbox.no_room().await.unwrap(), None, "nothing is pinned");
    for id in &ids {
        pin(inbox, *id, true).await;
    }
    let no_room = inbox.no_room().await.unwrap().unwrap();
    assert_eq!((no_room.limit, no_room.pinned), (in_use / 2, 40));
    assert!(no_room.taken > in_use / 2, "{no_room:?}");
    inbox.set_retention(limit(Some(in_use * 3))).await.unwrap();
    assert_eq!(inbox.no_room().await.unwrap(), None, "there is room");
    inbox.set_retention(limit(None)).await.unwrap();
    assert_eq!(inbox.no_room().await.unwrap(), None, "there is no limit");
}

#[tokio::test]
async fn what_retention_deletes_is_one_entry_a_day_in_the_audit_trail() {
    let story = Story::begin(OrderMode::Sequential).await;
    let inbox = &story.inbox;
    let mut pruner = Pruner::new(inbox.clone(), None);
    for _ in 0..3 {
        completed(&story).await;
        story.clock.pass(Duration::from_secs(3_600));
    }
    story.clock.pass(DAY * 7 - Duration::from_secs(3 * 3_600));
    for _ in 0..3 {
        while acting(Actor::Retention, pruner.step()).await.unwrap().more {}
        story.clock.pass(Duration::from_secs(3_600));
    }
    let entries = inbox.audit(AuditFilter::default(), None, 9).await.unwrap().items;
    assert_eq!(entries.len(), 1);
    assert_eq!((entries[0].who, entries[0].what), (Actor::Retention, Deed::DeletedForGood));
    assert_eq!(entries[0].subject.detail["events"], 3);
}

#[tokio::test]
async fn a_job_counts_what_it_prunes_and_ends_when_it_is_cancelled() {
    let story = Story::begin(OrderMode::Sequential).await;
    let inbox = &story.inbox;
    for _ in 0..3 {
        completed(&story).await;
    }
    story.clock.pass(DAY * 7);
    inbox.add_job(NewJob { kind: "prune", asked: serde_json::json!({}) }).await.unwrap();
    let job = inbox.begin_job().await.unwrap().unwrap();
    let mut pruner = Pruner::new(inbox.clone(), Some(job.id));
    while pruner.step().await.unwrap().more {}
    let job = inbox.job(job.id).await.unwrap();
    assert_eq!((job.done, job.result.events), (3, 3));
    completed(&story).await;
    story.clock.pass(DAY * 7);
    inbox.cancel_job(job.id).await.unwrap();
    assert!(matches!(pruner.step().await, Err(InboxError::JobEnded)));
    assert_eq!(prune(inbox).await, 1, "nothing went with the job that was cancelled");
}
