//! Jobs: each event is changed once, whatever ends between two steps.

use std::{sync::Arc, time::Duration};

use hookmitt_clock::Clock as _;
use hookmitt_event::{Actor, Deed, DeliveryState, EventId, JobState, OrderMode, Timestamp};
use serde_json::json;

use crate::{Act, AuditFilter, Inbox, InboxError, Job, NewJob, Step, WhyNot, acting, queue_story::Story};

const DELETE: Act = Act::Delete(Timestamp::from_seconds(1_800_000_000));

fn new() -> NewJob {
    NewJob { kind: "delete", asked: json!({ "q": "x" }) }
}

async fn begun(inbox: &Inbox) -> Job {
    inbox.add_job(new()).await.unwrap();
    inbox.begin_job().await.unwrap().unwrap()
}

/// Returns a step over these events, each with its sequence number as the position.
async fn step(story: &Story, job: &Job, act: Act, events: &[EventId]) -> Step {
    let mut all = Vec::new();
    for id in events {
        all.push((story.inbox.event(*id).await.unwrap().seq, *id));
    }
    Step { job: job.id, act, events: all.into(), entry: None }
}

/// Does all of a step, in as many steps as it takes.
async fn do_all(inbox: &Inbox, mut step: Step) {
    while !step.events.is_empty() {
        let stepped = inbox.step(step.clone()).await.unwrap();
        step.events = Arc::from(&step.events[stepped.done..]);
        step.entry = stepped.entry;
    }
}

#[tokio::test]
async fn what_a_step_does_and_how_far_the_job_is_are_stored_together() {
    let story = Story::begin(OrderMode::Sequential).await;
    let [first, second] = [story.arrives(None).await, story.arrives(None).await];
    let job = begun(&story.inbox).await;
    assert_eq!((job.state, job.top, job.position, job.total), (JobState::Running, 2, None, None));
    story.inbox.set_job_total(job.id, 2).await.unwrap();
    do_all(&story.inbox, step(&story, &job, DELETE, &[second]).await).await;

    let next = story.restarted(); // the process was killed here
    assert_eq!(next.stop_jobs().await.unwrap(), [job.id]);
    let stopped = next.job(job.id).await.unwrap();
    assert_eq!((stopped.state, stopped.done, stopped.total), (JobState::Stopped, 1, Some(2)));
    assert_eq!((stopped.position, stopped.result.events, stopped.result.deliveries), (Some(2), 1, 1));
    assert!(story.inbox.event(second).await.unwrap().deleted_at.is_some());
    assert!(story.inbox.event(first).await.unwrap().deleted_at.is_none());

    next.resume_job(job.id).await.unwrap();
    let again = next.begin_job().await.unwrap().unwrap();
    assert_eq!((again.id, again.position, again.total), (job.id, Some(2), Some(2)), "it goes on from there");
    do_all(&next, step(&story, &job, DELETE, &[first]).await).await;
    assert!(next.end_job(job.id, None).await.unwrap());
    let done = next.job(job.id).await.unwrap();
    assert_eq!((done.state, done.done, done.result.deliveries), (JobState::Done, 2, 2));
}

#[tokio::test]
async fn a_job_that_was_cancelled_changes_nothing_more() {
    let story = Story::begin(OrderMode::Sequential).await;
    let id = story.arrives(None).await;
    let job = begun(&story.inbox).await;
    let cancelled = story.inbox.cancel_job(job.id).await.unwrap();
    assert_eq!((cancelled.state, cancelled.ended_at), (JobState::Cancelled, Some(story.clock.now())));
    let refused = story.inbox.step(step(&story, &job, DELETE, &[id]).await).await;
    assert!(matches!(refused, Err(InboxError::JobEnded)), "{refused:?}");
    assert!(story.inbox.event(id).await.unwrap().deleted_at.is_none());
    assert!(!story.inbox.end_job(job.id, None).await.unwrap(), "it stays cancelled");
    assert_eq!(story.inbox.resume_job(job.id).await.unwrap().state, JobState::Waiting);
}

#[tokio::test]
async fn only_a_job_that_ended_before_its_time_can_go_on() {
    let story = Story::begin(OrderMode::Sequential).await;
    let job = begun(&story.inbox).await;
    let refused = story.inbox.resume_job(job.id).await;
    assert!(matches!(refused, Err(InboxError::NotResumable { state: JobState::Running, .. })), "{refused:?}");
    story.inbox.end_job(job.id, Some("the disk is full".to_owned())).await.unwrap();
    assert_eq!(story.inbox.job(job.id).await.unwrap().why.as_deref(), Some("the disk is full"));
    assert_eq!(story.inbox.resume_job(job.id).await.unwrap().why, None);
    story.inbox.begin_job().await.unwrap();
    story.inbox.end_job(job.id, None).await.unwrap();
    let refused = story.inbox.resume_job(job.id).await;
    assert!(matches!(refused, Err(InboxError::NotResumable { state: JobState::Done, .. })), "{refused:?}");
    assert!(matches!(story.inbox.cancel_job(99).await, Err(InboxError::UnknownJob(99))));
}

#[tokio::test]
async fn the_audit_trail_has_one_entry_for_all_that_a_run_deletes() {
    let story = Story::begin(OrderMode::Sequential).await;
    let [one, two, kept] = [story.arrives(None).await, story.arrives(None).await, story.arrives(None).await];
    let job = begun(&story.inbox).await;
    for (act, events) in [(DELETE, &[one, two, one][..]), (Act::Restore, &[two, kept])] {
        let mut next = step(&story, &job, act, events).await;
        for at in events {
            next.events = Arc::new([(1, *at)]); // each is a step of its own
            next.entry = acting(Actor::Window, story.inbox.step(next.clone())).await.unwrap().entry;
        }
    }
    let trail = story.inbox.audit(AuditFilter::default(), None, 10).await.unwrap().items;
    let told: Vec<_> =
        trail.iter().map(|entry| (entry.what, entry.who, &entry.subject.detail["events"])).collect();
    assert_eq!(told, [(Deed::Restored, Actor::Window, &json!(1)), (Deed::Deleted, Actor::Window, &json!(2))]);
    assert_eq!(trail[0].subject.detail["job"], json!(job.id));
}

#[tokio::test]
async fn a_hundred_may_wait() {
    let story = Story::begin(OrderMode::Sequential).await;
    for _ in 0..100 {
        story.inbox.add_job(new()).await.unwrap();
    }
    assert!(matches!(story.inbox.add_job(new()).await, Err(InboxError::TooManyJobs(100))));
    let begun = story.inbox.begin_job().await.unwrap().unwrap();
    assert_eq!(begun.id, 1, "the one that has waited longest");
    story.inbox.add_job(new()).await.unwrap();
    let page = story.inbox.jobs(Some(JobState::Waiting), None, 2).await.unwrap();
    assert_eq!((page.items[0].id, page.next), (101, Some(100)));
    let rest = story.inbox.jobs(Some(JobState::Running), None, 2).await.unwrap();
    assert_eq!((rest.items.len(), rest.next), (1, None));
}

#[tokio::test]
async fn a_process_that_no_longer_delivers_runs_no_job() {
    let story = Story::begin(OrderMode::Sequential).await;
    story.inbox.own(1, String::new()).await.unwrap();
    let id = story.arrives(None).await;
    let job = begun(&story.inbox).await;
    let other = story.restarted();
    other.own(2, String::new()).await.unwrap();
    let refused = story.inbox.step(step(&story, &job, DELETE, &[id]).await).await;
    assert!(matches!(refused, Err(InboxError::NotOwner)), "{refused:?}");
    assert!(matches!(story.inbox.stop_jobs().await, Err(InboxError::NotOwner)), "nor ends the other's");
    assert_eq!(other.stop_jobs().await.unwrap(), [job.id]);
}

#[tokio::test]
async fn what_fails_is_listed_with_its_reason() {
    let story = Story::begin(OrderMode::Sequential).await;
    let [waits, dies] = [story.arrives(None).await, story.arrives(None).await];
    let job = begun(&story.inbox).await;
    let why = WhyNot(Arc::new(|there| there.map_or_else(String::new, |all| all[0].state.to_string())));
    do_all(&story.inbox, step(&story, &job, Act::Retry(why), &[dies, waits]).await).await;
    let failures = story.inbox.job_failures(job.id, 0, 10).await.unwrap();
    let said: Vec<_> = failures.iter().map(|one| (one.n, one.seq, one.event, one.why.as_str())).collect();
    assert_eq!(said, [(1, Some(2), dies, "pending"), (2, Some(1), waits, "pending")]);
    assert_eq!(story.inbox.job_failures(job.id, 1, 10).await.unwrap().len(), 1);
    let state = story.inbox.deliveries(dies).await.unwrap()[0].state;
    assert_eq!((state, story.inbox.job(job.id).await.unwrap().failed), (DeliveryState::Pending, 2));
}

#[tokio::test]
async fn ended_jobs_are_forgotten_after_seven_days_with_their_failures() {
    let story = Story::begin(OrderMode::Sequential).await;
    let event = story.arrives(None).await;
    let old = begun(&story.inbox).await;
    let why = WhyNot(Arc::new(|_| "it waits".to_owned()));
    do_all(&story.inbox, step(&story, &old, Act::Retry(why), &[event]).await).await;
    story.inbox.end_job(old.id, None).await.unwrap();
    story.clock.pass(Duration::from_secs(6 * 86_400));
    let newer = begun(&story.inbox).await;
    story.inbox.end_job(newer.id, None).await.unwrap();
    story.clock.step(365 * 86_400 * 1_000_000); // the wall clock counts for nothing
    story.inbox.forget_jobs().await.unwrap();
    assert!(story.inbox.job(old.id).await.is_ok());
    story.clock.pass(Duration::from_secs(86_400 + 1));
    let open = story.inbox.add_job(new()).await.unwrap();
    story.inbox.forget_jobs().await.unwrap();
    let left: Vec<_> =
        story.inbox.jobs(None, None, 10).await.unwrap().items.iter().map(|job| job.id).collect();
    assert_eq!(left, [open.id, newer.id]);
    assert!(matches!(story.inbox.job_failures(old.id, 0, 1).await, Err(InboxError::UnknownJob(_))));
}

#[tokio::test]
async fn a_thousand_ended_jobs_are_kept() {
    let story = Story::begin(OrderMode::Sequential).await;
    for _ in 0..1_003 {
        let job = story.inbox.add_job(new()).await.unwrap();
        story.clock.pass(Duration::from_secs(1));
        story.inbox.cancel_job(job.id).await.unwrap();
    }
    story.inbox.forget_jobs().await.unwrap();
    let kept = story.inbox.jobs(None, None, 2_000).await.unwrap().items;
    assert_eq!((kept.len(), kept[999].id), (1_000, 4));
}
