//! A relay's clock that is set while it runs: nothing that the relay keeps for others expires by that.

use std::{path::Path, time::Duration};

use futures_util::future::join_all;
use hookmitt_stories::{CLOCK_STEPS, Device, FakeClock, Line, RelayProcess, offer, post};
use hookmitt_wire::{AppFrame, RelayFrame};

const LETTERS: u64 = 20;

/// How long an invitation is valid, in seconds.
const INVITATION: i64 = 60 * 60;

#[tokio::test(flavor = "multi_thread")]
async fn threat_9_a_relay_whose_clock_is_put_right_deletes_no_letter_and_shuts_nobody_out() {
    join_all(CLOCK_STEPS.map(put_right)).await; // all at once, because each waits a minute for a sweep
}

/// Starts a relay whose clock is off by `-step` seconds, then puts the clock right.
async fn put_right(step: i64) {
    let Some(clock) = FakeClock::right() else { return };
    clock.off_by(-step);
    let folder = tempfile::tempdir().unwrap();
    let mut command = RelayProcess::command(folder.path(), "127.0.0.1:0", &[]);
    clock.rules(&mut command);
    let relay = RelayProcess::spawn(command).await;
    let token = RelayProcess::token(folder.path()).await;
    let device = Device::open(relay.address, &token, Some("acme-dev")).await;
    let mut line = device.offering(vec![offer("s")]).await;
    let early = invitation(&mut line).await;
    drop(line);
    for number in 0..LETTERS {
        send(&relay, number).await;
    }

    clock.off_by(0);
    sweep(folder.path()).await;
    let is_good = device.join(&early).await.is_ok();
    assert_eq!(is_good, step < INVITATION, "an invitation ends by whichever clock is first: {step} s");
    let mut line = device.connect().await;
    assert_eq!(line.depth.letters, LETTERS, "every one that was acknowledged, after {step} s");
    let late = invitation(&mut line).await;
    let desktop = device.join(&late).await.unwrap_or_else(|reply| panic!("after {step} s: {reply:?}"));
    Device::open(relay.address, &token, Some("acme-test")).await;

    send(&relay, LETTERS).await;
    let mut line = device.connect().await;
    for number in 0..=LETTERS {
        let came = line.letter().await;
        assert_eq!(came.letter.body, format!("{number}"), "after {step} s");
        line.ack(came.position).await;
    }
    let came = desktop.connect().await.letter().await;
    assert_eq!(came.letter.body, format!("{LETTERS}"), "what comes from its joining on, after {step} s");
}

async fn send(relay: &RelayProcess, number: u64) {
    let reply = post(relay.address, "/acme-dev/s", &[], format!("{number}").as_bytes()).await;
    assert_eq!(reply.status, 202, "{}", reply.json());
}

/// Requests a code with which another device can join. Letters that arrive before the code are dropped.
async fn invitation(line: &mut Line) -> String {
    line.say(&AppFrame::Invite).await;
    loop {
        match line.next().await.expect("a code, not the end") {
            RelayFrame::Invited { code, .. } => return code,
            RelayFrame::Refused { code, message } => panic!("refused: {code}: {message}"),
            _ => {}
        }
    }
}

/// Waits for a sweep, which runs once a minute and stores the reading of the store's clock.
async fn sweep(folder: &Path) {
    let store = rusqlite::Connection::open(folder.join("relay.db")).unwrap();
    let clock = || store.query_row("SELECT store FROM clock", [], |row| row.get::<_, i64>(0)).unwrap();
    let before = clock();
    let swept = async {
        while clock() == before {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(120), swept).await.expect("a sweep");
}
