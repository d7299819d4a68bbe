//! Connections that end, and what is reported then.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU8, Ordering},
    },
    time::Duration,
};

use hookmitt_clock::HandClock;
use hookmitt_event::{Explain as _, GapWhy, Timestamp};
use hookmitt_tunnel::{Network, Options, State, TunnelError};
use hookmitt_wire::{AppFrame, RelayFrame};
use tokio_tungstenite::tungstenite::Message;

use crate::support::{App, Caller, Relay, Tunnel, within};

/// Waits for the first report of being offline.
async fn offline(app: &mut App) -> (Timestamp, GapWhy, Option<TunnelError>) {
    app.until("it is offline", |state| match state {
        State::Offline { since, why, error, .. } => Some((*since, *why, error.clone())),
        _ => None,
    })
    .await
}

#[tokio::test]
async fn what_was_not_acknowledged_comes_again_by_the_same_name() {
    let relay = Relay::start().await;
    let tunnel = Tunnel::at(&relay);
    let mut app = App::start(tunnel.credentials.clone(), App::options());
    let frame = tunnel.says(1, "once");
    let mut caller = relay.lets_in().await;
    caller.say(frame.clone()).await;
    let first = app.given().await;
    drop(caller); // before the relay heard of it
    let (_, why, error) = offline(&mut app).await;
    assert_eq!((why, error.map(|error| error.code())), (GapWhy::Relay, Some("relay-closed")));

    let mut caller = relay.lets_in().await;
    caller.say(frame).await;
    let again = app.given().await;
    assert_eq!(again.head.arrival_key, first.head.arrival_key);
    again.stored();
    caller.acknowledged(1).await;
}

#[tokio::test]
async fn a_relay_s_goodbye_is_told_in_its_words_without_what_would_spoil_a_terminal() {
    use tokio_tungstenite::tungstenite::protocol::{CloseFrame, frame::coding::CloseCode};
    let relay = Relay::start().await;
    let mut app = App::start(Tunnel::at(&relay).credentials, App::options());
    let mut caller = relay.lets_in().await;
    let reason = "back in a minute\u{1b}[2J".into();
    caller.send(Message::Close(Some(CloseFrame { code: CloseCode::Restart, reason }))).await.unwrap();
    let (_, why, error) = offline(&mut app).await;
    let words = error.unwrap().to_string();
    assert_eq!(why, GapWhy::Relay);
    assert!(words.contains("back in a minute") && !words.contains('\u{1b}'), "{words:?}");
}

#[tokio::test]
async fn a_relay_that_falls_silent_is_given_up_and_called_again() {
    let relay = Relay::start().await;
    let mut options = App::options();
    options.pace.silence = Duration::from_millis(500);
    let mut app = App::start(Tunnel::at(&relay).credentials, options);
    let silent = relay.lets_in().await;
    let (_, why, error) = offline(&mut app).await;
    assert_eq!((why, error), (GapWhy::NoAnswer, Some(TunnelError::Silent(Duration::from_millis(500)))));
    let _next = relay.lets_in().await;
    app.connected().await;
    drop(silent);
}

#[tokio::test]
async fn a_relay_that_falls_silent_when_no_way_leads_there_any_more_is_cut_off_by_the_network() {
    let relay = Relay::start().await;
    let is_cut = Arc::new(AtomicBool::new(false));
    let cut = Arc::clone(&is_cut);
    let way = move |_| (!cut.load(Ordering::SeqCst)).then_some([192, 0, 2, 1].into());
    let mut options = Options { network: Network::new().with_ways(way), ..App::options() };
    options.pace.hello = Duration::from_millis(300);
    let mut app = App::start(Tunnel::at(&relay).credentials, options);
    let _silent = relay.tcp().await;
    is_cut.store(true, Ordering::SeqCst);
    let (_, why, error) = offline(&mut app).await;
    assert_eq!((why, error.map(|error| error.code())), (GapWhy::Network, Some("relay-slow")));
}

#[tokio::test]
async fn a_name_that_nobody_knows_is_told_apart_from_a_cut_network() {
    let mut credentials = Tunnel::at(&Relay::start().await).credentials;
    credentials.relay = "https://nobody.invalid".parse().unwrap();
    for (way, expected) in [(Some([192, 0, 2, 1].into()), GapWhy::UnknownName), (None, GapWhy::Network)] {
        let options = Options { network: Network::new().with_ways(move |_| way), ..App::options() };
        let mut app = App::start(credentials.clone(), options);
        let (_, why, error) = offline(&mut app).await;
        assert_eq!((why, error.map(|error| error.code())), (expected, Some("relay-unreachable")));
    }
}

#[tokio::test]
async fn a_relay_that_takes_the_call_and_says_nothing_is_called_again() {
    let relay = Relay::start().await;
    let mut options = App::options();
    options.pace.hello = Duration::from_millis(300);
    let mut app = App::start(Tunnel::at(&relay).credentials, options);
    let _before_the_upgrade = relay.tcp().await;
    let (_, why, error) = offline(&mut app).await;
    assert_eq!((why, error), (GapWhy::NoAnswer, Some(TunnelError::Slow(Duration::from_millis(300)))));
    let _before_the_challenge = relay.call().await;
    offline(&mut app).await;
    let mut caller = relay.call().await;
    caller.hello().await; // and sends no welcome
    offline(&mut app).await;
    let _next = relay.lets_in().await;
    app.connected().await;
}

#[tokio::test]
async fn after_sleep_the_relay_is_called_at_once_and_the_gap_is_told() {
    let relay = Relay::start().await;
    let fell_asleep = Timestamp::from_seconds(1_750_000_000);
    let clock = Arc::new(HandClock::at(fell_asleep));
    let mut options = Options { clock: clock.clone(), ..App::options() };
    options.pace.longest_pause = Duration::from_secs(3_600);
    let mut app = App::start(Tunnel::at(&relay).credentials, options);
    let mut caller = relay.lets_in().await;
    app.connected().await;
    clock.pass(Duration::from_secs(6 * 3_600));
    assert_eq!(offline(&mut app).await, (fell_asleep, GapWhy::Asleep, None));
    caller.gone().await;
    let _next = relay.lets_in().await;
    let since = app
        .until("it is connected", |state| match state {
            State::Connected { since, .. } => Some(*since),
            _ => None,
        })
        .await;
    assert_eq!(since, fell_asleep.after(Duration::from_secs(6 * 3_600)));
}

#[tokio::test]
async fn sleep_ends_the_wait_for_the_next_call() {
    let relay = Relay::start().await;
    let clock = Arc::new(HandClock::at(Timestamp::from_seconds(1_750_000_000)));
    let mut options = Options { clock: clock.clone(), ..App::options() };
    options.pace.refused_pause = Duration::from_secs(3_600);
    let mut app = App::start(Tunnel::at(&relay).credentials, options);
    refused(&relay, &mut app).await;
    let _caller = called_again(&relay, || clock.pass(Duration::from_secs(600))).await;
    app.connected().await;
}

#[tokio::test]
async fn another_network_is_noticed_at_once_with_a_connection_and_without() {
    let relay = Relay::start().await;
    let address = Arc::new(AtomicU8::new(1));
    let here = Arc::clone(&address);
    let network = Network::new().with_ways(move |_| match here.load(Ordering::SeqCst) {
        0 => None,
        last => Some([192, 0, 2, last].into()),
    });
    let mut options = Options { network, ..App::options() };
    options.pace.refused_pause = Duration::from_secs(3_600);
    let mut app = App::start(Tunnel::at(&relay).credentials, options);
    let _old = relay.lets_in().await;
    app.connected().await;
    address.store(2, Ordering::SeqCst);
    let (_, why, error) = offline(&mut app).await;
    assert_eq!((why, error), (GapWhy::Network, None));

    refused(&relay, &mut app).await;
    let change = || {
        address.fetch_add(1, Ordering::SeqCst);
    };
    let _caller = called_again(&relay, change).await;
}

#[tokio::test]
async fn an_outage_that_began_before_the_app_did_keeps_its_beginning() {
    let relay = Relay::start().await;
    let monday = Timestamp::from_seconds(1_750_000_000);
    let clock = Arc::new(HandClock::at(monday.after(Duration::from_secs(2 * 86_400))));
    let options = Options { clock, offline_since: Some(monday), ..App::options() };
    let mut app = App::start(Tunnel::at(&relay).credentials, options);
    for _ in 0..2 {
        drop(relay.tcp().await);
        assert_eq!(offline(&mut app).await.0, monday);
    }
}

/// The relay refuses the app until a person acts.
async fn refused(relay: &Relay, app: &mut App) {
    let mut caller = relay.call().await;
    caller.hello().await;
    caller.say(RelayFrame::Refused { code: "unknown-device".to_owned(), message: String::new() }).await;
    app.until("it is refused", |state| matches!(state, State::Refused { .. }).then_some(())).await;
}

/// The app reconnects when something changes. It only begins to wait after it has reported that it is refused, so
/// `change` is repeated until the app has noticed.
async fn called_again(relay: &Relay, change: impl Fn()) -> Caller {
    let next = relay.lets_in();
    tokio::pin!(next);
    let mut pace = tokio::time::interval(Duration::from_millis(100));
    let called = async {
        loop {
            tokio::select! {
                caller = &mut next => return caller,
                _ = pace.tick() => change(),
            }
        }
    };
    within("it calls again", called).await
}

#[tokio::test]
async fn an_outage_begins_when_the_relay_was_heard_last_whatever_is_tried_since() {
    let relay = Relay::start().await;
    let start = Timestamp::from_seconds(1_750_000_000);
    let clock = Arc::new(HandClock::at(start));
    let options = Options { clock: clock.clone(), ..App::options() };
    let mut app = App::start(Tunnel::at(&relay).credentials, options);
    let caller = relay.lets_in().await;
    app.connected().await;
    drop(caller);
    let (since, ..) = offline(&mut app).await;
    for seconds in 1..=3 {
        clock.pass(Duration::from_secs(seconds));
        drop(relay.tcp().await);
        assert_eq!(offline(&mut app).await.0, since);
    }
    assert!(start.since(since) < Duration::from_secs(60) && since <= start);
}

#[tokio::test]
async fn where_nobody_listens_it_says_so_and_when_it_tries_again() {
    let relay = Relay::start().await;
    let tunnel = Tunnel::at(&relay);
    drop(relay);
    let mut app = App::start(tunnel.credentials, App::options());
    let next_try = app
        .until("it is offline", |state| match state {
            State::Offline { why: GapWhy::ConnectionRefused, error: Some(error), next_try, .. } => {
                let words = error.to_string();
                assert!(words.starts_with("connection refused by 127.0.0.1:"), "{words}");
                Some(*next_try)
            }
            _ => None,
        })
        .await;
    assert!(next_try.is_some());
    let attempt = app
        .until("it tries again and again", |state| match state {
            State::Connecting { attempt: 3, last_error } => Some(last_error.clone()),
            _ => None,
        })
        .await;
    assert!(attempt.is_some());
}

#[tokio::test]
async fn an_invite_is_asked_of_the_relay_while_it_is_connected_only() {
    let relay = Relay::start().await;
    let options = App::options();
    let line = options.line.clone();
    assert_eq!(line.invite().await, Err(TunnelError::NotConnected));
    let mut app = App::start(Tunnel::at(&relay).credentials, options);
    let mut caller = relay.lets_in().await;
    app.connected().await;
    let relay_answers = async {
        assert_eq!(caller.hear().await, AppFrame::Invite);
        caller.say(RelayFrame::Invited { code: "one-time".to_owned(), until: 5 }).await;
    };
    let (invite, ()) = within("the answer", async { tokio::join!(line.invite(), relay_answers) }).await;
    let invite = invite.unwrap();
    assert_eq!((invite.code.as_str(), invite.until), ("one-time", Timestamp::from_micros(5)));
    drop(caller);
    offline(&mut app).await;
    assert_eq!(line.invite().await, Err(TunnelError::NotConnected));
}

#[tokio::test]
async fn a_device_that_left_calls_no_more() {
    let relay = Relay::start().await;
    let options = App::options();
    let line = options.line.clone();
    let mut app = App::start(Tunnel::at(&relay).credentials, options);
    let mut caller = relay.lets_in().await;
    app.connected().await;
    let relay_answers = async {
        assert_eq!(caller.hear().await, AppFrame::Leave);
        caller.close().await;
    };
    let (left, ()) = within("the answer", async { tokio::join!(line.leave(), relay_answers) }).await;
    assert_eq!(left, Ok(()));
    within("it ends", &mut app.kept).await.unwrap();
}

#[tokio::test]
async fn a_relay_that_breaks_off_did_not_let_the_device_leave() {
    let relay = Relay::start().await;
    let options = App::options();
    let line = options.line.clone();
    let mut app = App::start(Tunnel::at(&relay).credentials, options);
    let mut caller = relay.lets_in().await;
    app.connected().await;
    let relay_breaks_off = async {
        assert_eq!(caller.hear().await, AppFrame::Leave);
        drop(caller);
        relay.lets_in().await
    };
    let both = Box::pin(async { tokio::join!(line.leave(), relay_breaks_off) });
    let (left, _caller) = within("the answer", both).await;
    assert_eq!(left, Err(TunnelError::NotConnected));
}
