//! The relay says when it received a letter, and that is limited by what this side saw itself (Threat 9).

use std::{sync::Arc, time::Duration};

use hookmitt_clock::HandClock;
use hookmitt_event::Timestamp;
use hookmitt_tunnel::{Doubt, Horizon, Letterhead, Options};
use hookmitt_wire::{Depth, Letter, Received};

use crate::support::{App, Relay, Tunnel, letter, whole};

const NOON: Timestamp = Timestamp::from_seconds(1_790_000_000);
const HOUR: Duration = Duration::from_secs(3_600);
const MINUTE: Duration = Duration::from_secs(60);

fn received(at: Timestamp) -> Letter {
    Letter { received: Some(Received { at: at.as_micros(), held: true }), ..letter("x") }
}

/// Returns what an app makes of a letter that claims this time of receipt. It is noon, and everything up to an hour ago
/// has arrived.
async fn head(newest: u64, at: Timestamp, sealed: bool) -> Letterhead {
    let relay = Relay::start().await;
    let tunnel = Tunnel::at(&relay);
    let clock = Arc::new(HandClock::at(NOON));
    let horizon = Horizon::new(Some(NOON.before(HOUR)), NOON);
    let mut app = App::start(tunnel.credentials.clone(), Options { clock, horizon, ..App::options() });
    let depth = Depth { letters: newest, ..Depth::default() };
    let mut caller = relay.lets_in_to(depth, newest).await;
    let letter = if sealed { received(at) } else { letter("x") };
    let mut parcel = tunnel.parcel(&letter);
    (parcel.received_at, parcel.held) = (at.as_micros(), true);
    caller.say(whole(1, parcel)).await;
    app.given().await.head.clone()
}

/// The timer goes on while the story's clock stands still, so the limit is wider by as much.
fn is_about(moment: Timestamp, bound: Timestamp) {
    assert!(moment <= bound && bound.since(moment) < 2 * MINUTE, "{moment}, not {bound}");
}

#[tokio::test]
async fn threat_9_a_live_letter_is_no_older_than_its_connection() {
    for sealed in [true, false] {
        let old = head(0, NOON.before(HOUR / 2), sealed).await;
        is_about(old.received_at, NOON.before(MINUTE));
        assert_eq!(old.doubt, Some(Doubt::TooEarly(NOON.before(HOUR / 2))));
        let fresh = head(0, NOON.before(MINUTE / 2), sealed).await;
        assert_eq!((fresh.received_at, fresh.doubt), (NOON.before(MINUTE / 2), None));
    }
}

#[tokio::test]
async fn threat_9_a_letter_that_waited_is_no_older_than_the_gap() {
    let in_the_gap = NOON.before(HOUR / 2);
    let genuine = head(1, in_the_gap, true).await;
    assert_eq!((genuine.received_at, genuine.doubt, genuine.waited), (in_the_gap, None, true));
    let old = head(1, NOON.before(HOUR * 24), true).await;
    is_about(old.received_at, NOON.before(HOUR).before(MINUTE));
}

#[tokio::test]
async fn threat_9_no_letter_comes_from_the_future() {
    let ahead = head(0, NOON.after(HOUR), true).await;
    assert_eq!(ahead.received_at, NOON.after(MINUTE), "{ahead:?}");
    assert_eq!(ahead.doubt, Some(Doubt::TooLate(NOON.after(HOUR))));
}
