//! Large letters, sent in pieces between other letters.

use hookmitt_wire::{AppFrame, Parcel};

use crate::support::{App, Relay, Tunnel, letter, pieces, whole};

#[tokio::test]
async fn small_letters_wait_for_the_large_one_before_them_unless_their_sender_is_held() {
    let relay = Relay::start().await;
    let tunnel = Tunnel::at(&relay);
    let mut app = App::start(tunnel.credentials.clone(), App::options());
    let mut caller = relay.lets_in().await;
    let body: Vec<u8> = (0..1_000_000_u32).map(|n| n.to_le_bytes()[0]).collect();
    let mut large = pieces(1, tunnel.parcel(&letter(body.clone()))).into_iter();
    let last = large.next_back().unwrap();
    for (piece, position) in large.zip(2..) {
        caller.say(piece).await;
        caller.say(tunnel.says(position, "small")).await;
    }
    let held = Parcel { held: true, ..tunnel.parcel(&letter("now")) };
    caller.say(whole(5, held)).await;
    assert_eq!(app.stores(1).await, [5], "it came last, and its sender waits");
    while caller.hear().await != (AppFrame::Ack { through: 0, also: vec![5] }) {}

    caller.say(last).await;
    let given = app.given().await;
    assert_eq!(given.head.position, 1);
    assert!(given.letter.body == body);
    given.stored();
    assert_eq!(app.stores(3).await, [2, 3, 4]);
    while caller.hear().await != (AppFrame::Ack { through: 5, also: vec![] }) {}
}

#[tokio::test]
async fn of_two_large_letters_the_first_is_handed_over_first_though_the_second_is_here_before_it() {
    let relay = Relay::start().await;
    let tunnel = Tunnel::at(&relay);
    let mut app = App::start(tunnel.credentials.clone(), App::options());
    let mut caller = relay.lets_in().await;
    let mut one = pieces(1, tunnel.parcel(&letter(vec![1; 900_000])));
    let two = pieces(2, tunnel.parcel(&letter(vec![2; 700_000])));
    let last = one.pop().unwrap();
    for frame in one.into_iter().chain(two) {
        caller.say(frame).await;
    }
    caller.say(tunnel.says(3, "small")).await;
    caller.say(last).await;
    for (position, first) in [(1, 1), (2, 2), (3, b's')] {
        let given = app.given().await;
        assert_eq!((given.head.position, given.letter.body[0]), (position, first));
        given.stored();
    }
    caller.acknowledged(3).await;
}

#[tokio::test]
async fn the_largest_body_passes_though_it_is_larger_than_the_window() {
    let relay = Relay::start().await;
    let tunnel = Tunnel::at(&relay);
    let mut app = App::start(tunnel.credentials.clone(), App::options());
    let mut caller = relay.lets_in().await;
    let body = vec![0x5a; 25 * 1024 * 1024];
    for frame in pieces(1, tunnel.parcel(&letter(body.clone()))) {
        caller.say(frame).await;
    }
    let given = app.given().await;
    assert!(given.letter.body == body);
    given.stored();
    caller.acknowledged(1).await;
}

#[tokio::test]
async fn others_fill_the_window_beside_a_letter_that_is_larger_than_it() {
    let relay = Relay::start().await;
    let tunnel = Tunnel::at(&relay);
    let mut app = App::start(tunnel.credentials.clone(), App::options());
    let mut caller = relay.lets_in().await;
    // The relay doesn't count the first one, and the last of those beside it may exceed the window.
    let sizes = [25, 8, 7, 25].map(|size| size * 1024 * 1024);
    let parcels = sizes.map(|size| tunnel.parcel(&letter(vec![size as u8; size])));
    let mut lasts = Vec::new();
    for (position, parcel) in (1..).zip(parcels) {
        let mut frames = pieces(position, parcel);
        lasts.extend(frames.pop());
        for frame in frames {
            caller.say(frame).await;
        }
    }
    for last in lasts {
        caller.say(last).await;
    }
    app.stores(4).await;
    caller.acknowledged(4).await;
}

#[tokio::test]
async fn as_many_large_letters_as_the_window_has_may_be_in_pieces_at_one_time() {
    let relay = Relay::start().await;
    let tunnel = Tunnel::at(&relay);
    let mut app = App::start(tunnel.credentials.clone(), App::options());
    let mut caller = relay.lets_in().await;
    let parcel = tunnel.parcel(&letter(vec![3; 300_000]));
    let mut lasts = Vec::new();
    for position in 1..=50 {
        let mut frames = pieces(position, parcel.clone());
        lasts.extend(frames.pop());
        for frame in frames {
            caller.say(frame).await;
        }
    }
    for last in lasts {
        caller.say(last).await;
    }
    app.stores(50).await;
    caller.acknowledged(50).await;
}
