//! Jobs as a process runs them: begun, queued, cancelled, cut off, resumed.

use std::{sync::Arc, time::Duration};

use futures_util::future;
use hookmitt_clock::HandClock;
use hookmitt_event::{Actor, Deed, EventId, JobState, Timestamp};
use hookmitt_inbox::{AuditFilter, InboxError, Job, Subject, acting};

use super::{JobKind, Which};
use crate::{
    Change, Engine, EngineError, MarkChange,
    begun::{engine, engine_by, post, source},
    settings::ConfiguredSource,
};

fn search(text: &str) -> Which {
    Which::Search(text.to_owned())
}

/// Captures this many events of the source `shop`.
async fn captured(engine: &Engine, count: usize) -> Vec<EventId> {
    let known = source(engine, "shop").await;
    future::join_all((0..count).map(|_| capture(engine, &known))).await
}

async fn capture(engine: &Engine, known: &Arc<ConfiguredSource>) -> EventId {
    let event = known.judge(post([("X-Shop", "order")], b"{}")).event;
    engine.capture.store_unanswered(known, event).await.unwrap().id
}

/// Waits until a job is in a state, as it is announced.
async fn until(engine: &Engine, id: i64, state: JobState) -> Job {
    let mut changes = engine.watch();
    loop {
        let job = engine.jobs.one(id).await.unwrap();
        if job.state == state {
            return job;
        }
        assert!(job.state != JobState::Failed, "{job:?}");
        while !matches!(changes.recv().await, Ok(Change::Job(changed)) if changed == id) {}
    }
}

async fn deleted(engine: &Engine, ids: &[EventId]) -> usize {
    let all = engine.inbox().these(ids.to_vec()).await.unwrap();
    all.iter().filter(|listed| listed.event.deleted_at.is_some()).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_is_deleted_and_restored_but_nothing_that_comes_later() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path()).await;
    let mut ids = captured(&engine, 450).await;
    let job = engine.jobs.ask(JobKind::Delete, &search("order")).await.unwrap();
    assert_eq!((job.state, job.top), (JobState::Waiting, 450), "nobody delivers yet");
    let known = engine.settings.source(&"shop".parse().unwrap()).unwrap();
    let later = capture(&engine, &known).await;

    let _first = engine.deliver_if_alone().await.unwrap();
    // What waited before somebody delivered was left by a process that ended.
    assert_eq!(engine.jobs.one(job.id).await.unwrap().state, JobState::Stopped);
    engine.jobs.resume(job.id).await.unwrap();
    let done = until(&engine, job.id, JobState::Done).await;
    assert_eq!((done.done, done.total, done.failed, done.result.events), (450, Some(450), 0, 450));
    assert_eq!(deleted(&engine, &ids).await, 450);
    ids.push(later);
    assert_eq!(deleted(&engine, &ids).await, 450, "the one that came later stays");

    let back = engine.jobs.ask(JobKind::Restore, &search("is:deleted order")).await.unwrap();
    let done = until(&engine, back.id, JobState::Done).await;
    assert_eq!((done.total, done.result.events, deleted(&engine, &ids).await), (Some(450), 450, 0));
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn undoing_a_job_restores_what_it_deleted_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path()).await;
    let ids = captured(&engine, 450).await;
    engine.deliver_if_alone().await.unwrap();
    engine.trash.set_deleted(ids[7], true).await.unwrap();
    let job = engine.jobs.ask(JobKind::Delete, &search("order")).await.unwrap();
    assert_eq!(until(&engine, job.id, JobState::Done).await.result.events, 449);
    let back = engine.jobs.undo(job.id).await.unwrap();
    let done = until(&engine, back.id, JobState::Done).await;
    assert_eq!((done.total, done.result.events), (Some(449), 449));
    assert_eq!(deleted(&engine, &ids).await, 1, "what was deleted before stays deleted");
    let refused = engine.jobs.undo(back.id).await;
    assert!(matches!(refused, Err(EngineError::BadInput(_))), "{refused:?}");
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn undoing_a_job_leaves_what_was_deleted_by_another_at_the_same_moment() {
    let folder = tempfile::tempdir().unwrap();
    let clock = HandClock::at(Timestamp::from_seconds(1_800_000_000)); // it stands still
    let engine = engine_by(folder.path(), Arc::new(clock)).await;
    let ids = captured(&engine, 25).await;
    engine.deliver_if_alone().await.unwrap();
    let (few, many) = (Which::Events(ids[..5].to_vec()), Which::Events(ids[5..20].to_vec()));
    let few = engine.jobs.ask(JobKind::Delete, &few).await.unwrap();
    let many = engine.jobs.ask(JobKind::Delete, &many).await.unwrap();
    assert_eq!(few.created_at, many.created_at);
    engine.trash.set_deleted(ids[20], true).await.unwrap();
    until(&engine, few.id, JobState::Done).await;
    until(&engine, many.id, JobState::Done).await;
    let back = engine.jobs.undo(few.id).await.unwrap();
    let done = until(&engine, back.id, JobState::Done).await;
    assert_eq!((done.total, done.result.events), (Some(5), 5));
    assert_eq!((deleted(&engine, &ids[..5]).await, deleted(&engine, &ids[5..]).await), (0, 16));
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_is_cleared_but_for_its_pins_and_that_is_undone() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path()).await;
    let ids = captured(&engine, 450).await;
    let other = source(&engine, "other").await;
    let kept = capture(&engine, &other).await;
    engine.deliver_if_alone().await.unwrap();
    let pin = MarkChange { pinned: Some(true), ..MarkChange::default() };
    engine.marking.change(ids[7], pin).await.unwrap();
    let nothing = Which::Clear { source: None, until: Some(Timestamp::from_seconds(1)) };
    let none = engine.jobs.ask(JobKind::Delete, &nothing).await.unwrap();
    assert_eq!(until(&engine, none.id, JobState::Done).await.total, Some(0), "nothing came before");
    let shop = Which::Clear { source: Some("shop".parse().unwrap()), until: None };
    let job = acting(Actor::Window, engine.jobs.ask(JobKind::Delete, &shop)).await.unwrap();
    let done = until(&engine, job.id, JobState::Done).await;
    assert_eq!((done.total, done.result.events), (Some(449), 449));
    assert_eq!((deleted(&engine, &[kept, ids[7]]).await, deleted(&engine, &ids).await), (0, 449));
    let trail = engine.inbox().audit(AuditFilter::default(), None, 10).await.unwrap().items;
    let cleared = Subject::source("shop").with("job", job.id).with("events", 449);
    assert_eq!((trail[0].what, &trail[0].subject), (Deed::Deleted, &cleared));
    let back = engine.jobs.undo(job.id).await.unwrap();
    assert_eq!(until(&engine, back.id, JobState::Done).await.result.events, 449);
    let refused = engine.jobs.ask(JobKind::Delete, &Which::Clear { source: None, until: None }).await;
    assert!(matches!(refused, Err(EngineError::BadInput(_))), "{refused:?}");
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_trash_is_emptied_as_a_job_that_is_announced_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path()).await;
    let ids = captured(&engine, 450).await;
    engine.deliver_if_alone().await.unwrap();
    let job = engine.jobs.ask(JobKind::Delete, &search("order")).await.unwrap();
    until(&engine, job.id, JobState::Done).await;
    let mut changes = engine.watch();
    let job = engine.jobs.empty_trash(None).await.unwrap();
    let done = until(&engine, job.id, JobState::Done).await;
    assert_eq!(
        (done.kind.as_str(), done.done, done.total, done.result.events),
        ("empty", 450, Some(450), 450)
    );
    assert!(engine.inbox().these(ids).await.unwrap().is_empty());
    let log = std::fs::metadata(folder.path().join("inbox.db-wal")).map_or(0, |log| log.len());
    assert!(log < 64 * 1024, "what was deleted has left the log when the job is done: {log} bytes");
    let mut gone = 0;
    while let Ok(change) = changes.try_recv() {
        gone += if let Change::Many(events) = change { events } else { 0 };
    }
    assert_eq!(gone, 450);
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_deleted_after_emptying_was_asked_for_stays_in_the_trash() {
    let folder = tempfile::tempdir().unwrap();
    let clock = HandClock::at(Timestamp::from_seconds(1_800_000_000));
    let engine = engine_by(folder.path(), Arc::new(clock.clone())).await;
    let ids = captured(&engine, 11).await;
    let (early, late) = ids.split_at(10);
    for id in early {
        engine.trash.set_deleted(*id, true).await.unwrap();
    }
    let job = engine.jobs.empty_trash(None).await.unwrap();
    assert_eq!(job.state, JobState::Waiting, "nobody delivers yet");
    clock.pass(Duration::from_secs(1));
    clock.step(-86_400 * 1_000_000); // the wall clock is set back by a day
    engine.trash.set_deleted(late[0], true).await.unwrap();
    let _first = engine.deliver_if_alone().await.unwrap();
    engine.jobs.resume(job.id).await.unwrap();
    let done = until(&engine, job.id, JobState::Done).await;
    assert_eq!((done.done, done.total, done.result.events), (10, Some(10), 10));
    let left = engine.inbox().these(ids.clone()).await.unwrap();
    assert_eq!(left.iter().map(|left| left.event.id).collect::<Vec<_>>(), late);
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_job_deleted_before_it_was_cancelled_is_announced() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path()).await;
    captured(&engine, 3_000).await;
    engine.deliver_if_alone().await.unwrap();
    let job = engine.jobs.ask(JobKind::Delete, &search("order")).await.unwrap();
    until(&engine, job.id, JobState::Done).await;
    let mut changes = engine.watch();
    let job = engine.jobs.empty_trash(None).await.unwrap();
    while engine.jobs.one(job.id).await.unwrap().done == 0 {
        tokio::task::yield_now().await;
    }
    engine.jobs.cancel(job.id).await.unwrap();
    let is_gone = async { while !matches!(changes.recv().await, Ok(Change::Many(1..))) {} };
    tokio::time::timeout(Duration::from_secs(10), is_gone).await.unwrap();
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn events_that_are_named_are_taken_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path()).await;
    let ids = captured(&engine, 12).await;
    engine.deliver_if_alone().await.unwrap();
    let job = engine.jobs.ask(JobKind::Retry, &Which::Events(ids.clone())).await.unwrap();
    let done = until(&engine, job.id, JobState::Done).await;
    assert_eq!((done.done, done.failed, done.result.events), (12, 12, 0), "none has a target");
    let failures = engine.jobs.failures(job.id, 0, 100).await.unwrap();
    assert_eq!(failures.iter().map(|one| one.event).collect::<Vec<_>>(), ids);
    assert!(failures[0].why.starts_with("it hasn't been sent to a target yet"), "{}", failures[0].why);
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_ends_stops_its_jobs_and_the_next_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let clock = HandClock::at(Timestamp::from_seconds(1_800_000_000));
    let first = engine_by(folder.path(), Arc::new(clock.clone())).await;
    let ids = captured(&first, 3_000).await;
    first.deliver_if_alone().await.unwrap();
    let job = first.jobs.ask(JobKind::Delete, &search("order")).await.unwrap();
    let mut changes = first.watch();
    while first.jobs.one(job.id).await.unwrap().done == 0 {
        let _moved = changes.recv().await;
    }
    first.stop().await;
    let stopped = first.jobs.one(job.id).await.unwrap();
    assert_eq!((stopped.state, stopped.total), (JobState::Stopped, Some(3_000)));
    assert_eq!(deleted(&first, &ids).await as u64, stopped.done, "what is counted is done, and nothing else");
    drop(first);

    clock.step(-86_400_000_000); // whatever the wall clock says
    let next = engine_by(folder.path(), Arc::new(clock)).await;
    next.deliver_if_alone().await.unwrap();
    assert_eq!(next.jobs.one(job.id).await.unwrap().state, JobState::Stopped, "nobody asked for it again");
    next.jobs.resume(job.id).await.unwrap();
    let done = until(&next, job.id, JobState::Done).await;
    assert_eq!((done.done, done.result.events, deleted(&next, &ids).await), (3_000, 3_000, 3_000));
    next.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_run_and_the_others_wait_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path()).await;
    captured(&engine, 1).await;
    let mut ids = Vec::new();
    engine.deliver_if_alone().await.unwrap();
    for _ in 0..5 {
        ids.push(engine.jobs.ask(JobKind::Delete, &search("nothing is called so")).await.unwrap().id);
    }
    for id in &ids {
        until(&engine, *id, JobState::Done).await;
    }
    let mut began = Vec::new();
    for id in &ids {
        began.push(engine.jobs.one(*id).await.unwrap().started_at.unwrap());
    }
    assert!(began.is_sorted(), "{began:?}");
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_process_asks_for_is_run_by_the_owner() {
    let folder = tempfile::tempdir().unwrap();
    let owner = engine(folder.path()).await;
    captured(&owner, 20).await;
    owner.deliver_if_alone().await.unwrap();
    let other = engine(folder.path()).await;
    assert!(!other.deliver_if_alone().await.unwrap());
    let job = acting(Actor::Page, other.jobs.ask(JobKind::Delete, &search("order"))).await.unwrap();
    let done = until(&other, job.id, JobState::Done).await;
    assert_eq!((done.done, done.asked_by), (20, Actor::Page));
    let trail = owner.inbox().audit(AuditFilter::default(), None, 10).await.unwrap().items;
    let [entry] = trail.as_slice() else { panic!("one entry for all of them: {trail:?}") };
    assert_eq!((entry.who, entry.what), (Actor::Page, Deed::Deleted));
    assert_eq!(
        entry.subject.detail,
        *serde_json::json!({ "job": job.id, "q": "order", "events": 20 }).as_object().unwrap()
    );
    assert_eq!(other.jobs.cancel(job.id).await.unwrap().state, JobState::Done, "it has ended");
    other.stop().await;
    owner.stop().await;
}

#[tokio::test]
async fn what_means_no_event_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path()).await;
    for which in [search(" "), Which::Events(Vec::new()), search(&"x".repeat(1_001))] {
        let refused = engine.jobs.ask(JobKind::Delete, &which).await;
        assert!(matches!(refused, Err(EngineError::BadInput(_) | EngineError::Search(_))), "{refused:?}");
    }
    assert!(matches!(engine.jobs.cancel(1).await, Err(InboxError::UnknownJob(1))));
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_later_hookmitt_asked_for_fails_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path()).await;
    engine.deliver_if_alone().await.unwrap();
    let new = hookmitt_inbox::NewJob { kind: "fold", asked: serde_json::json!({}) };
    let job = engine.inbox().add_job(new).await.unwrap();
    let failed = until(&engine, job.id, JobState::Failed).await;
    assert_eq!(failed.why.as_deref(), Some("this hookmitt doesn't know what was asked for"));
    engine.stop().await;
}
