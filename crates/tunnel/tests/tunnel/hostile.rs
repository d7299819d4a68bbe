//! A relay that lies, floods or breaks the protocol: the app leaves, says why, and works with the next honest relay.

use bytes::Bytes;
use hookmitt_event::Explain as _;
use hookmitt_tunnel::{Options, State};
use hookmitt_wire::{Depth, MAX_FRAME, Parcel, RelayFrame, encode};
use tokio_tungstenite::tungstenite::Message;

use crate::support::{App, Relay, Tunnel, letter, pieces, whole};

/// Begins a connection with each of these messages, and expects the app to leave with an error of this code.
async fn leaves_with(code: &str, cases: impl Fn(&Tunnel) -> Vec<(&'static str, Vec<Message>)>) {
    let relay = Relay::start().await;
    let tunnel = Tunnel::at(&relay);
    let options = Options { window: 64, window_bytes: 1024 * 1024, ..App::options() };
    let mut app = App::start(tunnel.credentials.clone(), options);
    let cases = cases(&tunnel);
    assert!(!cases.is_empty());
    for (what, messages) in cases {
        let mut caller = relay.lets_in().await;
        for message in messages {
            // The app may leave before it has read everything.
            let _ = caller.send(message).await;
        }
        caller.gone().await;
        let error = app
            .until(what, |state| match state {
                State::Offline { error, .. } => Some(error.clone()),
                _ => None,
            })
            .await;
        assert_eq!(error.as_ref().map(|error| error.code()), Some(code), "{what}: {error:?}");
    }
    let mut honest = relay.lets_in().await;
    honest.say(tunnel.says(1, "an honest letter")).await;
    loop {
        let given = app.given().await;
        let body = given.letter.body.clone();
        if body == "an honest letter" {
            given.stored();
            break;
        }
    }
    honest.acknowledged(1).await;
}

fn frames(frames: impl IntoIterator<Item = RelayFrame>) -> Vec<Message> {
    frames.into_iter().map(|frame| Message::Binary(encode(&frame))).collect()
}

#[tokio::test]
async fn lies_about_sizes() {
    leaves_with("relay-protocol", |tunnel| {
        let parcel = tunnel.parcel(&letter("four"));
        let of = |size: u32, data: &Bytes| RelayFrame::Parcel {
            position: 1,
            parcel: Parcel { data: data.clone(), ..parcel.clone() },
            size,
        };
        let piece = |data: &'static [u8]| RelayFrame::Piece { position: 1, data: Bytes::from_static(data) };
        let data = &parcel.data;
        let length = u32::try_from(data.len()).unwrap();
        vec![
            ("more data than announced", frames([of(length - 1, data)])),
            ("4 GiB announced", frames([of(u32::MAX, data)])),
            ("no data at all", frames([of(length, &Bytes::new())])),
            ("one byte too many", frames([of(length + 1, data), piece(b"ab")])),
            ("an empty piece", frames([of(length + 1, data), piece(b"")])),
            ("pieces without an end", frames([of(length + 1, data), piece(b"a"), piece(b"b"), piece(b"c")])),
        ]
    })
    .await;
}

#[tokio::test]
async fn breaks_of_the_protocol() {
    leaves_with("relay-protocol", |tunnel| {
        let says = |position| tunnel.says(position, "a letter");
        let piece = RelayFrame::Piece { position: 3, data: Bytes::from_static(b"x") };
        let welcome = RelayFrame::Welcome {
            public_url: "https://relay.example.com/acme-dev".to_owned(),
            depth: Depth::default(),
            newest: 0,
            now: 0,
        };
        let pong = |stamp| RelayFrame::Pong { stamp, depth: Depth::default() };
        let invited = RelayFrame::Invited { code: "x".to_owned(), until: 0 };
        vec![
            ("a position twice", frames([says(5), says(5)])),
            ("a position that goes back", frames([says(5), says(4)])),
            ("position zero", frames([says(0)])),
            ("a piece of nothing", frames([piece.clone()])),
            ("a piece of a letter that is all here", frames([says(3), piece])),
            ("a second welcome", frames([welcome])),
            ("a challenge in the midst", frames([RelayFrame::Challenge { nonce: [0; 32] }])),
            ("an answer to a heartbeat that was not", frames([pong(77)])),
            ("an invite that nobody asked for", frames([invited])),
            ("text", vec![Message::text("hello")]),
            ("no frame", vec![Message::Binary(Bytes::from_static(&[1, 0xff, 0xff]))]),
            ("an empty message", vec![Message::Binary(Bytes::new())]),
            ("bytes after a frame", vec![Message::Binary([&encode(&pong(0))[..], b"x"].concat().into())]),
            ("a frame that is too large", vec![Message::Binary(vec![1; MAX_FRAME + 1].into())]),
        ]
    })
    .await;
}

#[tokio::test]
async fn floods() {
    leaves_with("relay-protocol", |tunnel| {
        let letters = (1..=129).map(|position| tunnel.says(position, "one of too many"));
        let large = tunnel.parcel(&letter(vec![0; 900_000]));
        let bytes = (1..=4).map(|position| whole(position, large.clone()));
        let first = |position| pieces(position, large.clone()).swap_remove(0);
        vec![
            ("more letters than the window has", frames(letters)),
            ("more bytes than the window has", frames(bytes)),
            ("more bytes than the window has, in letters that never end", frames((1..=4).map(first))),
        ]
    })
    .await;
}

#[tokio::test]
async fn a_public_url_that_is_none_is_not_shown() {
    let relay = Relay::start().await;
    let mut app = App::start(Tunnel::at(&relay).credentials, App::options());
    let mut caller = relay.call().await;
    caller.hello().await;
    let public_url = "javascript:alert(1)".to_owned();
    caller.say(RelayFrame::Welcome { public_url, depth: Depth::default(), newest: 0, now: 0 }).await;
    let error = app
        .until("it is offline", |state| match state {
            State::Offline { error, .. } => Some(error.clone()),
            State::Connected { .. } => panic!("{state:?}"),
            _ => None,
        })
        .await;
    assert_eq!(error.map(|error| error.code()), Some("relay-protocol"));
}

#[tokio::test]
async fn what_a_relay_says_of_a_refusal_does_not_reach_a_terminal_as_it_is() {
    let relay = Relay::start().await;
    let mut app = App::start(Tunnel::at(&relay).credentials, App::options());
    let mut caller = relay.call().await;
    caller.hello().await;
    let message = "no\u{1b}]0;you are hacked\u{7}\u{202e}".to_owned();
    caller.say(RelayFrame::Refused { code: "busy".to_owned(), message }).await;
    let words = app
        .until("it is offline", |state| match state {
            State::Offline { error: Some(error), .. } => Some(error.to_string()),
            _ => None,
        })
        .await;
    assert!(words.starts_with("no") && !words.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{words:?}");
}
