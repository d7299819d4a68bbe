//! Gaps of tunnels as the database stores them: opened once, counted with the events, and closed with their results.

use std::time::Duration;

use hookmitt_event::{EventId, Explain as _, GapWhy, Timestamp, TunnelKind};
use hookmitt_inbox::{Gap, Inbox, NewEvent, NewTunnel, Sequence, Told};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use super::dedupe_order::{NOW, arrival, by_id, inbox};

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_seconds(NOW.as_seconds() + seconds)
}

/// Makes an inbox with a tunnel that was connected until [`NOW`].
async fn set() -> (TempDir, Inbox, i64, i64) {
    let (folder, inbox, source) = inbox().await;
    let new = NewTunnel {
        kind: TunnelKind::Relay,
        label: "acme".to_owned(),
        name: Some("acme-dev".to_owned()),
        url: Some("https://relay.test/".to_owned()),
        keys: Some("tunnel-1".to_owned()),
        source: None,
        sources: Vec::new(),
        public_url: Some("https://relay.test/acme-dev".to_owned()),
    };
    let tunnel = inbox.add_tunnel(new, NOW).await.unwrap();
    assert_eq!((tunnel.enabled, tunnel.connected_until), (true, None));
    let told = Told { refused: 2, ..Told::default() };
    inbox.tunnel_connected(tunnel.id, NOW, None, told, None).await.unwrap();
    (folder, inbox, source, tunnel.id)
}

fn letter(source: i64, tunnel: i64, number: u8) -> NewEvent {
    let arrival = arrival(source, by_id(&number.to_string()), at(i64::from(number)));
    NewEvent { arrival_key: Some(vec![number]), caught_up_by: Some(tunnel), ..arrival }
}

async fn store(inbox: &Inbox, arrival: NewEvent) -> hookmitt_inbox::Stored {
    inbox.store_in_turn(arrival, &Sequence::default(), 1).await.unwrap().await.unwrap()
}

async fn newest(inbox: &Inbox, tunnel: i64) -> Gap {
    inbox.gaps(tunnel, None, 1).await.unwrap().items.remove(0)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gap_counts_what_was_caught_up_once_and_what_was_lost() {
    let (_folder, inbox, source, tunnel) = set().await;
    inbox.open_gap(tunnel, at(0), GapWhy::Asleep).await.unwrap();
    inbox.open_gap(tunnel, at(50), GapWhy::Network).await.unwrap(); // it is already open
    let first = store(&inbox, letter(source, tunnel, 1)).await;
    let again = store(&inbox, letter(source, tunnel, 1)).await;
    assert_eq!(first.id, again.id, "a re-send adds no row, and counts for nothing");
    let last = store(&inbox, letter(source, tunnel, 2)).await;
    let told = Told { refused: 5, refused_at: Some(at(60)), unknown: 1 };
    inbox.tunnel_connected(tunnel, at(100), None, told, Some(at(2))).await.unwrap();
    assert_eq!(newest(&inbox, tunnel).await.until, None);

    let closed = inbox.close_gap(tunnel, at(100), Duration::from_millis(200)).await.unwrap().unwrap();
    assert_eq!((closed.from, closed.until, closed.why), (at(0), Some(at(100)), GapWhy::Asleep));
    assert_eq!((closed.caught_up, closed.lost, closed.took), (2, 3, Some(Duration::from_millis(200))));
    assert_eq!((closed.first_seq, closed.last_seq), (Some(first.seq), Some(last.seq)));
    assert_eq!(closed, newest(&inbox, tunnel).await);

    store(&inbox, letter(source, tunnel, 3)).await;
    let told = Told { refused: 6, ..told };
    inbox.tunnel_connected(tunnel, at(200), None, told, None).await.unwrap();
    assert_eq!(closed, newest(&inbox, tunnel).await, "what comes later is no part of it");
    let kept = inbox.tunnel(tunnel).await.unwrap();
    assert_eq!((kept.told, kept.last_event_at, kept.connected_until), (told, Some(at(2)), Some(at(200))));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_short_gap_in_which_nothing_came_is_not_kept() {
    let (_folder, inbox, source, tunnel) = set().await;
    inbox.open_gap(tunnel, at(0), GapWhy::Relay).await.unwrap();
    assert_eq!(inbox.close_gap(tunnel, at(4), Duration::ZERO).await.unwrap(), None);
    assert_eq!(inbox.gaps(tunnel, None, 10).await.unwrap().items, []);

    inbox.open_gap(tunnel, at(10), GapWhy::Relay).await.unwrap();
    store(&inbox, letter(source, tunnel, 1)).await;
    assert!(inbox.close_gap(tunnel, at(11), Duration::ZERO).await.unwrap().is_some(), "something came");
    inbox.open_gap(tunnel, at(20), GapWhy::Network).await.unwrap();
    assert!(inbox.close_gap(tunnel, at(30), Duration::ZERO).await.unwrap().is_some(), "it was not short");

    let page = inbox.gaps(tunnel, None, 1).await.unwrap();
    assert_eq!(page.items[0].from, at(20), "newest first");
    let older = inbox.gaps(tunnel, page.next, 1).await.unwrap();
    assert_eq!((older.items[0].from, older.next), (at(10), None));
    let told = inbox.gaps_between(Some(at(0)), Some(at(100)), 10).await.unwrap();
    assert_eq!(told, older.items, "only what somebody missed");
    assert_eq!(inbox.gaps_between(Some(at(12)), None, 10).await.unwrap(), []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_letter_whose_id_is_taken_gets_a_fresh_one() {
    let (_folder, inbox, source, tunnel) = set().await;
    let taken = store(&inbox, letter(source, tunnel, 1)).await;
    let clash = store(&inbox, NewEvent { id: taken.id, ..letter(source, tunnel, 2) }).await;
    assert_ne!(clash.id, taken.id);
    assert_eq!(inbox.event(clash.id).await.unwrap().seq, clash.seq);
    let own = EventId::fresh();
    assert_eq!(store(&inbox, NewEvent { id: own, ..letter(source, tunnel, 3) }).await.id, own);
}

#[tokio::test(flavor = "multi_thread")]
async fn letters_are_stored_in_the_order_in_which_they_got_their_turn() {
    let (_folder, inbox, source, tunnel) = set().await;
    let (mut waiting, order) = (Vec::new(), Sequence::default());
    for number in 1..=200 {
        waiting.push(inbox.store_in_turn(letter(source, tunnel, number), &order, 1).await.unwrap());
    }
    for (number, committed) in (1..=200).zip(waiting) {
        assert_eq!(committed.await.unwrap().seq, number);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_overtakes_a_letter_that_could_not_be_stored_for_a_moment() {
    let (folder, inbox, source, tunnel) = set().await;
    let spoil = "CREATE TRIGGER spoil BEFORE INSERT ON event WHEN NEW.arrival_key = x'03'
        BEGIN SELECT RAISE(ABORT, 'not now'); END";
    let beside = rusqlite::Connection::open(folder.path().join("inbox.db")).unwrap();
    beside.execute_batch(spoil).unwrap();
    let order = Sequence::default();
    let mut waiting = Vec::new();
    for number in 1..=6 {
        waiting.push(inbox.store_in_turn(letter(source, tunnel, number), &order, 1).await.unwrap());
    }
    let mut came = Vec::new();
    for committed in waiting {
        came.push(committed.await.map(|stored| stored.seq).map_err(|error| error.code()));
    }
    assert_eq!(came[..3], [Ok(1), Ok(2), Err("inbox-failed")]);
    assert_eq!(came[3..], [Err("out-of-turn"); 3]);
    beside.execute_batch("DROP TRIGGER spoil").unwrap();
    for number in 3..=6 {
        let committed = inbox.store_in_turn(letter(source, tunnel, number), &order, 2).await.unwrap();
        assert_eq!(committed.await.unwrap().seq, i64::from(number));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_9_what_comes_under_the_name_of_another_letter_is_kept_beside_it_and_blocks_nothing() {
    let (_folder, inbox, source, tunnel) = set().await;
    let genuine = letter(source, tunnel, 1);
    let first = store(&inbox, genuine.clone()).await;
    let again = store(&inbox, genuine.clone()).await;
    assert_eq!((again.id, again.name_was_used), (first.id, false), "a re-send is no other letter");

    let sha256 = Sha256::digest("another request").into();
    let mut other = NewEvent { id: EventId::fresh(), sha256, ..genuine.clone() };
    other.request.body = "another request".into();
    let kept = store(&inbox, other.clone()).await;
    assert!(kept.name_was_used && kept.seq > first.seq, "{kept:?}");
    let event = inbox.event(kept.id).await.unwrap();
    assert_eq!(event.request.body, "another request");
    assert_eq!(event.causes[0].code, "relay_name_reused");
    assert_eq!(
        inbox.event(first.id).await.unwrap().request.body,
        genuine.request.body,
        "nothing is overwritten"
    );
    let once_more = store(&inbox, other).await;
    assert_eq!(
        (once_more.seq, once_more.name_was_used),
        (kept.seq, true),
        "a re-send of it adds no row either"
    );

    let same_id = NewEvent { id: first.id, ..letter(source, tunnel, 2) };
    let exchanged = store(&inbox, same_id).await;
    assert!(exchanged.name_was_used && exchanged.id != first.id, "{exchanged:?}");
}
