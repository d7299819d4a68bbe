//! Which delivery goes out next: by order, by the clock, and after a process that was cut off.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use hookmitt_event::{Attempt, DeliveryState, EventId, OrderMode};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};

use crate::{Claimed, Claiming, Finish, Next, TargetSettings, batch::Batch, claims, queue_story::Story};

const SECOND: Duration = Duration::from_secs(1);
const HOUR: i64 = 60 * 60 * 1_000_000;

#[tokio::test]
async fn an_attempt_ends_and_the_next_is_claimed_in_one_commit() {
    let story = Story::begin(OrderMode::Sequential).await;
    for object in ["a", "b", "c"] {
        story.arrives(Some(object)).await;
    }
    let first = story.claimed().await.unwrap();
    let (commits, ended) = (story.inbox.commits(), Finish::Completed(story.attempt(&first)));
    let before = *commits.borrow();
    let finished = story.inbox.finish(&first, ended.clone(), Some(story.claiming())).await.unwrap();
    assert_eq!(*commits.borrow(), before + 1);
    let second = finished.next.expect("the next one waits");
    assert_eq!((finished.stored, second.seq), (true, first.seq + 1));
    let again = story.inbox.finish(&first, ended, Some(story.claiming())).await.unwrap();
    assert!(!again.stored && again.next.is_none(), "an attempt that ended before claims nothing");

    let other = story.restarted();
    other.own(7, "lock".to_owned()).await.unwrap();
    let ended = Finish::Completed(story.attempt(&second));
    let finished = story.inbox.finish(&second, ended, Some(story.claiming())).await.unwrap();
    assert!(finished.stored && finished.next.is_none(), "another process delivers now");
}

const STEPS: [i64; 8] = [
    70_000_000,
    -70_000_000,
    HOUR,
    -HOUR,
    45 * 24 * HOUR,
    -45 * 24 * HOUR,
    365 * 24 * HOUR,
    -365 * 24 * HOUR,
];

#[tokio::test]
async fn no_step_of_the_clock_takes_a_claim_back() {
    for step in STEPS {
        let story = Story::begin(OrderMode::Parallel(4)).await;
        story.arrives(None).await;
        let claimed = story.claimed().await.expect("it is due");
        story.clock.step(step);
        assert!(story.claimed().await.is_none(), "{step}: it is being sent");
        story.clock.pass(61 * SECOND);
        assert!(story.claimed().await.is_none(), "{step}: still");
        story.completes(&claimed).await;
        assert!(story.claimed().await.is_none(), "{step}: sent once");
    }
}

#[tokio::test]
async fn no_step_of_the_clock_brings_a_retry_forward_or_strands_it() {
    for order in [OrderMode::Sequential, OrderMode::Fifo, OrderMode::FifoByKey, OrderMode::Parallel(4)] {
        for step in STEPS {
            let story = Story::begin(order).await;
            story.arrives(Some("a")).await;
            story.fails(&story.claimed().await.unwrap(), 10 * SECOND).await;
            story.clock.pass(4 * SECOND);
            story.clock.step(step);
            assert_eq!(story.wait().await, Some(6 * SECOND), "{order} {step}");
            story.clock.pass(6 * SECOND);
            assert_eq!(story.claimed().await.map(|claimed| claimed.attempt), Some(2), "{order} {step}");
        }
    }
}

#[tokio::test]
async fn a_retry_survives_a_restart_with_another_clock() {
    for step in STEPS {
        let story = Story::begin(OrderMode::Sequential).await;
        story.arrives(None).await;
        story.inbox.keep_clock().await.unwrap();
        story.fails(&story.claimed().await.unwrap(), 10 * SECOND).await;
        story.clock.step(step);
        let story = Story { inbox: story.restarted(), ..story };
        let wait = story.wait().await;
        let due = if step > 0 { None } else { Some(10 * SECOND) }; // the restart counts as a pause of that length
        assert_eq!(wait, due, "{step}");
    }
}

#[tokio::test]
async fn a_due_time_that_no_backoff_gives_is_due_now() {
    for order in [OrderMode::Sequential, OrderMode::Fifo, OrderMode::FifoByKey] {
        let story = Story::begin(order).await;
        story.arrives(None).await;
        story.fails(&story.claimed().await.unwrap(), Duration::from_secs(400 * 86_400)).await;
        assert_eq!(story.claimed().await.map(|claimed| claimed.attempt), Some(2), "{order}");
    }
}

#[tokio::test]
async fn what_was_under_way_when_the_process_ended_is_an_attempt_without_an_answer() {
    let story = Story::begin(OrderMode::Sequential).await;
    let id = story.arrives(None).await;
    for number in 1..=5 {
        assert_eq!(story.claimed().await.unwrap().attempt, number);
        let inbox = story.restarted();
        assert_eq!(inbox.settle_cut_off(None).await.unwrap(), 1);
        assert_eq!(inbox.settle_cut_off(None).await.unwrap(), 0, "once");
        let delivery = inbox.deliveries(id).await.unwrap().remove(0);
        let last = delivery.attempts.last().unwrap();
        assert_eq!((delivery.attempts.len(), last.number), (number as usize, number));
        assert!(last.is_ambiguous(), "it may have arrived");
        assert_eq!(last.error.as_deref(), Some("hookmitt stopped before an answer arrived"));
        let state = if number < 5 { DeliveryState::Pending } else { DeliveryState::DeadLetter };
        assert_eq!(delivery.state, state, "it counts: {number}");
        assert_eq!(delivery.last_error, last.error);
    }
}

#[tokio::test]
async fn a_blocked_head_makes_nobody_look_again() {
    let story = Story::begin(OrderMode::Fifo).await;
    for _ in 0..3 {
        story.arrives(None).await;
    }
    let head = story.claimed().await.unwrap();
    assert!(matches!(story.next().await, Next::Nothing), "the head is being sent");
    story.fails(&head, 10 * SECOND).await;
    assert_eq!(story.wait().await, Some(10 * SECOND), "though two more wait");

    let story = Story::begin(OrderMode::FifoByKey).await;
    for object in ["a", "a", "b", "a"] {
        story.arrives(Some(object)).await;
    }
    let (a, b) = (story.claimed().await.unwrap(), story.claimed().await.unwrap());
    assert_eq!((a.seq, b.seq), (1, 3));
    assert!(matches!(story.next().await, Next::Nothing), "both heads are being sent");
    story.fails(&a, 10 * SECOND).await;
    story.completes(&b).await;
    assert_eq!(story.wait().await, Some(10 * SECOND), "what waits behind its head is not due");
    story.clock.pass(10 * SECOND);
    let again = story.claimed().await.unwrap();
    assert_eq!((again.seq, again.attempt), (1, 2));
    story.completes(&again).await;
    assert_eq!(story.claimed().await.unwrap().seq, 2);
}

/// Counts the steps of SQLite's virtual machine that it takes to claim the next of `waiting` deliveries. All are for
/// the same object, and the first of them has failed once.
async fn steps(order: OrderMode, waiting: u32) -> u32 {
    const FILL: &str = "WITH RECURSIVE n (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM n WHERE n < ?1)
        INSERT INTO event (seq, id, source, received_at, via, verdict, flags, object, method, path, version, size,
            sha256, headers, body)
        SELECT n, randomblob(16), 1, n, 0, 0, 0, 'a', 'POST', '', 11, 0, zeroblob(32), x'', x'' FROM n";
    const QUEUE: &str = "INSERT INTO delivery (event, number, target, state, due_at)
        SELECT seq, 1, ?1, 0, iif(seq % 2, NULL, ?2) FROM event WHERE seq > 1 ORDER BY seq";
    let story = Story::begin(order).await;
    story.arrives(Some("a")).await;
    story.fails(&story.claimed().await.unwrap(), Duration::ZERO).await;
    let mut db = rusqlite::Connection::open(story.inbox.path()).unwrap();
    db.execute(FILL, [waiting]).unwrap();
    let now = crate::now::Now::from(&story.inbox.clock);
    db.execute(QUEUE, (story.target.0, now.store + 1_000_000)).unwrap();
    let counted = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&counted);
    let look = move || {
        count.fetch_add(1, Ordering::SeqCst);
        false
    };
    db.progress_handler(1, Some(look)).unwrap();
    let present = claims::Present { now, latest: now.store + HOUR };
    let next = claims::next(&db, story.target, order, present).unwrap();
    assert!(matches!(&next, Next::Claimed(claimed) if claimed.seq == 1), "{next:?}");
    counted.load(Ordering::SeqCst)
}

#[tokio::test]
async fn a_claim_costs_the_same_whatever_waits() {
    for order in [OrderMode::Sequential, OrderMode::Fifo, OrderMode::FifoByKey, OrderMode::Parallel(4)] {
        let (few, many) = (steps(order, 10).await, steps(order, 10_000).await);
        assert!(many <= few + few / 5, "{order}: {few} steps with 10, {many} with 10,000");
    }
}

#[tokio::test]
async fn events_without_an_object_block_nobody() {
    let story = Story::begin(OrderMode::FifoByKey).await;
    for _ in 0..4 {
        story.arrives(None).await;
    }
    for seq in 1..=4 {
        assert_eq!(story.claimed().await.unwrap().seq, seq);
    }
}

#[tokio::test]
async fn what_waits_when_an_order_by_key_begins_or_ends_is_in_it() {
    let story = Story::begin(OrderMode::Sequential).await;
    for object in ["a", "a", "b"] {
        story.arrives(Some(object)).await;
    }
    let settings = |order| TargetSettings { order, ..TargetSettings::default() };
    let set = |order| {
        story.inbox.set_target(story.target, "http://one.example/".to_owned(), settings(order), false)
    };
    set(OrderMode::FifoByKey).await.unwrap();
    let claim = |order| story.inbox.claim(Claiming { target: story.target, order, longest: SECOND });
    let seq = |next: Result<Next, _>| match next {
        Ok(Next::Claimed(claimed)) => Some(claimed.seq),
        _ => None,
    };
    assert_eq!(seq(claim(OrderMode::FifoByKey).await), Some(1));
    assert_eq!(seq(claim(OrderMode::FifoByKey).await), Some(3));
    assert_eq!(seq(claim(OrderMode::FifoByKey).await), None);
    set(OrderMode::Sequential).await.unwrap();
    assert_eq!(seq(claim(OrderMode::Sequential).await), Some(2), "nothing blocks it any more");
}

/// A queue by key, and what its contract says must be in it.
struct ByKey {
    story: Story,
    rng: StdRng,
    keys: HashMap<i64, Option<&'static str>>,
    ids: Vec<(i64, EventId)>,
    out: Vec<Claimed>,
    open: BTreeSet<i64>,
}

impl ByKey {
    async fn step(&mut self) {
        match self.rng.random_range(0..10) {
            0..=3 => self.arrives().await,
            4..=6 => self.claims().await,
            7 | 8 if !self.out.is_empty() => self.ends().await,
            9 if !self.ids.is_empty() => self.retries().await,
            _ => self.story.clock.pass(SECOND),
        }
    }

    async fn arrives(&mut self) {
        let object = ["a", "b", "c"].get(self.rng.random_range(0..4)).copied();
        let id = self.story.arrives(object).await;
        let seq = self.story.inbox.event(id).await.unwrap().seq;
        self.keys.insert(seq, object);
        self.ids.push((seq, id));
        self.open.insert(seq);
    }

    async fn claims(&mut self) {
        let Some(claimed) = self.story.claimed().await else { return };
        if let Some(object) = self.keys[&claimed.seq] {
            let same = |seq: &i64| self.keys[seq] == Some(object);
            assert!(!self.out.iter().any(|other| same(&other.seq)), "two of {object} at once");
            assert_eq!(self.open.iter().find(|seq| same(seq)), Some(&claimed.seq), "the oldest of {object}");
        }
        self.out.push(claimed);
    }

    async fn ends(&mut self) {
        let claimed = self.out.swap_remove(self.rng.random_range(0..self.out.len()));
        if self.rng.random_range(0..3) == 0 {
            return self.story.fails(&claimed, self.rng.random_range(0..3) * SECOND).await;
        }
        let end = Finish::Final(self.story.attempt(&claimed));
        self.story.inbox.finish(&claimed, end, None).await.unwrap();
        self.open.remove(&claimed.seq);
    }

    async fn retries(&mut self) {
        let (seq, id) = self.ids[self.rng.random_range(0..self.ids.len())];
        if !self.open.contains(&seq) && !self.story.inbox.retry(id).await.unwrap().is_empty() {
            self.open.insert(seq);
        }
    }

    async fn drains(&mut self) {
        for claimed in std::mem::take(&mut self.out) {
            self.story.completes(&claimed).await;
            self.open.remove(&claimed.seq);
        }
        self.story.clock.pass(9 * SECOND);
        while let Some(claimed) = self.story.claimed().await {
            self.story.completes(&claimed).await;
            assert!(self.open.remove(&claimed.seq));
        }
    }
}

/// No two deliveries of a key run at once, none runs before an older one that waits, and none is left over at the end.
#[tokio::test]
async fn an_order_by_key_holds_whatever_happens() {
    for seed in 0..6 {
        let (story, rng) = (Story::begin(OrderMode::FifoByKey).await, StdRng::seed_from_u64(seed));
        let (keys, ids, out, open) = (HashMap::new(), Vec::new(), Vec::new(), BTreeSet::new());
        let mut queue = ByKey { story, rng, keys, ids, out, open };
        for _ in 0..400 {
            queue.step().await;
        }
        queue.drains().await;
        assert!(queue.open.is_empty(), "left over: {:?}", queue.open);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_answer_for_which_there_is_no_room_is_left_out_and_the_delivery_ends() {
    const ROOM: u32 = 8; // pages: enough for rows
    let story = Story::begin(OrderMode::default()).await;
    let id = story.arrives(None).await;
    let claimed = story.claimed().await.unwrap();
    let fill = |batch: &mut Batch<'_>| {
        let pages: u32 = batch.db.pragma_query_value(None, "page_count", |row| row.get(0))?;
        Ok(batch.db.query_row(&format!("PRAGMA max_page_count = {}", pages + ROOM), [], |_| Ok(()))?)
    };
    story.inbox.write(fill).await.unwrap();
    let long = Attempt { body: vec![b'x'; 1024 * 1024].into(), ..story.attempt(&claimed) };
    assert!(story.inbox.finish(&claimed, Finish::Completed(long), None).await.unwrap().stored);
    let delivery = story.inbox.deliveries(id).await.unwrap().remove(0);
    assert_eq!((delivery.state, delivery.attempts.len()), (DeliveryState::Completed, 1));
    let kept = &delivery.attempts[0];
    assert_eq!((kept.body.len(), kept.body_truncated), (0, true));
}
