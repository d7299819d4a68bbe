//! Operations that are interrupted, data that is missing, and data that is left over.

use std::time::Duration;

use hookmitt_mailbox::{MOST_DEVICES, Mailbox as _, NatsMailbox, Quota};

use crate::{
    contract::{
        A_MINUTE, DAY, DESKTOP, LAPTOP, Maker as _, TUNNEL, drain, eventually, holds, join, live, new_device,
        parcel, put, with_tunnel,
    },
    place::Place,
};

#[tokio::test(flavor = "multi_thread")]
async fn a_join_that_is_cut_is_whole_or_undone() {
    let Some(place) = Place::on_three_nodes() else { return };
    let (here, there) = (with_tunnel(&place).await, place.open().await);
    let newest = put(&here, 0..3).await[2];
    let (mut whole, mut undone) = (0, 0);
    for round in 0..60_u8 {
        let (device, code) = ([100 + round; 32], [round; 32]);
        here.add_invite(TUNNEL, code, A_MINUTE).await.unwrap();
        // Cancelled at a different point each time, mostly between two of its steps.
        let limit = Duration::from_micros(u64::from(round) * 400);
        let join = here.join(TUNNEL, code, new_device(device), MOST_DEVICES);
        let _cut = tokio::time::timeout(limit, join).await;
        eventually("nothing is under way", async || (place.locks().await == 0).then_some(())).await;
        let devices = there.devices(TUNNEL).await.unwrap();
        match devices.iter().find(|known| known.key == device) {
            Some(joined) => {
                assert_eq!(joined.cursor, newest, "round {round}: it gets what comes from then on");
                whole += 1;
            }
            None => {
                let joined = there.join(TUNNEL, code, new_device(device), MOST_DEVICES).await;
                assert!(joined.is_ok(), "round {round}: the code is used up, and nobody is there");
                undone += 1;
            }
        }
        there.leave(TUNNEL, &device).await.unwrap();
    }
    assert!(whole > 0 && undone > 0, "{whole} whole, {undone} undone: the cuts tell nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn parts_of_a_letter_that_never_came_to_be_are_deleted() {
    let Some(place) = Place::on_three_nodes() else { return };
    let store = with_tunnel(&place).await;
    store.put(TUNNEL, parcel(0, 2_000_000), &Quota::default()).await.unwrap();
    // As a relay leaves it that ends between the parts and the manifest.
    place.delete_manifests().await;
    let store = {
        drop(store);
        place.open().await
    };
    assert_eq!(store.usage().await.unwrap().letters, 0);
    let quota = Quota::default();
    for days in [0, 45, -90, 365] {
        place.clock().step(days * DAY);
        live(place.clock(), &store, &quota, A_MINUTE * 2).await;
        assert_eq!(place.messages().await, 4, "they may be those of a letter that is being put");
    }
    store.put(TUNNEL, parcel(1, 2_000_000), &Quota::default()).await.unwrap();
    live(place.clock(), &store, &quota, A_MINUTE * 15).await;
    assert_eq!(place.messages().await, 5, "the four parts and the manifest of the letter that is there");
    let drained = drain(&store, TUNNEL, 0, 1).await;
    assert!(drained[0].1 == parcel(1, 2_000_000));
}

#[tokio::test(flavor = "multi_thread")]
async fn parts_whose_manifest_a_relay_does_not_know_of_are_kept() {
    let Some(place) = Place::on_three_nodes() else { return };
    let store = with_tunnel(&place).await;
    store.put(TUNNEL, parcel(0, 2_000_000), &Quota::default()).await.unwrap();
    place.hide_manifests().await;
    drop(store);
    let behind = place.open().await;
    assert_eq!(behind.usage().await.unwrap().letters, 0, "it knows of none");
    live(place.clock(), &behind, &Quota::default(), A_MINUTE * 60).await;
    assert_eq!(place.messages().await, 5, "the stream has a manifest");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_letter_that_lacks_a_part_is_lost_to_whoever_lacks_it_and_blocks_no_other() {
    let Some(place) = Place::on_three_nodes() else { return };
    let (here, there) = (with_tunnel(&place).await, place.open().await);
    join(&here, DESKTOP).await;
    put(&here, 0..1).await;
    let large = here.put(TUNNEL, parcel(1, 2_000_000), &Quota::default()).await.unwrap();
    put(&here, 2..3).await;
    here.ack(TUNNEL, &DESKTOP, large).await.unwrap();
    holds(&there, 3).await;
    place.delete_second_parts().await;

    for relay in [&here, &there] {
        let drained = drain(relay, TUNNEL, 0, 2).await;
        assert_eq!(drained.iter().map(|(_, letter)| letter.number).collect::<Vec<_>>(), [0, 2]);
    }
    let lost = async |relay: &NatsMailbox, device| relay.depth(TUNNEL, &device).await.unwrap().0.refused;
    for relay in [&here, &there] {
        let counted = async || (lost(relay, LAPTOP).await == 1).then_some(());
        eventually("it is counted", counted).await;
        assert_eq!(lost(relay, DESKTOP).await, 0, "it has the letter");
        holds(relay, 2).await;
    }
    eventually("its other parts are gone", async || (place.messages().await == 2).then_some(())).await;
}
