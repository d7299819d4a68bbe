//! Large letters, in pieces between others.

use hookmitt_wire::AppFrame;

use crate::support::{App, Relay, Tunnel, letter, pieces};

#[tokio::test]
async fn small_letters_pass_between_the_pieces_of_a_large_one() {
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
    assert_eq!(app.stores(3).await, [2, 3, 4]);
    let AppFrame::Ack { through: 0, .. } = caller.hear().await else { panic!("the first is not all here") };
    caller.say(last).await;
    let given = app.given().await;
    assert_eq!(given.head.position, 1);
    assert!(given.letter.body == body);
    given.stored();
    while caller.hear().await != (AppFrame::Ack { through: 4, also: vec![] }) {}
}

#[tokio::test]
async fn two_large_letters_come_together_beside_each_other() {
    let relay = Relay::start().await;
    let tunnel = Tunnel::at(&relay);
    let mut app = App::start(tunnel.credentials.clone(), App::options());
    let mut caller = relay.lets_in().await;
    let one = pieces(1, tunnel.parcel(&letter(vec![1; 700_000])));
    let two = pieces(2, tunnel.parcel(&letter(vec![2; 700_000])));
    for (first, second) in one.into_iter().zip(two) {
        caller.say(first).await;
        caller.say(second).await;
    }
    let mut bodies = Vec::new();
    for _ in 0..2 {
        let given = app.given().await;
        bodies.push((given.head.position, given.letter.body.len(), given.letter.body[0]));
        given.stored();
    }
    bodies.sort_unstable();
    assert_eq!(bodies, [(1, 700_000, 1), (2, 700_000, 2)]);
    caller.acknowledged(2).await;
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
    // As a relay has it: the first counts for nothing, and the last of those beside it may reach beyond the window.
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
