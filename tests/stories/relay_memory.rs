//! How much memory a relay uses for devices that read nothing: it is limited in total, and others are not slowed down.

use futures_util::future::join_all;
use hookmitt_stories::{Device, Line, RelayProcess, eventually, offer, post, within};
use hookmitt_wire::{AppFrame, RelayFrame};

use super::relay::{Set, set};

const MIB: usize = 1024 * 1024;

/// Receives a large letter piece by piece; returns its size.
async fn whole(line: &mut Line) -> usize {
    let taken = async {
        let mut rest: Option<usize> = None;
        let mut taken = 0;
        while rest != Some(0) {
            let (data, size) = match line.next().await.expect("a letter, not the end") {
                RelayFrame::Parcel { parcel, size, .. } => (parcel.data, Some(size as usize)),
                RelayFrame::Piece { data, .. } => (data, None),
                _ => continue,
            };
            taken += data.len();
            rest = size.or(rest).map(|left| left - data.len());
        }
        taken
    };
    within("a letter comes whole", taken).await
}

async fn devices(set: &Set, line: &mut Line, count: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    for _ in 0..count {
        line.say(&AppFrame::Invite).await;
        let Some(RelayFrame::Invited { code, .. }) = line.next().await else { panic!("no code") };
        let device = set.device.join(&code).await.unwrap();
        lines.push(device.connect_with(1_024, 64 * 1024 * 1024).await);
    }
    lines
}

#[tokio::test(flavor = "multi_thread")]
async fn devices_that_take_nothing_fill_no_memory_and_hold_up_nobody() {
    let set = set(&["--metrics", "127.0.0.1:0"]).await;
    let token = RelayProcess::token(set.dir.path()).await;
    let other = Device::open(set.relay.address, &token, None).await;
    let mut other_line = other.offering(vec![offer("s")]).await;
    let mut first = set.device.offering(vec![offer("s")]).await;
    let mut lines = devices(&set, &mut first, 10).await;

    assert_eq!(set.post("/acme-dev/s", &vec![b'x'; 25 * MIB]).await.status, 202);
    // One letter for eleven devices is 275 MiB. Seven have theirs in memory, including the bytes that sockets took.
    eventually("as many as may have it in memory", async || (set.outgoing().await > 170 * MIB).then_some(()))
        .await;
    assert!(set.outgoing().await <= 192 * MIB, "large letters have a part of their own");

    let path = format!("/{}/s", other.tunnel);
    for size in [1, MIB / 2] {
        assert_eq!(post(set.relay.address, &path, &[], &vec![b'y'; size]).await.status, 202);
        assert_eq!(other_line.letter().await.letter.body.len(), size, "others get on");
    }
    assert_eq!(post(set.relay.address, &path, &[], &vec![b'z'; 2 * MIB]).await.status, 202);
    assert_eq!(other_line.pong().await.letters, 3, "who waits for room is heard and answered");

    let taken = join_all(lines.iter_mut().chain([&mut first]).map(whole)).await;
    assert!(taken.iter().all(|size| *size == taken[0] && *size > 25 * MIB), "each got it whole: {taken:?}");
    assert_eq!(whole(&mut other_line).await / MIB, 2);
    eventually("it is given back", async || (set.outgoing().await == 0).then_some(())).await;
}
