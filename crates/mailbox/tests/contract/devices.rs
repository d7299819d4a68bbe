//! What every mailbox promises about devices.

use std::time::Duration;

use bytes::Bytes;
use hookmitt_mailbox::{Device, DeviceKey, MOST_DEVICES, Mailbox, MailboxError, Quota, Revocation};

use super::{
    A_MINUTE, DESKTOP, LAPTOP, MINUTE, Maker, NOW, TUNNEL, eventually, holds, join, live, new_device,
    new_tunnel, parcel, put, with_tunnel,
};

const CODE: [u8; 32] = [5; 32];

fn is_no_code<T>(outcome: Result<T, MailboxError>) -> bool {
    matches!(outcome, Err(MailboxError::Unknown { what: "code", .. }))
}

async fn keys(store: &impl Mailbox) -> Vec<DeviceKey> {
    let mut keys: Vec<_> = store.devices(TUNNEL).await.unwrap().iter().map(|device| device.key).collect();
    keys.sort_unstable();
    keys
}

pub(crate) async fn a_code_lets_one_device_in_once(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    assert!(is_no_code(store.join(TUNNEL, CODE, new_device(DESKTOP), MOST_DEVICES).await));
    store.add_invite(TUNNEL, CODE, A_MINUTE).await.unwrap();
    let (one, other) = tokio::join!(
        store.join(TUNNEL, CODE, new_device(DESKTOP), MOST_DEVICES),
        store.join(TUNNEL, CODE, new_device([3; 32]), MOST_DEVICES)
    );
    assert!(one.is_ok() != other.is_ok(), "{one:?}, {other:?}");
    assert_eq!(keys(&store).await.len(), 2);
    assert!(is_no_code(store.join(TUNNEL, CODE, new_device([4; 32]), MOST_DEVICES).await));
}

pub(crate) async fn a_code_is_good_for_its_tunnel_and_its_time(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    store.open_tunnel(new_tunnel("other", [6; 32])).await.unwrap();
    store.add_invite(TUNNEL, CODE, A_MINUTE).await.unwrap();
    // Trying the code for another tunnel doesn't use it up.
    assert!(is_no_code(store.join("other", CODE, new_device(DESKTOP), MOST_DEVICES).await));
    maker.clock().pass(A_MINUTE);
    assert!(is_no_code(store.join(TUNNEL, CODE, new_device(DESKTOP), MOST_DEVICES).await));
    let until = store.add_invite(TUNNEL, CODE, A_MINUTE).await.unwrap();
    assert_eq!(until, NOW + 2 * MINUTE);
    maker.clock().pass(A_MINUTE - Duration::from_micros(1));
    store.sweep(&Quota::default()).await.unwrap();
    store.join(TUNNEL, CODE, new_device(DESKTOP), MOST_DEVICES).await.unwrap();
    assert_eq!(keys(&store).await, [LAPTOP, DESKTOP]);
    let refused = store.add_invite("nobody", CODE, A_MINUTE).await.unwrap_err();
    assert!(matches!(refused, MailboxError::Unknown { what: "tunnel", .. }), "{refused}");
}

pub(crate) async fn threat_12_a_code_changes_nothing_of_a_device_that_takes_part(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    let before = store.devices(TUNNEL).await.unwrap();
    store.add_invite(TUNNEL, CODE, A_MINUTE).await.unwrap();
    let renamed = hookmitt_mailbox::NewDevice { name: "somebody else".to_owned(), ..new_device(LAPTOP) };
    assert!(!store.join(TUNNEL, CODE, renamed, MOST_DEVICES).await.unwrap());
    assert_eq!(store.devices(TUNNEL).await.unwrap(), before);
    store.add_invite(TUNNEL, CODE, A_MINUTE).await.unwrap();
    assert!(store.join(TUNNEL, CODE, new_device(DESKTOP), MOST_DEVICES).await.unwrap());
}

pub(crate) async fn of_too_many_codes_the_oldest_gives_way(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    for number in 0..33_u8 {
        maker.clock().pass(Duration::from_millis(1));
        store.add_invite(TUNNEL, [number; 32], A_MINUTE).await.unwrap();
    }
    assert!(is_no_code(store.join(TUNNEL, [0; 32], new_device(DESKTOP), MOST_DEVICES).await));
    for number in [1, 32] {
        store.join(TUNNEL, [number; 32], new_device([number + 100; 32]), MOST_DEVICES).await.unwrap();
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
    store.leave(TUNNEL, &DESKTOP).await.unwrap();
    holds(&store, 0).await;
    let refused = store.leave(TUNNEL, &DESKTOP).await.unwrap_err();
    assert!(matches!(refused, MailboxError::Unknown { what: "device", .. }), "{refused}");
    assert!(store.depth(TUNNEL, &DESKTOP).await.is_err());

    put(&store, 10..12).await;
    store.leave(TUNNEL, &LAPTOP).await.unwrap();
    holds(&store, 0).await;
    assert!(store.put(TUNNEL, super::parcel(12, 10), &Quota::default()).await.is_err());
}

pub(crate) async fn threat_9_an_idle_device_is_forgotten(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    join(&store, DESKTOP).await;
    let positions = put(&store, 0..10).await;
    store.ack(TUNNEL, &LAPTOP, positions[9]).await.unwrap();
    let quota = Quota { idle: A_MINUTE * 60, ..Quota::default() };

    live(maker.clock(), &store, &quota, A_MINUTE * 55).await;
    store.seen(TUNNEL, &LAPTOP).await.unwrap();
    assert_eq!(keys(&store).await, [LAPTOP, DESKTOP]);
    live(maker.clock(), &store, &quota, A_MINUTE * 20).await;
    assert_eq!(keys(&store).await, [LAPTOP]);
    assert_eq!(store.devices(TUNNEL).await.unwrap()[0].seen_at, NOW + 55 * MINUTE);
    holds(&store, 0).await;
    // Those letters are not lost to anybody.
    assert_eq!(store.depth(TUNNEL, &LAPTOP).await.unwrap().0.refused, 0);
    let refused = store.ack(TUNNEL, &DESKTOP, positions[9]).await.unwrap_err();
    assert!(matches!(refused, MailboxError::Unknown { what: "device", .. }), "{refused}");
}

pub(crate) async fn a_tunnel_whose_last_device_was_idle_is_shut(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    put(&store, 0..3).await;
    let quota = Quota { idle: A_MINUTE * 60, ..Quota::default() };
    live(maker.clock(), &store, &quota, A_MINUTE * 75).await;
    // Senders should get a 404 rather than have letters stored that nobody will ever get.
    eventually("the tunnel is gone", async || store.tunnel(TUNNEL).await.unwrap().is_none().then_some(()))
        .await;
    assert!(store.put(TUNNEL, super::parcel(3, 10), &Quota::default()).await.is_err());
    assert!(matches!(store.open_tunnel(new_tunnel(TUNNEL, LAPTOP)).await, Err(MailboxError::NameTaken(_))));
    holds(&store, 0).await;
}

pub(crate) async fn threat_9_a_tunnel_has_no_more_devices_than_it_may(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    store.add_invite(TUNNEL, CODE, A_MINUTE).await.unwrap();
    let refused = store.join(TUNNEL, CODE, new_device(DESKTOP), 1).await.unwrap_err();
    assert!(matches!(refused, MailboxError::TooManyDevices(1)), "{refused}");
    assert_eq!(keys(&store).await, [LAPTOP]);
    store.join(TUNNEL, CODE, new_device(DESKTOP), 2).await.expect("the code is good still");
    join(&store, LAPTOP).await;
    assert_eq!(keys(&store).await, [LAPTOP, DESKTOP], "one that is there is no more than there were");
}

/// Revokes DESKTOP and sends LAPTOP a note.
fn revocation() -> Revocation {
    let notes = vec![(LAPTOP, Bytes::from_static(b"sealed to the laptop"))];
    Revocation { device: DESKTOP, before: [7; 32], sealing_key: [8; 32], notes }
}

async fn device(store: &impl Mailbox, key: DeviceKey) -> Device {
    let devices = store.devices(TUNNEL).await.unwrap();
    devices.into_iter().find(|device| device.key == key).expect("it takes part")
}

pub(crate) async fn threat_12_a_revoked_device_is_out_and_the_key_turned_over(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    join(&store, DESKTOP).await;
    let positions = put(&store, 0..3).await;
    store.ack(TUNNEL, &LAPTOP, positions[2]).await.unwrap();
    store.add_invite(TUNNEL, CODE, A_MINUTE).await.unwrap();
    store.revoke(TUNNEL, &LAPTOP, revocation()).await.unwrap();

    assert_eq!(keys(&store).await, [LAPTOP]);
    holds(&store, 0).await;
    let tunnel = eventually("the tunnel is known as it is", async || {
        store.tunnel(TUNNEL).await.unwrap().filter(|tunnel| tunnel.sealing_key == [8; 32])
    })
    .await;
    assert_eq!(tunnel.devices, [LAPTOP]);
    assert_eq!(device(&store, LAPTOP).await.note, "sealed to the laptop");
    assert!(store.depth(TUNNEL, &DESKTOP).await.is_err() && store.ack(TUNNEL, &DESKTOP, 1).await.is_err());
    let code = store.join(TUNNEL, CODE, new_device(DESKTOP), MOST_DEVICES).await;
    assert!(is_no_code(code), "codes from before are forgotten: the one who is out may have one");
    let again = maker.open().await;
    assert_eq!(device(&again, LAPTOP).await.note, "sealed to the laptop", "after a restart, too");
    assert_eq!(again.tunnel(TUNNEL).await.unwrap().unwrap().sealing_key, [8; 32]);
}

pub(crate) async fn threat_12_only_the_owner_revokes_and_only_those_it_knows(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    join(&store, DESKTOP).await;
    assert!(device(&store, LAPTOP).await.is_owner && !device(&store, DESKTOP).await.is_owner);
    let turned = Revocation { device: LAPTOP, notes: vec![(DESKTOP, Bytes::new())], ..revocation() };
    let by_another = store.revoke(TUNNEL, &DESKTOP, turned.clone()).await.unwrap_err();
    let itself = store.revoke(TUNNEL, &LAPTOP, turned).await.unwrap_err();
    for refused in [by_another, itself] {
        assert!(matches!(refused, MailboxError::NotOwner), "{refused}");
    }
    let other_key = Revocation { before: [6; 32], ..revocation() };
    let refused = store.revoke(TUNNEL, &LAPTOP, other_key).await.unwrap_err();
    assert!(matches!(refused, MailboxError::Changed), "{refused}");
    join(&store, [3; 32]).await;
    let refused = store.revoke(TUNNEL, &LAPTOP, revocation()).await.unwrap_err();
    assert!(matches!(refused, MailboxError::Changed), "the new one would get no key: {refused}");
    let nobody = Revocation { device: [9; 32], ..revocation() };
    let refused = store.revoke(TUNNEL, &LAPTOP, nobody).await.unwrap_err();
    assert!(matches!(refused, MailboxError::Unknown { what: "device", .. }), "{refused}");
    assert_eq!(keys(&store).await, [LAPTOP, DESKTOP, [3; 32]]);
    assert_eq!(store.tunnel(TUNNEL).await.unwrap().unwrap().sealing_key, [7; 32]);
}

pub(crate) async fn what_devices_say_of_themselves_is_kept(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    join(&store, DESKTOP).await;
    let reads = async |version| {
        eventually("the tunnel reads that version", async || {
            store.tunnel(TUNNEL).await.unwrap().filter(|tunnel| tunnel.letters == version)
        })
        .await;
    };
    reads(1).await;
    store.introduce(TUNNEL, &LAPTOP, 2, [4; 32]).await.unwrap();
    reads(1).await;
    store.introduce(TUNNEL, &DESKTOP, 2, [5; 32]).await.unwrap();
    reads(2).await;
    join(&store, [3; 32]).await;
    reads(1).await;
    let laptop = device(&store, LAPTOP).await;
    assert_eq!((laptop.proof, laptop.letters, laptop.joined_at), (Some([4; 32]), 2, NOW));
    assert!(store.introduce(TUNNEL, &[9; 32], 2, [4; 32]).await.is_err());
}

pub(crate) async fn threat_12_a_device_that_takes_nothing_keeps_no_letters_from_the_others(
    maker: &impl Maker,
) {
    let store = with_tunnel(maker).await;
    join(&store, DESKTOP).await;
    let quota = Quota { letters: 32, ..Quota::default() };
    for number in 0..100 {
        let position = store.put(TUNNEL, parcel(number, 100), &quota).await.unwrap();
        store.ack(TUNNEL, &LAPTOP, position).await.unwrap();
    }
    // The device learns what it lost, and has the newest letters.
    let of_the_other = async || {
        let depth = store.depth(TUNNEL, &DESKTOP).await.unwrap().0;
        let is_all = depth.letters + depth.refused == 100 && depth.letters >= 28;
        is_all.then_some(())
    };
    eventually("what was crowded out is counted", of_the_other).await;
    assert_eq!(store.depth(TUNNEL, &LAPTOP).await.unwrap().0.refused, 0);
    // Letters that no device has yet are not deleted to make room.
    let mut taken = 0;
    while store.put(TUNNEL, parcel(1_000 + taken, 100), &quota).await.is_ok() {
        taken += 1;
    }
    assert_eq!(taken, 32);
}
