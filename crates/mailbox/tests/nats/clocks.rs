//! The clock that several relays share, and letters from before it existed.

use std::{pin::pin, time::Duration};

use hookmitt_mailbox::{Mailbox as _, Quota};

use crate::{
    contract::{
        A_DAY, A_MINUTE, DAY, DESKTOP, LAPTOP, Maker as _, TUNNEL, clock, holds, join, live, parcel, put,
        with_tunnel,
    },
    place::Place,
};

#[tokio::test(flavor = "multi_thread")]
async fn what_a_relay_wrote_that_knew_no_store_time_counts_from_when_it_is_seen() {
    let Some(place) = Place::on_three_nodes() else { return };
    let store = with_tunnel(&place).await;
    join(&store, DESKTOP).await;
    put(&store, 0..20).await;
    store.close().await;
    place.forget_store_times().await;
    place.clock().pass(A_DAY * 45);

    let store = place.open().await;
    live(place.clock(), &store, &Quota::default(), A_MINUTE * 15).await;
    let (depth, _) = store.depth(TUNNEL, &LAPTOP).await.unwrap();
    assert_eq!((depth.letters, depth.refused), (20, 0));
    assert_eq!(store.devices(TUNNEL).await.unwrap().len(), 2);
    place.clock().pass(A_DAY * 31);
    store.sweep(&Quota::default()).await.unwrap();
    holds(&store, 0).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_wall_clock_ages_nothing_while_another_relay_is_there() {
    let Some(place) = Place::on_three_nodes() else { return };
    let quota = Quota { age: A_DAY / 2, ..Quota::default() };
    let here = with_tunnel(&place).await;
    put(&here, 0..20).await;
    for days in [365, -365, 45, -45] {
        let wrong = clock();
        wrong.step(days * DAY);
        let there = place.open_at(&wrong).await;
        for _ in 0..15 {
            place.clock().pass(A_MINUTE);
            wrong.pass(A_MINUTE);
            there.sweep(&quota).await.unwrap();
            here.sweep(&quota).await.unwrap();
        }
        assert_eq!(here.usage().await.unwrap().letters, 20, "one beside it was {days} days ahead");
        there.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_letter_whose_parts_took_too_long_is_refused_and_its_parts_go() {
    let Some(place) = Place::on_three_nodes() else { return };
    let store = with_tunnel(&place).await;
    let quota = Quota::default();
    // The machine sleeps again and again while the parts are on their way.
    let mut put = pin!(store.put(TUNNEL, parcel(1, 20_000_000), &quota));
    let refused = loop {
        tokio::select! {
            put = &mut put => break put,
            () = tokio::time::sleep(Duration::from_millis(1)) => place.clock().pass(A_MINUTE * 6),
        }
    };
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("too long"), "{refused}");
    holds(&store, 0).await;
    assert!(place.messages().await > 0, "its parts are there still");
    live(place.clock(), &store, &quota, A_MINUTE * 15).await;
    assert_eq!(place.messages().await, 0);
}
