//! Nodes are killed under load, one after another.

use std::{
    collections::{HashMap, HashSet},
    path::Path,
    process::Command,
    sync::Arc,
    time::Duration,
};

use hookmitt_mailbox::{Feed as _, Mailbox as _, MailboxError, NatsMailbox, Quota};
use tokio::{sync::watch, task::JoinSet};
use tokio_util::sync::CancellationToken;

use crate::{
    contract::{LAPTOP, Maker as _, TUNNEL, drain, eventually, new_tunnel, parcel, with_tunnel, within},
    place::{Place, program},
    servers::Cluster,
};

/// How many senders there are at each relay.
const SENDERS: u32 = 4;

/// After how many waits of two seconds in vain, once all is sent, nothing more is expected.
const SILENT: u32 = 30;

/// How often servers of an old version may lose what they have acknowledged, before it is taken for a fault of ours.
const SERVERS_FAULTS: u32 = 2;

/// The version from which on replicas of killed servers don't drift apart any more (nats-server#4365).
const MENDED: [u32; 3] = [2, 9, 22];

#[expect(clippy::print_stderr, reason = "whoever reads the log shall know that it was played again")]
#[tokio::test(flavor = "multi_thread")]
async fn a_node_killed_under_load_loses_no_acknowledged_letter() {
    let Some(program) = program() else { return };
    let mut faults = if version(&program) < MENDED { SERVERS_FAULTS } else { 0 };
    loop {
        let (lost, acknowledged) = lost_under_load(&program).await;
        if lost.is_empty() {
            return;
        }
        assert!(faults > 0, "{lost:?} of {acknowledged} acknowledged letters are lost");
        faults -= 1;
        eprintln!("{} of {acknowledged} acknowledged letters are lost; once more", lost.len());
    }
}

/// Returns a server's version, such as 2.9.10.
fn version(program: &Path) -> [u32; 3] {
    let said = Command::new(program).arg("--version").output().unwrap().stdout;
    let said = String::from_utf8(said).unwrap();
    let numbers = said.trim().rsplit('v').next().unwrap().split(['.', '-']);
    let numbers: Vec<u32> = numbers.take(3).map(|number| number.parse().unwrap()).collect();
    numbers.try_into().unwrap()
}

/// Kills one node after the other under load. Returns the acknowledged letters that never came, and how many were
/// acknowledged.
async fn lost_under_load(program: &Path) -> (Vec<u32>, usize) {
    let cluster = Arc::new(Cluster::start(program, 3));
    let place = Place::on(&cluster.url());
    let relays = [with_tunnel(&place).await, place.open().await];
    let quiet = put_quiet(&relays[0]).await;
    let (sent, mut sending) = watch::channel(0_u32);
    let stop = CancellationToken::new();
    let mut senders = JoinSet::new();
    for sender in 0..2 * SENDERS {
        let relay = relays[usize::from(sender < SENDERS)].clone();
        senders.spawn(send(relay, sender, sent.clone(), stop.clone()));
    }
    let mut receivers = JoinSet::new();
    receivers.spawn(receive(relays[1].clone(), stop.clone()));
    for node in [0, 1, 2] {
        let before = *sending.borrow_and_update();
        wait_for(&mut sending, before + 100).await;
        cluster.kill(node);
        // The killed node's leaderships move to others; the two nodes that are left take letters.
        let left = *sending.borrow_and_update();
        wait_for(&mut sending, left + 100).await;
        let again = Arc::clone(&cluster);
        tokio::task::spawn_blocking(move || again.restart(node)).await.unwrap();
        let back = *sending.borrow_and_update();
        wait_for(&mut sending, back + 100).await;
        // Two nodes down at once would be too many, so this one catches up before the next is killed.
        eventually("all replicas are current", async || place.is_current().await.then_some(())).await;
    }
    stop.cancel();
    let acknowledged: HashSet<u32> = senders.join_all().await.into_iter().flatten().collect();
    let got = receivers.join_all().await.remove(0);
    let lost: Vec<_> = acknowledged.iter().filter(|number| !got.contains_key(number)).copied().collect();
    if !lost.is_empty() {
        return (lost, acknowledged.len());
    }
    assert!(acknowledged.len() > 900, "{} letters", acknowledged.len());
    // Letters that nobody touched are still there, whatever was deleted around them.
    let fresh = place.open().await;
    for name in &quiet {
        let drained = drain(&fresh, name, 0, 20).await;
        assert!(drained.iter().zip(0..).all(|((_, got), number)| *got == parcel(number, 100)), "{name}");
    }
    // A letter whose put was retried may be there twice, byte for byte the same; the inbox stores it once, by its id.
    let twice: u32 = got.values().map(|times| times - 1).sum();
    assert!(
        twice <= 3 * 2 * SENDERS,
        "{twice} letters came twice, more than were on their way when a node was killed"
    );
    (lost, acknowledged.len())
}

/// Puts letters into mailboxes in both shards, where they wait. Returns the tunnels' names.
async fn put_quiet(relay: &NatsMailbox) -> Vec<String> {
    let names: Vec<_> = (0..4).map(|number| format!("quiet-{number}")).collect();
    for name in &names {
        relay.open_tunnel(new_tunnel(name, LAPTOP)).await.unwrap();
        for number in 0..20 {
            relay.put(name, parcel(number, 100), &Quota::default()).await.unwrap();
        }
    }
    names
}

/// Puts letters until `stop`. Returns the numbers of the letters whose put succeeded.
async fn send(
    relay: NatsMailbox,
    sender: u32,
    sent: watch::Sender<u32>,
    stop: CancellationToken,
) -> Vec<u32> {
    let mut acknowledged = Vec::new();
    for number in (sender..).step_by(2 * usize::try_from(SENDERS).unwrap()) {
        if stop.is_cancelled() {
            break;
        }
        let size = if number % 97 == 0 { 600_000 } else { 1_000 };
        // A refusal is final: a provider would send the event again as another letter.
        if relay.put(TUNNEL, parcel(number, size), &Quota::default()).await.is_ok() {
            acknowledged.push(number);
            sent.send_modify(|sent| *sent += 1);
        }
    }
    acknowledged
}

/// Takes and acknowledges letters until `stop`, and then all that are left. Returns how often each letter came.
async fn receive(relay: NatsMailbox, stop: CancellationToken) -> HashMap<u32, u32> {
    let mut counted = HashMap::new();
    let mut last = 0;
    let mut feed = relay.feed(TUNNEL, 0).await.unwrap();
    let mut silent = 0;
    loop {
        let is_over = stop.is_cancelled();
        match tokio::time::timeout(Duration::from_secs(2), feed.next(100, 1 << 20)).await {
            Ok(Ok(letters)) => {
                for letter in letters {
                    assert!(letter.position > last, "{} after {last}", letter.position);
                    last = letter.position;
                    let size = letter.parcel.data.len();
                    let sent = parcel(letter.parcel.number, size);
                    let (got, put) = (&letter.parcel.data, &sent.data);
                    assert!(
                        letter.parcel == sent,
                        "the letter at {last} came out as another: number {}, {size} bytes, other ones from {:?}",
                        letter.parcel.number,
                        got.iter().zip(put).position(|(got, put)| got != put)
                    );
                    *counted.entry(letter.parcel.number).or_default() += 1;
                }
                // An acknowledgement may fail; the next one includes it.
                let _again = relay.ack(TUNNEL, &LAPTOP, last).await;
            }
            Ok(Err(_)) => feed = relay.feed(TUNNEL, last).await.unwrap(),
            Err(_) if is_over && relay.depth(TUNNEL, &LAPTOP).await.unwrap().1 <= last => return counted,
            // What the servers have but never hand out is lost: the caller says so, instead of waiting for ever.
            Err(_) if silent == SILENT => return counted,
            Err(_) => silent += u32::from(is_over),
        }
    }
}

async fn wait_for(sending: &mut watch::Receiver<u32>, letters: u32) {
    let waited =
        tokio::time::timeout(Duration::from_secs(60), sending.wait_for(|&sent| sent >= letters)).await;
    waited.expect("the relays take letters").unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn records_outlive_every_node_in_its_turn() {
    let Some(program) = program() else { return };
    let cluster = Arc::new(Cluster::start(&program, 3));
    let place = Place::on(&cluster.url());
    let store = with_tunnel(&place).await;
    for round in 0..6_u8 {
        let node = usize::from(round % 3);
        store.set_sources(TUNNEL, &LAPTOP, vec![offer(round)]).await.unwrap();
        cluster.kill(node);
        let again = Arc::clone(&cluster);
        tokio::task::spawn_blocking(move || again.restart(node)).await.unwrap();
        let is_there = async |store: &NatsMailbox| {
            let tunnel = store.tunnel(TUNNEL).await.unwrap();
            assert!(tunnel.is_some(), "round {round}: the tunnel is gone");
            store.devices(TUNNEL).await.unwrap();
        };
        is_there(&store).await;
        let fresh = place.open().await;
        is_there(&fresh).await;
        eventually("all replicas are current", async || place.is_current().await.then_some(())).await;
        is_there(&store).await;
        let fresh = place.open().await;
        is_there(&fresh).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_held_by_the_silence_of_servers_that_are_gone() {
    let Some(program) = program() else { return };
    let cluster = Cluster::start(&program, 1);
    let store = with_tunnel(&Place::on(&cluster.url())).await;
    drop(within("a sender is held", store.hold([1; 16])).await.unwrap());
    cluster.kill(0);
    // A socket that does not yet know that the servers are gone may still accept what is written right after their end.
    let refused = within("it is said that none can be", async {
        loop {
            if let Err(refused) = store.hold([2; 16]).await {
                return refused;
            }
            tokio::task::yield_now().await;
        }
    });
    assert!(matches!(refused.await, MailboxError::Failed(_)));
}

fn offer(round: u8) -> hookmitt_wire::SourceOffer {
    hookmitt_wire::SourceOffer {
        slug: format!("source-{round}"),
        provider: None,
        hold: hookmitt_wire::Hold::Never,
        status: None,
        headers: Vec::new(),
        body: None,
        delay_ms: 0,
    }
}
