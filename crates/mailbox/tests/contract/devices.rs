//! Devices.

use hookmitt_mailbox::{DeviceKey, Mailbox, MailboxError, Quota};

use super::{
    DAY, DESKTOP, LAPTOP, MINUTE, Maker, NOW, TUNNEL, eventually, holds, join, new_device, new_tunnel, put,
    with_tunnel,
};

const CODE: [u8; 32] = [5; 32];

fn is_no_code(outcome: Result<(), MailboxError>) -> bool {
    matches!(outcome, Err(MailboxError::Unknown { what: "code", .. }))
}

async fn keys(store: &impl Mailbox) -> Vec<DeviceKey> {
    let mut keys: Vec<_> = store.devices(TUNNEL).await.unwrap().iter().map(|device| device.key).collect();
    keys.sort_unstable();
    keys
}

pub(crate) async fn a_code_lets_one_device_in_once(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    assert!(is_no_code(store.join(TUNNEL, CODE, new_device(DESKTOP), NOW).await));
    store.add_invite(TUNNEL, CODE, NOW + MINUTE).await.unwrap();
    let (one, other) = tokio::join!(
        store.join(TUNNEL, CODE, new_device(DESKTOP), NOW),
        store.join(TUNNEL, CODE, new_device([3; 32]), NOW)
    );
    assert!(one.is_ok() != other.is_ok(), "{one:?}, {other:?}");
    assert_eq!(keys(&store).await.len(), 2);
    assert!(is_no_code(store.join(TUNNEL, CODE, new_device([4; 32]), NOW).await));
}

pub(crate) async fn a_code_is_good_for_its_tunnel_and_its_time(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    store.open_tunnel(new_tunnel("other", [6; 32]), NOW).await.unwrap();
    store.add_invite(TUNNEL, CODE, NOW + MINUTE).await.unwrap();
    // Trying it elsewhere doesn't use it up.
    assert!(is_no_code(store.join("other", CODE, new_device(DESKTOP), NOW).await));
    assert!(is_no_code(store.join(TUNNEL, CODE, new_device(DESKTOP), NOW + MINUTE).await));
    store.sweep(&Quota::default(), NOW + MINUTE - 1).await.unwrap();
    store.join(TUNNEL, CODE, new_device(DESKTOP), NOW + MINUTE - 1).await.unwrap();
    assert_eq!(keys(&store).await, [LAPTOP, DESKTOP]);
    let refused = store.add_invite("nobody", CODE, NOW + MINUTE).await.unwrap_err();
    assert!(matches!(refused, MailboxError::Unknown { what: "tunnel", .. }), "{refused}");
}

pub(crate) async fn of_too_many_codes_the_oldest_gives_way(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    for number in 0..33_u8 {
        store.add_invite(TUNNEL, [number; 32], NOW + MINUTE + i64::from(number)).await.unwrap();
    }
    assert!(is_no_code(store.join(TUNNEL, [0; 32], new_device(DESKTOP), NOW).await));
    for number in [1, 32] {
        store.join(TUNNEL, [number; 32], new_device([number + 100; 32]), NOW).await.unwrap();
    }
}

pub(crate) async fn a_device_that_joins_gets_what_comes_from_then_on(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    let before = put(&store, 0..3).await;
    join(&store, DESKTOP).await;
    let (depth, newest) = store.depth(TUNNEL, &DESKTOP).await.unwrap();
    assert_eq!((depth.letters, depth.bytes, depth.oldest), (0, 0, None));
    assert_eq!(newest, before[2]);
    put(&store, 3..5).await;
    assert_eq!(store.depth(TUNNEL, &DESKTOP).await.unwrap().0.letters, 2);
    assert_eq!(store.depth(TUNNEL, &LAPTOP).await.unwrap().0.letters, 5);
}

pub(crate) async fn a_device_that_joins_again_keeps_its_place(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    put(&store, 0..3).await;
    join(&store, LAPTOP).await;
    assert_eq!(store.depth(TUNNEL, &LAPTOP).await.unwrap().0.letters, 3);
    assert_eq!(keys(&store).await, [LAPTOP]);
}

pub(crate) async fn what_waited_for_a_device_that_leaves_goes(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    join(&store, DESKTOP).await;
    let positions = put(&store, 0..10).await;
    store.ack(TUNNEL, &LAPTOP, positions[9]).await.unwrap();
    store.leave(TUNNEL, &DESKTOP, NOW).await.unwrap();
    holds(&store, 0).await;
    let refused = store.leave(TUNNEL, &DESKTOP, NOW).await.unwrap_err();
    assert!(matches!(refused, MailboxError::Unknown { what: "device", .. }), "{refused}");
    assert!(store.depth(TUNNEL, &DESKTOP).await.is_err());

    put(&store, 10..12).await;
    store.leave(TUNNEL, &LAPTOP, NOW).await.unwrap();
    holds(&store, 0).await;
    assert!(store.put(TUNNEL, super::parcel(12, 10), &Quota::default()).await.is_err());
}

pub(crate) async fn an_idle_device_is_forgotten(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    join(&store, DESKTOP).await;
    let positions = put(&store, 0..10).await;
    store.ack(TUNNEL, &LAPTOP, positions[9]).await.unwrap();
    store.seen(TUNNEL, &LAPTOP, NOW + 29 * DAY).await.unwrap();

    store.sweep(&Quota::default(), NOW + 30 * DAY - MINUTE).await.unwrap();
    assert_eq!(keys(&store).await, [LAPTOP, DESKTOP]);
    store.sweep(&Quota::default(), NOW + 30 * DAY + MINUTE).await.unwrap();
    assert_eq!(keys(&store).await, [LAPTOP]);
    assert_eq!(store.devices(TUNNEL).await.unwrap()[0].seen_at, NOW + 29 * DAY);
    holds(&store, 0).await;
    // Those letters are lost to nobody.
    assert_eq!(store.depth(TUNNEL, &LAPTOP).await.unwrap().0.refused, 0);
    let refused = store.ack(TUNNEL, &DESKTOP, positions[9]).await.unwrap_err();
    assert!(matches!(refused, MailboxError::Unknown { what: "device", .. }), "{refused}");
}

pub(crate) async fn a_tunnel_whose_last_device_was_idle_is_shut(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    put(&store, 0..3).await;
    store.sweep(&Quota::default(), NOW + 31 * DAY).await.unwrap();
    // Better a 404 than letters that nobody will ever get.
    eventually("the tunnel is gone", async || store.tunnel(TUNNEL).await.unwrap().is_none().then_some(()))
        .await;
    assert!(store.put(TUNNEL, super::parcel(3, 10), &Quota::default()).await.is_err());
    assert!(matches!(
        store.open_tunnel(new_tunnel(TUNNEL, LAPTOP), NOW + 31 * DAY).await,
        Err(MailboxError::NameTaken(_))
    ));
    holds(&store, 0).await;
}
