//! Letters: put, fed, acknowledged, deleted.

use hookmitt_mailbox::{Feed, Mailbox, MailboxError, Quota};
use hookmitt_wire::Parcel;

use super::{DESKTOP, LAPTOP, Maker, NOW, TUNNEL, holds, join, new_tunnel, parcel, put, with_tunnel};

const MIB: usize = 1024 * 1024;

/// Returns the letters that wait after a position, in order, once `letters` of them have come.
pub(crate) async fn drain(
    store: &impl Mailbox,
    tunnel: &str,
    after: u64,
    letters: usize,
) -> Vec<(u64, Parcel)> {
    let mut feed = store.feed(tunnel, after).await.unwrap();
    let mut drained = Vec::new();
    while drained.len() < letters {
        let next = feed.next(letters - drained.len(), 16 * MIB).await.unwrap();
        assert!(!next.is_empty(), "a feed answered nothing");
        drained.extend(next.into_iter().map(|letter| (letter.position, letter.parcel)));
    }
    assert!(drained.is_sorted_by(|one, other| one.0 < other.0), "out of order");
    drained
}

pub(crate) async fn letters_come_out_as_they_went_in(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    let mut positions = Vec::new();
    let sent: Vec<_> = [0, 1, 100, 4_000, 5_000, 300_000].into_iter().zip(0..).collect();
    for &(size, number) in &sent {
        positions.push(store.put(TUNNEL, parcel(number, size), &Quota::default()).await.unwrap());
    }
    let drained = drain(&store, TUNNEL, 0, sent.len()).await;
    for (((size, number), position), (at, got)) in sent.into_iter().zip(positions).zip(drained) {
        assert_eq!(at, position);
        assert!(got == parcel(number, size), "letter {number} of {size} bytes came out as another");
    }
}

pub(crate) async fn letters_are_there_after_a_restart(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    let positions = put(&store, 0..20).await;
    store.ack(TUNNEL, &LAPTOP, positions[4]).await.unwrap();
    drop(store); // as if it were killed
    let store = maker.open().await;
    assert_eq!(store.devices(TUNNEL).await.unwrap()[0].cursor, positions[4]);
    let drained = drain(&store, TUNNEL, positions[4], 15).await;
    let numbers: Vec<_> = drained.iter().map(|(_, parcel)| parcel.number).collect();
    assert_eq!(numbers, (5..20).collect::<Vec<_>>());
    let after = put(&store, 20..21).await;
    assert!(after[0] > positions[19]);
}

pub(crate) async fn positions_grow_even_where_all_was_delivered(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    let positions = put(&store, 0..5).await;
    assert!(positions[0] > 0 && positions.is_sorted_by(|one, other| one < other), "{positions:?}");
    store.ack(TUNNEL, &LAPTOP, positions[4]).await.unwrap();
    holds(&store, 0).await;
    store.close().await;
    let store = maker.open().await;
    let (depth, newest) = store.depth(TUNNEL, &LAPTOP).await.unwrap();
    assert_eq!((depth.letters, newest), (0, positions[4]));
    assert!(put(&store, 5..6).await[0] > positions[4]);
}

pub(crate) async fn a_letter_goes_once_every_device_has_it(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    join(&store, DESKTOP).await;
    let positions = put(&store, 0..10).await;
    store.ack(TUNNEL, &LAPTOP, positions[9]).await.unwrap();
    store.ack(TUNNEL, &DESKTOP, positions[3]).await.unwrap();
    holds(&store, 6).await;
    let usage = store.usage().await.unwrap();
    assert_eq!((usage.tunnels, usage.bytes, usage.oldest), (1, 600, Some(NOW + 4)));
    let numbers: Vec<_> =
        drain(&store, TUNNEL, positions[3], 6).await.iter().map(|(_, parcel)| parcel.number).collect();
    assert_eq!(numbers, (4..10).collect::<Vec<_>>());
    store.ack(TUNNEL, &DESKTOP, positions[9]).await.unwrap();
    holds(&store, 0).await;
    let usage = store.usage().await.unwrap();
    assert_eq!((usage.tunnels, usage.bytes, usage.oldest), (1, 0, None));
}

pub(crate) async fn threat_9_a_cursor_never_goes_back(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    let positions = put(&store, 0..5).await;
    let cursor = async || store.devices(TUNNEL).await.unwrap()[0].cursor;
    store.ack(TUNNEL, &LAPTOP, positions[2]).await.unwrap();
    store.ack(TUNNEL, &LAPTOP, positions[0]).await.unwrap();
    store.ack(TUNNEL, &LAPTOP, 0).await.unwrap();
    assert_eq!(cursor().await, positions[2]);
    // Nor may the cursor move beyond the newest letter: later letters must be delivered.
    store.ack(TUNNEL, &LAPTOP, u64::MAX).await.unwrap();
    assert_eq!(cursor().await, positions[4]);
    put(&store, 5..7).await;
    assert_eq!(store.depth(TUNNEL, &LAPTOP).await.unwrap().0.letters, 2);
}

pub(crate) async fn threat_9_a_device_moves_its_own_cursor_only(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    join(&store, DESKTOP).await;
    // The same device has a separate cursor in another tunnel.
    store.open_tunnel(new_tunnel("other", LAPTOP)).await.unwrap();
    store.put("other", parcel(0, 10), &Quota::default()).await.unwrap();
    let positions = put(&store, 0..5).await;
    store.ack(TUNNEL, &LAPTOP, positions[4]).await.unwrap();
    assert_eq!(store.depth(TUNNEL, &LAPTOP).await.unwrap().0.letters, 0);
    assert_eq!(store.depth(TUNNEL, &DESKTOP).await.unwrap().0.letters, 5);
    assert_eq!(store.depth("other", &LAPTOP).await.unwrap().0.letters, 1);
    let refused = store.ack("other", &DESKTOP, 1).await.unwrap_err();
    assert!(matches!(refused, MailboxError::Unknown { what: "device", .. }), "{refused}");
    let refused = store.ack("nobody", &LAPTOP, 1).await.unwrap_err();
    assert!(matches!(refused, MailboxError::Unknown { what: "tunnel", .. }), "{refused}");
}

pub(crate) async fn letters_of_25_mib_come_out_whole(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    let sizes = [25 * MIB, 100, 25 * MIB + 1_000];
    for (&size, number) in sizes.iter().zip(0..) {
        store.put(TUNNEL, parcel(number, size), &Quota::default()).await.unwrap();
    }
    let drained = drain(&store, TUNNEL, 0, 3).await;
    for ((&size, number), (_, got)) in sizes.iter().zip(0..).zip(&drained) {
        assert!(*got == parcel(number, size), "letter {number} of {size} bytes came out as another");
    }
    store.ack(TUNNEL, &LAPTOP, drained[2].0).await.unwrap();
    holds(&store, 0).await;
    assert_eq!(store.usage().await.unwrap().bytes, 0);
}

pub(crate) async fn what_waits_is_reckoned_for_each_device(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    let (depth, newest) = store.depth(TUNNEL, &LAPTOP).await.unwrap();
    assert_eq!((depth, newest), (hookmitt_wire::Depth::default(), 0));
    join(&store, DESKTOP).await;
    let mut positions = Vec::new();
    for (number, size) in (0..).zip([10, 20, 40, 80]) {
        positions.push(store.put(TUNNEL, parcel(number, size), &Quota::default()).await.unwrap());
    }
    store.ack(TUNNEL, &LAPTOP, positions[0]).await.unwrap();
    store.ack(TUNNEL, &DESKTOP, positions[2]).await.unwrap();
    let (depth, newest) = store.depth(TUNNEL, &LAPTOP).await.unwrap();
    assert_eq!((depth.letters, depth.bytes, depth.oldest, newest), (3, 140, Some(NOW + 1), positions[3]));
    let (depth, newest) = store.depth(TUNNEL, &DESKTOP).await.unwrap();
    assert_eq!((depth.letters, depth.bytes, depth.oldest, newest), (1, 80, Some(NOW + 3), positions[3]));
    let refused = store.depth(TUNNEL, &[99; 32]).await.unwrap_err();
    assert!(matches!(refused, MailboxError::Unknown { what: "device", .. }), "{refused}");
}

pub(crate) async fn mailboxes_do_not_mix(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    let names = ["a", "a.b", "acme", "acme-dev2"];
    for name in names {
        store.open_tunnel(new_tunnel(name, DESKTOP)).await.unwrap();
    }
    for round in 0..3 {
        put(&store, round..round + 1).await;
        for (name, tens) in names.iter().zip(1..) {
            store.put(name, parcel(tens * 10 + round, 50), &Quota::default()).await.unwrap();
        }
    }
    for (name, tens) in names.iter().chain([&TUNNEL]).zip([1, 2, 3, 4, 0]) {
        let numbers: Vec<_> =
            drain(&store, name, 0, 3).await.iter().map(|(_, parcel)| parcel.number).collect();
        assert_eq!(numbers, [tens * 10, tens * 10 + 1, tens * 10 + 2], "{name}");
    }
    store.leave("acme", &DESKTOP).await.unwrap();
    holds(&store, 12).await;
}
