//! When the packer acts, and what it leaves alone.

use hookmitt_event::HeaderLines;

use crate::packing_story::{LONG, SETTLED, begin, count, pack_all, packer, store, text};

#[tokio::test]
async fn an_event_is_left_alone_until_it_has_been_stored_for_a_while() {
    let story = begin().await;
    store(&story, HeaderLines::default(), text(9)).await;
    let mut packer = packer(&story.inbox);
    assert_eq!(packer.step().await.unwrap(), 0);
    story.clock.pass(LONG);
    store(&story, HeaderLines::default(), text(9)).await;
    assert_eq!(packer.step().await.unwrap(), 1, "only the first");
    assert_eq!(story.inbox.packing().await.unwrap().waiting, 1);
}

#[tokio::test]
async fn few_events_wait_for_others_so_that_they_share_blocks() {
    let story = begin().await;
    let mut packer = packer(&story.inbox);
    for _ in 0..100 {
        store(&story, HeaderLines::default(), text(1)).await;
    }
    story.clock.pass(SETTLED);
    assert_eq!(packer.step().await.unwrap(), 0, "too few");
    for _ in 0..450 {
        store(&story, HeaderLines::default(), text(1)).await;
    }
    story.clock.pass(SETTLED);
    assert_eq!(packer.step().await.unwrap(), 512, "enough");
    assert_eq!(packer.step().await.unwrap(), 0, "too few again");
    assert_eq!(count(&story, "SELECT count(*) FROM block"), 8);
    story.clock.pass(LONG);
    assert_eq!(packer.step().await.unwrap(), 38, "they have waited for long");
}

#[tokio::test]
async fn a_large_body_that_does_not_shrink_is_not_moved() {
    let story = begin().await;
    let mut state = 1_u32;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    })
    .take(300_000)
    .collect();
    let id = store(&story, HeaderLines::default(), noise.clone()).await;
    store(&story, HeaderLines::default(), text(9)).await;
    pack_all(&story, &story.inbox).await;
    assert_eq!(count(&story, "SELECT min(seq) FROM raw"), 1);
    assert_eq!(count(&story, "SELECT min(seq) FROM packed"), 2);
    assert_eq!(story.inbox.event(id).await.unwrap().request.body, noise);
    assert_eq!(story.inbox.packing().await.unwrap().waiting, 0);
}

#[tokio::test]
async fn the_largest_bodies_stay_so_that_the_writer_is_never_held_for_long() {
    let story = begin().await;
    let large = vec![b' '; 5 << 20];
    let ids = [store(&story, HeaderLines::default(), large.clone()).await, story.arrives(None).await];
    pack_all(&story, &story.inbox).await;
    assert_eq!(count(&story, "SELECT min(seq) FROM raw"), 1);
    assert_eq!(count(&story, "SELECT min(seq) FROM packed"), 2);
    assert_eq!(story.inbox.event(ids[0]).await.unwrap().request.body, large);
    assert_eq!(story.inbox.packing().await.unwrap().waiting, 0);
}
