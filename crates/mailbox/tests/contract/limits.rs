//! Quotas, ages and refusals; held senders, and closing the store.

use std::time::Duration;

use bytes::Bytes;
use hookmitt_mailbox::{DeviceKey, Held, Mailbox, MailboxError, Quota, Reply};

use super::{
    A_DAY, A_MINUTE, DAY, DESKTOP, LAPTOP, MINUTE, Maker, NOW, TUNNEL, eventually, holds, join, new_tunnel,
    parcel, put, with_tunnel, within,
};

pub(crate) async fn a_quota_of_letters_is_kept(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    store.open_tunnel(new_tunnel("other", LAPTOP)).await.unwrap();
    let quota = Quota { letters: 3, ..Quota::default() };
    let positions = put(&store, 0..3).await;
    let refused = store.put(TUNNEL, parcel(3, 100), &quota).await.unwrap_err();
    assert!(matches!(refused, MailboxError::QuotaFull(_)), "{refused}");
    // Each tunnel has a quota of its own.
    store.put("other", parcel(0, 100), &quota).await.unwrap();
    store.ack(TUNNEL, &LAPTOP, positions[0]).await.unwrap();
    holds(&store, 3).await;
    store.put(TUNNEL, parcel(3, 100), &quota).await.unwrap();
    assert!(matches!(store.put(TUNNEL, parcel(4, 100), &quota).await, Err(MailboxError::QuotaFull(_))));
}

pub(crate) async fn a_quota_of_bytes_is_kept(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    let quota = Quota { bytes: 250, ..Quota::default() };
    let positions = put(&store, 0..2).await;
    let refused = store.put(TUNNEL, parcel(2, 51), &quota).await.unwrap_err();
    assert!(matches!(refused, MailboxError::QuotaFull(_)), "{refused}");
    store.put(TUNNEL, parcel(2, 50), &quota).await.unwrap();
    store.ack(TUNNEL, &LAPTOP, positions[1]).await.unwrap();
    holds(&store, 1).await;
    store.put(TUNNEL, parcel(3, 200), &quota).await.unwrap();
    assert!(matches!(store.put(TUNNEL, parcel(4, 1), &quota).await, Err(MailboxError::QuotaFull(_))));
    // The same after a restart.
    store.close().await;
    let store = maker.open().await;
    assert!(matches!(store.put(TUNNEL, parcel(4, 1), &quota).await, Err(MailboxError::QuotaFull(_))));
}

pub(crate) async fn letters_that_are_too_old_are_deleted_and_said(maker: &impl Maker) {
    let quota = Quota { age: Duration::from_secs(24 * 60 * 60), ..Quota::default() };
    let store = with_tunnel(maker).await;
    let mut positions = put(&store, 0..4).await;
    maker.clock().pass(2 * A_MINUTE);
    positions.extend(put(&store, 4..10).await);
    maker.clock().pass(A_DAY - 2 * A_MINUTE);
    store.sweep(&quota).await.unwrap();
    holds(&store, 10).await;
    maker.clock().pass(A_MINUTE);
    store.sweep(&quota).await.unwrap();
    holds(&store, 6).await;
    let (depth, _) = store.depth(TUNNEL, &LAPTOP).await.unwrap();
    assert_eq!((depth.letters, depth.bytes, depth.oldest), (6, 600, Some(NOW + 4)));
    assert_eq!((depth.refused, depth.refused_at), (4, Some(NOW + DAY + MINUTE)));
    let drained = super::drain(&store, TUNNEL, 0, 6).await;
    assert_eq!(drained[0].1.number, 4);
    // A letter that every device has is not lost, however old it was.
    store.ack(TUNNEL, &LAPTOP, positions[9]).await.unwrap();
    maker.clock().pass(A_DAY);
    store.sweep(&quota).await.unwrap();
    assert_eq!(store.depth(TUNNEL, &LAPTOP).await.unwrap().0.refused, 4);
    store.close().await;
    let store = maker.open().await;
    assert_eq!(store.depth(TUNNEL, &LAPTOP).await.unwrap().0.refused, 4);
}

pub(crate) async fn what_became_too_old_is_lost_to_those_alone_that_lack_it(maker: &impl Maker) {
    let quota = Quota { age: Duration::from_secs(24 * 60 * 60), ..Quota::default() };
    let store = with_tunnel(maker).await;
    join(&store, DESKTOP).await;
    let mut positions = put(&store, 0..6).await;
    maker.clock().pass(2 * A_MINUTE);
    positions.extend(put(&store, 6..10).await);
    store.ack(TUNNEL, &LAPTOP, positions[9]).await.unwrap();
    store.ack(TUNNEL, &DESKTOP, positions[1]).await.unwrap();
    holds(&store, 8).await;
    maker.clock().pass(A_DAY - A_MINUTE);
    store.sweep(&quota).await.unwrap();
    holds(&store, 4).await;
    assert_eq!(refused(&store, LAPTOP).await, 0, "it has them all");
    assert_eq!(refused(&store, DESKTOP).await, 4);
    join(&store, [9; 32]).await;
    assert_eq!(refused(&store, [9; 32]).await, 0, "it was before its time");
    store.close().await;
    let store = maker.open().await;
    assert_eq!((refused(&store, LAPTOP).await, refused(&store, DESKTOP).await), (0, 4));
}

async fn refused(store: &impl Mailbox, device: DeviceKey) -> u64 {
    store.depth(TUNNEL, &device).await.unwrap().0.refused
}

pub(crate) async fn what_was_refused_is_counted(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    for _ in 0..5 {
        store.count_refused(TUNNEL, false);
        store.count_refused(TUNNEL, true);
    }
    store.count_refused(TUNNEL, true);
    let counted = async || (counts(&store).await == (5, Some(NOW), 6)).then_some(());
    eventually("refusals are counted", counted).await;
    store.sweep(&Quota::default()).await.unwrap();
    store.close().await;
    let again = maker.open().await;
    maker.clock().pass(A_MINUTE);
    again.count_refused(TUNNEL, false);
    let counted = async || (counts(&again).await == (6, Some(NOW + MINUTE), 6)).then_some(());
    eventually("refusals are counted on", counted).await;
}

async fn counts(store: &impl Mailbox) -> (u64, Option<i64>, u64) {
    let (depth, _) = store.depth(TUNNEL, &LAPTOP).await.unwrap();
    (depth.refused, depth.refused_at, depth.unknown)
}

pub(crate) async fn a_held_sender_gets_the_answer(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    let reply = Reply {
        status: 401,
        headers: vec![("x-odd".to_owned(), Bytes::from_static(b"\xff"))],
        body: Bytes::from_static(b"no"),
    };
    let held = store.hold([1; 16]).await.unwrap();
    let other = store.hold([2; 16]).await.unwrap();
    store.answer([1; 16], reply.clone()).await.unwrap();
    let answer = within("the answer", held.answer(Duration::from_secs(50))).await;
    assert_eq!(answer, Some(reply.clone()));
    assert_eq!(other.answer(Duration::from_millis(20)).await, None);
    // Nobody waits for these any more, or ever did.
    store.answer([2; 16], reply.clone()).await.unwrap();
    store.answer([3; 16], reply).await.unwrap();
}

pub(crate) async fn a_closed_store_says_so(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    put(&store, 0..3).await;
    store.close().await;
    store.close().await;
    let refused = store.put(TUNNEL, parcel(3, 10), &Quota::default()).await.unwrap_err();
    assert!(matches!(refused, MailboxError::Closed), "{refused}");
    assert_eq!(maker.open().await.usage().await.unwrap().letters, 3);
}
