use hookmitt_clock::MachineClock;
use hookmitt_event::{NoConnection, Silence};
use hookmitt_tunnel::{RelayProblem, TunnelError};
use hookmitt_wire::Depth;

use super::*;

const AT: Timestamp = Timestamp::from_seconds(1_000);

fn connected(since: Timestamp, refused: u64, caught_up: bool) -> State {
    State::Connected {
        since,
        public_url: "https://relay.test/t".to_owned(),
        rtt: Some(Duration::from_millis(38)),
        depth: Depth { refused, letters: 3, ..Depth::default() },
        unacked: 2,
        caught_up,
    }
}

fn steps(running: &Running, waiting: &mut mpsc::Receiver<Step>, state: State) -> Vec<Step> {
    running.becomes(state, AT);
    std::iter::from_fn(|| waiting.try_recv().ok()).collect()
}

#[test]
fn a_night_away_becomes_three_steps() {
    let (running, mut waiting) = Running::new(CancellationToken::new(), Some(AT), Arc::new(MachineClock));
    let told = |refused| Told { refused, ..Told::default() };
    let public_url = "https://relay.test/t".to_owned();
    let first = steps(&running, &mut waiting, connected(AT, 1, true));
    let found = Step::Found { public_url: public_url.clone(), told: told(1) };
    assert_eq!(first, [found, Step::CaughtUp { since: AT }]);
    assert_eq!(steps(&running, &mut waiting, connected(AT, 1, true)), [], "a heartbeat is no news");
    assert_eq!(steps(&running, &mut waiting, connected(AT, 2, true)), [Step::Told(told(2))]);
    let seen = running.seen();
    assert_eq!((seen.rtt_ms, seen.waiting.letters, seen.to_acknowledge), (Some(38), 3, 2));

    let slept = Timestamp::from_seconds(2_000);
    let offline = State::Offline { since: slept, why: GapWhy::Asleep, error: None, next_try: None };
    let lost = Step::Lost { since: slept, why: GapWhy::Asleep };
    assert_eq!(steps(&running, &mut waiting, offline.clone()), [lost]);
    assert_eq!(steps(&running, &mut waiting, offline), [], "it is lost once");
    let calling = State::Connecting { attempt: 2, last_error: None };
    assert_eq!(steps(&running, &mut waiting, calling), []);
    assert_eq!((running.seen().since, running.seen().why), (slept, Some(GapWhy::Asleep)));

    let back = Timestamp::from_seconds(9_000);
    let found = Step::Found { public_url, told: told(4) };
    assert_eq!(steps(&running, &mut waiting, connected(back, 4, false)), [found]);
    let caught_up = steps(&running, &mut waiting, connected(back, 4, true));
    assert_eq!(caught_up, [Step::CaughtUp { since: back }]);
}

#[test]
fn our_own_end_is_no_loss_and_a_refusal_is_one() {
    let (running, mut waiting) = Running::new(CancellationToken::new(), Some(AT), Arc::new(MachineClock));
    steps(&running, &mut waiting, connected(AT, 0, true));
    let ended = State::Offline { since: AT, why: GapWhy::AppClosed, error: None, next_try: None };
    assert_eq!(steps(&running, &mut waiting, ended), [Step::Closed { told: Told::default() }]);

    steps(&running, &mut waiting, connected(AT, 0, true));
    let (code, message) = ("unknown-device".to_owned(), "idle for 30 days".to_owned());
    let problem = RelayProblem { code, message, hint: None };
    let refused = State::Refused { error: TunnelError::Refused(problem) };
    assert_eq!(steps(&running, &mut waiting, refused), [Step::Lost { since: AT, why: GapWhy::Denied }]);
    assert_eq!(running.seen().state, TunnelState::Refused);
    assert!(running.seen().error.is_some());
}

fn offline(why: GapWhy, error: Option<TunnelError>) -> State {
    State::Offline { since: AT, why, error, next_try: None }
}

fn unreachable(why: NoConnection) -> State {
    let error = TunnelError::Unreachable(Silence { why, error: why.to_string() });
    offline(why.into(), Some(error))
}

#[test]
fn a_gap_has_the_reason_that_the_latest_try_found() {
    let (running, mut waiting) = Running::new(CancellationToken::new(), Some(AT), Arc::new(MachineClock));
    steps(&running, &mut waiting, connected(AT, 0, true));
    let broke_off = offline(GapWhy::Relay, Some(TunnelError::Closed("it broke off".to_owned())));
    let lost = Step::Lost { since: AT, why: GapWhy::Relay };
    assert_eq!(steps(&running, &mut waiting, broke_off), [lost]);
    let refused = || unreachable(NoConnection::ConnectionRefused);
    let reason = Step::Reason { why: GapWhy::ConnectionRefused };
    assert_eq!(steps(&running, &mut waiting, refused()), [reason]);
    assert_eq!(steps(&running, &mut waiting, refused()), [], "it is no other one");
    let seen = running.seen();
    assert_eq!((seen.why, seen.hindrance), (seen.hindrance, Some(GapWhy::ConnectionRefused)));
}

#[test]
fn a_night_s_gap_is_the_night_s_whatever_the_morning_finds() {
    let (running, mut waiting) = Running::new(CancellationToken::new(), Some(AT), Arc::new(MachineClock));
    steps(&running, &mut waiting, connected(AT, 0, true));
    let lost = Step::Lost { since: AT, why: GapWhy::Asleep };
    assert_eq!(steps(&running, &mut waiting, offline(GapWhy::Asleep, None)), [lost]);
    assert_eq!(running.seen().hindrance, None, "nothing was tried yet");
    for why in [NoConnection::NoRoute, NoConnection::ConnectionRefused] {
        assert_eq!(steps(&running, &mut waiting, unreachable(why)), []);
        let seen = running.seen();
        assert_eq!((seen.why, seen.hindrance), (Some(GapWhy::Asleep), Some(why.into())));
    }
}

#[test]
fn what_is_wrong_is_shown_until_it_is_mended() {
    let (running, _waiting) = Running::new(CancellationToken::new(), Some(AT), Arc::new(MachineClock));
    assert!(running.seen().stores);
    running.fails(Trouble::new("disk-full", "no room", ""));
    assert!(!running.seen().stores);
    running.fault(Trouble::new("relay-body-differs", "bytes", ""));
    assert_eq!(running.seen().error.unwrap().code, "disk-full");
    running.mends();
    assert_eq!(running.seen().error.unwrap().code, "relay-body-differs", "a success doesn't undo this one");
    assert!(running.seen().stores, "it is about one letter");
}
