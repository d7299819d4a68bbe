//! Letters that can't be read: none is deleted that somebody may still be able to read.

use bytes::Bytes;
use hookmitt_tunnel::{State, Unreadable};
use hookmitt_wire::{AppFrame, LetterError, Parcel};

use crate::support::{App, Relay, Tunnel, letter, whole};

#[tokio::test]
async fn what_the_key_does_not_open_stays_at_the_relay_as_long_as_the_key_may_be_the_wrong_one() {
    let relay = Relay::start().await;
    let tunnel = Tunnel::at(&relay);
    let mut app = App::start(tunnel.credentials.clone(), App::options());
    let mut caller = relay.lets_in().await;
    caller.say(whole(1, tunnel.for_another("sealed for another tunnel"))).await;
    let good = tunnel.parcel(&letter("changed on the way"));
    let changed = Bytes::from(good.data.iter().map(|byte| byte ^ 1).collect::<Vec<_>>());
    caller.say(whole(2, Parcel { data: changed, ..good.clone() })).await;
    caller.say(whole(3, Parcel { number: good.number + 7, ..good.clone() })).await;
    caller.say(whole(4, Parcel { epoch: [9; 32], ..good.clone() })).await;
    caller.say(whole(5, Parcel { data: Bytes::from_static(b"short"), ..good })).await;
    // A letter that opens shows that the key is right, so the five before it are lost.
    caller.say(tunnel.says(6, "a letter")).await;
    let given = app.given().await;
    assert_eq!(given.head.position, 6);
    let kept: Vec<_> = (1..=5).map(|position| (position, Unreadable::Foreign, false)).collect();
    assert_eq!(app.not_read(), kept);
    given.stored();
    caller.acknowledged(6).await;
    let lost: Vec<_> = (1..=5).map(|position| (position, Unreadable::Foreign, true)).collect();
    assert_eq!(app.not_read()[5..], lost);

    caller.say(whole(7, tunnel.for_another("once more"))).await;
    caller.acknowledged(7).await;
    assert_eq!(app.not_read().last(), Some(&(7, Unreadable::Foreign, true)));
}

#[tokio::test]
async fn with_a_wrong_key_nothing_is_acknowledged() {
    let relay = Relay::start().await;
    let tunnel = Tunnel::at(&relay);
    let mut credentials = tunnel.credentials.clone();
    credentials.sealing = Tunnel::at(&relay).credentials.sealing;
    let mut app = App::start(credentials, App::options());
    let mut caller = relay.lets_in().await;
    for position in 1..=3 {
        caller.say(tunnel.says(position, "a letter")).await;
    }
    let all_here = |state: &State| matches!(state, State::Connected { unacked: 3, .. }).then_some(());
    app.until("all of them are here", all_here).await;
    app.stop();
    while let Some(frame) = caller.hear_or_end().await {
        assert!(!matches!(frame, AppFrame::Ack { .. }), "{frame:?}");
    }
    assert!(app.not_read().iter().all(|(_, _, lost)| !lost));
    assert!(!app.has_more());
}

#[tokio::test]
async fn a_letter_of_a_newer_relay_waits_for_an_update_and_one_that_is_none_is_given_up() {
    let relay = Relay::start().await;
    let tunnel = Tunnel::at(&relay);
    let mut app = App::start(tunnel.credentials.clone(), App::options());
    let mut caller = relay.lets_in().await;
    let mut newer = letter("of tomorrow").to_bytes();
    newer[0] = 3;
    caller.say(whole(1, tunnel.sealed(&[1, 2, 3]))).await;
    caller.say(whole(2, tunnel.sealed(&newer))).await;
    caller.say(tunnel.says(3, "of today")).await;
    assert_eq!(app.stores(1).await, [3]);
    while caller.hear().await != (AppFrame::Ack { through: 1, also: vec![3] }) {}
    let expected = [
        (1, Unreadable::Letter(LetterError::Malformed), true),
        (2, Unreadable::Letter(LetterError::Version(3)), false),
    ];
    assert_eq!(app.not_read(), expected);
}
