//! The waiting deliveries of deleted events, and the numbers of events that are gone.

use std::time::Duration;

use hookmitt_clock::Clock as _;
use hookmitt_event::{Delivery, DeliveryState, EventId, OrderMode};

use crate::{
    InboxError,
    queue_story::Story,
    reasons::{DELETED, DUPLICATE},
};

async fn delivery(story: &Story, id: EventId) -> Delivery {
    story.inbox.deliveries(id).await.unwrap().remove(0)
}

fn skipped(delivery: &Delivery) -> bool {
    delivery.state == DeliveryState::Skipped
        && delivery.last_error.as_deref() == Some(DELETED)
        && delivery.next_attempt_at.is_none()
}

#[tokio::test]
async fn what_waits_goes_with_its_event_and_comes_back_with_it() {
    for order in [OrderMode::Sequential, OrderMode::Fifo, OrderMode::FifoByKey, OrderMode::Parallel(2)] {
        let story = Story::begin(order).await;
        let [first, second] = [story.arrives(Some("a")).await, story.arrives(Some("a")).await];
        let now = story.clock.now();
        assert_eq!(story.inbox.set_deleted(first, Some(now)).await.unwrap(), [story.target]);
        assert!(skipped(&delivery(&story, first).await));
        assert_eq!(story.inbox.set_deleted(first, Some(now)).await.unwrap(), [], "it is gone already");
        assert_eq!(story.claimed().await.unwrap().delivery.event, second, "nothing stands before it");

        assert_eq!(story.inbox.retry(first).await.unwrap(), [], "what is in the bin is not sent");
        assert_eq!(story.inbox.set_deleted(first, None).await.unwrap(), [story.target]);
        let again = delivery(&story, first).await;
        assert_eq!((again.state, again.last_error), (DeliveryState::Pending, None));
    }
}

#[tokio::test]
async fn what_is_being_sent_is_not_tried_again_once_its_event_is_deleted() {
    let story = Story::begin(OrderMode::Sequential).await;
    let now = story.clock.now();
    let [failing, cut_off] = [story.arrives(None).await, story.arrives(None).await];
    let claimed = story.claimed().await.unwrap();
    assert_eq!(story.inbox.set_deleted(failing, Some(now)).await.unwrap(), [], "it is on its way");
    story.fails(&claimed, Duration::from_secs(1)).await;
    let ended = delivery(&story, failing).await;
    assert!(skipped(&ended) && ended.attempts.len() == 1, "{ended:?}");

    assert_eq!(story.claimed().await.unwrap().delivery.event, cut_off);
    story.inbox.set_deleted(cut_off, Some(now)).await.unwrap();
    let inbox = story.restarted();
    assert_eq!(inbox.settle_cut_off(None).await.unwrap(), 1);
    assert!(skipped(&delivery(&story, cut_off).await));
}

#[tokio::test]
async fn what_waited_for_a_target_that_is_gone_does_not_come_back() {
    let story = Story::begin(OrderMode::Sequential).await;
    let now = story.clock.now();
    let id = story.arrives(None).await;
    story.inbox.set_deleted(id, Some(now)).await.unwrap();
    story.inbox.remove_target(story.target, now).await.unwrap();
    assert_eq!(story.inbox.set_deleted(id, None).await.unwrap(), []);
    assert!(skipped(&delivery(&story, id).await));
}

#[tokio::test]
async fn an_unknown_event_can_neither_be_deleted_nor_restored() {
    let story = Story::begin(OrderMode::Sequential).await;
    for at in [Some(story.clock.now()), None] {
        let refused = story.inbox.set_deleted(EventId::fresh(), at).await;
        assert!(matches!(refused, Err(InboxError::UnknownEvent(_))), "{refused:?}");
    }
}

#[tokio::test]
async fn numbers_are_never_given_out_again() {
    let story = Story::begin(OrderMode::Sequential).await;
    let seq = async |id: EventId| story.inbox.event(id).await.unwrap().seq;
    for _ in 0..3 {
        story.arrives(None).await;
    }
    // Deleted for good, while a process captures.
    story.inbox.write(|batch| Ok(batch.db.execute("DELETE FROM event", [])?)).await.unwrap();
    assert_eq!(seq(story.arrives(None).await).await, 4);
    story.inbox.write(|batch| Ok(batch.db.execute("DELETE FROM event WHERE seq = 4", [])?)).await.unwrap();
    assert_eq!(story.inbox.last_given().await.unwrap(), 4, "so an index that has it is not of another inbox");
    let inbox = story.restarted();
    let new = crate::samples::event(1, story.clock.now());
    assert_eq!(inbox.store(new).await.unwrap().seq, 5, "whoever opens it next knows, too");
}

#[tokio::test]
async fn a_repeat_that_came_meanwhile_is_sent_in_place_of_its_first() {
    let story = Story::begin(OrderMode::Sequential).await;
    let first = story.arrives(None).await;
    story.inbox.set_deleted(first, Some(story.clock.now())).await.unwrap();
    let repeat = story.repeats(first).await;
    assert_eq!(delivery(&story, repeat).await.state, DeliveryState::Pending);
    assert_eq!(story.inbox.set_deleted(first, None).await.unwrap(), []);
    let left = delivery(&story, first).await;
    assert_eq!((left.state, left.last_error.as_deref()), (DeliveryState::Skipped, Some(DUPLICATE)));
    assert_eq!(story.claimed().await.unwrap().delivery.event, repeat);
    assert!(story.claimed().await.is_none(), "only one of them is sent");
}

#[tokio::test]
async fn a_replay_that_its_person_stopped_does_not_come_back() {
    let story = Story::begin(OrderMode::Sequential).await;
    let id = story.arrives(None).await;
    let replay = story.inbox.add_replays(id, vec![story.target]).await.unwrap();
    story.inbox.set_deleted(id, Some(story.clock.now())).await.unwrap();
    assert_eq!(story.inbox.add_replays(id, vec![story.target]).await.unwrap(), [], "it is in the bin");
    assert_eq!(story.inbox.stop(&replay).await.unwrap().len(), 1);
    assert_eq!(story.inbox.set_deleted(id, None).await.unwrap(), [story.target], "only what was caught");
}
