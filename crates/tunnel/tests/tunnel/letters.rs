//! Letters on their way from the relay to the inbox, and what is acknowledged.

use bytes::Bytes;
use hookmitt_tunnel::{AppReply, Later, State};
use hookmitt_wire::{AppFrame, NO_ANSWER};

use crate::support::{App, Relay, Tunnel, letter, many_letters, whole, within};

#[tokio::test]
async fn letters_are_handed_over_in_order_with_what_is_on_their_envelopes() {
    let relay = Relay::start().await;
    let tunnel = Tunnel::at(&relay);
    let mut app = App::start(tunnel.credentials.clone(), App::options());
    let mut caller = relay.lets_in_to(many_letters(2), 9).await;
    let mut parcels = Vec::new();
    for position in [4, 9, 12] {
        let mut parcel = tunnel.parcel(&letter(format!("letter {position}")));
        parcel.held = position == 12;
        caller.say(whole(position, parcel.clone())).await;
        parcels.push(parcel);
    }
    for (position, parcel) in [4, 9, 12].into_iter().zip(parcels) {
        let given = app.given().await;
        let name = [b"acme-dev\0".as_slice(), &parcel.epoch, &parcel.number.to_be_bytes()].concat();
        assert_eq!(given.head.arrival_key, name);
        assert_eq!(given.head.position, position);
        assert_eq!(given.head.received_at.as_micros(), parcel.received_at);
        assert_eq!(given.head.held, position == 12);
        assert_eq!(given.head.waited, position <= 9);
        assert_eq!(given.letter, letter(format!("letter {position}")));
        given.stored();
    }
    caller.acknowledged(12).await;
}

#[tokio::test]
async fn nothing_is_acknowledged_before_it_is_stored() {
    let relay = Relay::start().await;
    let tunnel = Tunnel::at(&relay);
    let mut app = App::start(tunnel.credentials.clone(), App::options());
    let mut caller = relay.lets_in().await;
    for position in 1..=3 {
        caller.say(tunnel.says(position, "a letter")).await;
    }
    let (first, second, third) = (app.given().await, app.given().await, app.given().await);
    second.stored();
    assert_eq!(caller.hear().await, AppFrame::Ack { through: 0, also: vec![2] });
    first.stored();
    assert_eq!(caller.hear().await, AppFrame::Ack { through: 2, also: vec![] });
    third.stored();
    assert_eq!(caller.hear().await, AppFrame::Ack { through: 3, also: vec![] });
}

#[tokio::test]
async fn a_letter_that_is_slow_to_store_holds_up_neither_heartbeats_nor_others() {
    let relay = Relay::start().await;
    let tunnel = Tunnel::at(&relay);
    let mut options = App::options();
    options.pace.heartbeat = std::time::Duration::from_millis(20);
    let mut app = App::start(tunnel.credentials.clone(), options);
    let mut caller = relay.lets_in().await;
    caller.say(tunnel.says(1, "slow")).await;
    let _slow = app.given().await;
    let mut pings = 0;
    while pings < 3 {
        if let AppFrame::Ping { stamp } = caller.hear_any().await {
            pings += 1;
            caller.say(hookmitt_wire::RelayFrame::Pong { stamp, depth: many_letters(1) }).await;
        }
    }
    caller.say(tunnel.says(2, "quick")).await;
    assert_eq!(app.stores(1).await, [2]);
    assert_eq!(caller.hear().await, AppFrame::Ack { through: 0, also: vec![2] });
}

#[tokio::test]
async fn a_thousand_letters_keep_their_order_and_are_acknowledged_together() {
    let relay = Relay::start().await;
    let tunnel = Tunnel::at(&relay);
    let mut app = App::start(tunnel.credentials.clone(), App::options()).stores_by_itself();
    let mut caller = relay.lets_in_to(many_letters(1_000), 1_000).await;
    for position in 1..=1_000 {
        caller.say(tunnel.says(position, "one of many")).await;
    }
    caller.acknowledged(1_000).await;
    assert_eq!(app.stores(1_000).await, (1..=1_000).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_sender_that_is_held_gets_the_app_s_answer() {
    let relay = Relay::start().await;
    let tunnel = Tunnel::at(&relay);
    let mut app = App::start(tunnel.credentials.clone(), App::options());
    let mut caller = relay.lets_in().await;
    let reply = |body: Bytes| AppReply {
        status: 401,
        headers: vec![("content-type".to_owned(), Bytes::from_static(b"text/plain"))],
        body,
    };
    for (position, held) in [(1, true), (2, false)] {
        let mut parcel = tunnel.parcel(&letter("a handshake"));
        parcel.held = held;
        caller.say(whole(position, parcel)).await;
        app.given().await.ends(Ok(Some(reply(Bytes::from_static(b"no")))));
    }
    let AppFrame::Answer { event, status, headers, body } = caller.hear().await else { panic!("no answer") };
    assert_eq!((event, status, &body[..]), ([7; 16], 401, &b"no"[..]));
    assert_eq!(headers, [("content-type".to_owned(), Bytes::from_static(b"text/plain"))]);
    caller.acknowledged(2).await; // and nobody waited for the second reply

    let mut parcel = tunnel.parcel(&letter("again"));
    parcel.held = true;
    caller.say(whole(3, parcel)).await;
    app.given().await.ends(Ok(Some(reply(vec![0; 2 * 1024 * 1024].into()))));
    let AppFrame::Answer { status, .. } = caller.hear().await else { panic!("no answer") };
    assert_eq!(status, NO_ANSWER, "too large for a frame: the relay's default answer serves");
    caller.acknowledged(3).await;
}

#[tokio::test]
async fn a_letter_is_acknowledged_before_its_sender_s_answer_is_known_and_holds_up_no_other() {
    let relay = Relay::start().await;
    let tunnel = Tunnel::at(&relay);
    let mut app = App::start(tunnel.credentials.clone(), App::options());
    let mut caller = relay.lets_in().await;
    let mut parcel = tunnel.parcel(&letter("a slow one"));
    parcel.held = true;
    caller.say(whole(1, parcel)).await;
    let say = app.given().await.stored_and_answered_later();
    caller.acknowledged(1).await;
    caller.say(tunnel.says(2, "another")).await;
    app.given().await.stored();
    caller.acknowledged(2).await;
    let reply = AppReply { status: 200, headers: Vec::new(), body: Bytes::from_static(b"at last") };
    say.send(reply).expect("the tunnel still waits");
    let AppFrame::Answer { event, body, .. } = caller.hear().await else { panic!("no answer") };
    assert_eq!((event, &body[..]), ([7; 16], &b"at last"[..]));
}

#[tokio::test]
async fn letters_that_can_t_be_stored_now_come_again_in_their_order() {
    let relay = Relay::start().await;
    let tunnel = Tunnel::at(&relay);
    let mut options = App::options();
    options.pace.later = std::time::Duration::from_millis(200);
    let mut app = App::start(tunnel.credentials.clone(), options);
    let mut caller = relay.lets_in().await;
    caller.say(tunnel.says(1, "one")).await;
    caller.say(tunnel.says(2, "two")).await;
    let (first, second) = (app.given().await, app.given().await);
    second.ends(Err(Later));
    first.ends(Err(Later));
    caller.say(tunnel.says(3, "three")).await;
    assert_eq!(app.stores(3).await, [1, 2, 3]);
    caller.acknowledged(3).await;
    assert!(!app.has_more());
}

#[tokio::test]
async fn once_one_can_t_be_stored_the_rest_of_its_run_waits_for_it() {
    let relay = Relay::start().await;
    let tunnel = Tunnel::at(&relay);
    let mut app = App::start(tunnel.credentials.clone(), App::options());
    let mut caller = relay.lets_in().await;
    for position in 1..=4 {
        caller.say(tunnel.says(position, "a letter")).await;
    }
    let (first, second, third) = (app.given().await, app.given().await, app.given().await);
    let fourth = app.given().await;
    assert_eq!([&first, &second, &third, &fourth].map(|given| given.head.run), [1; 4]);
    first.stored();
    second.ends(Err(Later));
    third.ends(Err(Later));
    // The fourth is still under way, and might overtake the second.
    caller.say(tunnel.says(5, "another")).await;
    caller.acknowledged(1).await;
    assert!(!app.has_more());
    fourth.ends(Err(Later));
    let second = app.given().await;
    assert_eq!((second.head.position, second.head.run), (2, 2));
    second.ends(Err(Later));
    let second = app.given().await;
    assert_eq!((second.head.position, second.head.run), (2, 3), "the others wait for what comes of it");
    second.stored();
    assert_eq!(app.stores(3).await, [3, 4, 5]);
    caller.acknowledged(5).await;
}

#[tokio::test]
async fn it_has_caught_up_when_all_that_waited_is_stored() {
    let relay = Relay::start().await;
    let tunnel = Tunnel::at(&relay);
    let mut app = App::start(tunnel.credentials.clone(), App::options());
    let mut caller = relay.lets_in_to(many_letters(2), 2).await;
    for position in 1..=3 {
        caller.say(tunnel.says(position, "a letter")).await;
    }
    let (first, second, _third) = (app.given().await, app.given().await, app.given().await);
    second.stored();
    assert_eq!(caller.hear().await, AppFrame::Ack { through: 0, also: vec![2] });
    let caught_up = |state: &State| matches!(state, State::Connected { caught_up: true, .. });
    assert!(!app.states().iter().any(caught_up), "the first is not stored");
    first.stored();
    let unacked = app
        .until("it has caught up", |state| match state {
            State::Connected { caught_up: true, unacked, .. } => Some(*unacked),
            _ => None,
        })
        .await;
    assert_eq!(unacked, 1, "the third came later");
}

#[tokio::test]
async fn connected_is_said_before_the_first_letter() {
    let relay = Relay::start().await;
    let tunnel = Tunnel::at(&relay);
    let mut app = App::start(tunnel.credentials.clone(), App::options());
    let mut caller = relay.lets_in().await;
    caller.say(tunnel.says(1, "at once")).await;
    let _given = app.given().await;
    assert!(app.states().iter().any(|state| matches!(state, State::Connected { .. })));
}

#[tokio::test]
async fn a_stop_waits_for_what_is_being_stored_and_acknowledges_it() {
    let relay = Relay::start().await;
    let tunnel = Tunnel::at(&relay);
    let mut app = App::start(tunnel.credentials.clone(), App::options());
    let mut caller = relay.lets_in().await;
    caller.say(tunnel.says(1, "the last")).await;
    let given = app.given().await;
    app.stop();
    given.stored();
    caller.acknowledged(1).await;
    caller.gone().await;
    within("it ends", &mut app.kept).await.unwrap();
    let last = app.states().pop();
    assert!(matches!(last, Some(State::Offline { why: hookmitt_event::GapWhy::AppClosed, .. })), "{last:?}");
}
