//! Wall clocks that are wrong and are corrected: things age only by time that has passed (DESIGN, promise 8).

use std::time::Duration;

use hookmitt_mailbox::{MOST_DEVICES, Mailbox, MailboxError, NewTunnel, Quota};

use super::{
    A_DAY, A_MINUTE, DAY, DESKTOP, LAPTOP, MINUTE, Maker, NOW, TUNNEL, holds, join, live, new_device,
    new_tunnel, put, with_tunnel,
};

/// By how much the wall clock is set forward or back, in microseconds.
const STEPS: [i64; 8] =
    [45 * DAY, -45 * DAY, 60 * MINUTE, -60 * MINUTE, 70 * 1_000_000, -70 * 1_000_000, 365 * DAY, -365 * DAY];

/// Checks that twenty letters wait for both devices and that none was lost.
async fn all_wait(store: &impl Mailbox, when: &str) {
    for device in [LAPTOP, DESKTOP] {
        let (depth, _) = store.depth(TUNNEL, &device).await.unwrap();
        assert_eq!((depth.letters, depth.refused), (20, 0), "{when}");
    }
    assert_eq!(store.devices(TUNNEL).await.unwrap().len(), 2, "{when}");
}

pub(crate) async fn no_step_of_the_wall_clock_deletes_a_letter_or_forgets_a_device(maker: &impl Maker) {
    let mut store = with_tunnel(maker).await;
    join(&store, DESKTOP).await;
    put(&store, 0..20).await;
    for step in STEPS {
        maker.clock().step(step);
        live(maker.clock(), &store, &Quota::default(), A_MINUTE * 15).await;
        all_wait(&store, &format!("stepped by {step} µs")).await;
    }
    for step in STEPS {
        store.close().await;
        maker.clock().step(step);
        store = maker.open().await;
        live(maker.clock(), &store, &Quota::default(), A_MINUTE * 15).await;
        all_wait(&store, &format!("stepped by {step} µs while the store was closed")).await;
    }
}

pub(crate) async fn a_pause_of_45_days_counts_as_one_day(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    join(&store, DESKTOP).await;
    put(&store, 0..20).await;
    let quota = Quota { age: A_DAY * 2, idle: A_DAY * 2, ..Quota::default() };
    live(maker.clock(), &store, &quota, A_MINUTE * 15).await;
    store.close().await;
    maker.clock().pass(A_DAY * 45);
    let store = maker.open().await;
    live(maker.clock(), &store, &quota, A_MINUTE * 15).await;
    all_wait(&store, "after the pause").await;

    maker.clock().pass(A_DAY);
    store.sweep(&quota).await.unwrap();
    holds(&store, 0).await;
    let (depth, _) = store.depth(TUNNEL, &DESKTOP).await.unwrap();
    assert_eq!(depth.refused, 20, "they were a day old at the end of the pause");
}

pub(crate) async fn letters_of_31_days_are_deleted_whatever_the_wall_clock_says(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    put(&store, 0..20).await;
    maker.clock().pass(A_DAY * 29);
    maker.clock().step(-45 * DAY);
    store.sweep(&Quota::default()).await.unwrap();
    holds(&store, 20).await;
    maker.clock().pass(A_DAY * 2);
    store.sweep(&Quota::default()).await.unwrap();
    holds(&store, 0).await;
    let (depth, _) = store.depth(TUNNEL, &LAPTOP).await.unwrap();
    assert_eq!((depth.refused, depth.refused_at), (20, Some(NOW - 14 * DAY)), "said by the wall clock");
}

pub(crate) async fn a_device_may_come_back_to_a_relay_that_was_away_itself<M: Maker>(maker: &M) {
    let store = with_tunnel(maker).await;
    join(&store, DESKTOP).await;
    let quota = Quota { idle: A_MINUTE * 60, ..Quota::default() };
    let devices = async |store: &M::Store| store.devices(TUNNEL).await.unwrap().len();
    live(maker.clock(), &store, &quota, A_MINUTE * 55).await;
    store.close().await;
    maker.clock().pass(A_MINUTE * 20);
    let store = maker.open().await;
    live(maker.clock(), &store, &quota, A_MINUTE * 50).await;
    assert_eq!(devices(&store).await, 2, "neither could reach it");
    store.seen(TUNNEL, &LAPTOP).await.unwrap();
    live(maker.clock(), &store, &quota, A_MINUTE * 15).await;
    assert_eq!(devices(&store).await, 1, "the other had an hour to come back");

    // The machine sleeps.
    maker.clock().pass(A_DAY * 45);
    live(maker.clock(), &store, &quota, A_MINUTE * 50).await;
    assert_eq!(devices(&store).await, 1);
}

pub(crate) async fn a_code_ends_by_whichever_clock_is_first(maker: &impl Maker) {
    let store = with_tunnel(maker).await;
    let hour = A_MINUTE * 60;
    let joins = async |code: u8| {
        let joined = store.join(TUNNEL, [code; 32], new_device([code; 32]), MOST_DEVICES).await;
        match joined {
            Ok(is_new) => is_new,
            Err(MailboxError::Unknown { what: "code", .. }) => false,
            Err(refused) => panic!("{refused}"),
        }
    };
    for (code, step, passed, is_good) in [
        (10, 0, Duration::ZERO, true),
        (11, 60 * MINUTE, Duration::ZERO, false),
        (12, -60 * MINUTE, Duration::ZERO, true),
        (13, -60 * MINUTE, hour, false),
        (14, -45 * DAY, hour - A_MINUTE, true),
        (15, -45 * DAY, hour, false),
        (16, 45 * DAY, Duration::ZERO, false),
        (17, 70 * 1_000_000, A_MINUTE, true),
    ] {
        store.add_invite(TUNNEL, [code; 32], hour).await.unwrap();
        maker.clock().step(step);
        maker.clock().pass(passed);
        if code % 2 == 0 {
            store.sweep(&Quota::default()).await.unwrap();
        }
        assert_eq!(joins(code).await, is_good, "the clock was stepped by {step} µs, and {passed:?} passed");
    }
}

pub(crate) async fn a_shut_tunnel_counts_for_a_day_whatever_the_wall_clock_says(maker: &impl Maker) {
    let store = maker.open().await;
    store.add_token("one", [1; 32], None, 1).await.unwrap();
    let open = async |name: &str| {
        store.open_tunnel(NewTunnel { token: "one".to_owned(), ..new_tunnel(name, LAPTOP) }).await
    };
    open("first").await.unwrap();
    store.seen("first", &LAPTOP).await.unwrap();
    store.leave("first", &LAPTOP).await.unwrap();
    for step in STEPS {
        maker.clock().step(step);
        let refused = open("second").await.unwrap_err();
        assert!(matches!(refused, MailboxError::TooManyTunnels(1)), "{step}: {refused}");
    }
    maker.clock().step(-45 * DAY);
    maker.clock().pass(A_DAY);
    open("second").await.unwrap();
}
