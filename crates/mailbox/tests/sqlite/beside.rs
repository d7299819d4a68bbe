//! Two processes that share one file, and many jobs in one commit.

use hookmitt_mailbox::{Feed as _, MOST_TUNNELS, Mailbox as _, MailboxError, Quota};
use tokio::task::JoinSet;

use crate::{
    Files,
    contract::{
        LAPTOP, Maker as _, TUNNEL, drain, eventually, holds, new_tunnel, parcel, put, with_tunnel, within,
    },
};

#[tokio::test(flavor = "multi_thread")]
async fn two_stores_on_one_file_give_no_position_out_twice() {
    let files = Files::new();
    let one = with_tunnel(&files).await;
    let other = files.open().await;
    let mut senders = JoinSet::new();
    for store in [one.clone(), other.clone()] {
        senders.spawn(async move { put(&store, 0..100).await });
    }
    let mut positions: Vec<u64> = senders.join_all().await.concat();
    positions.sort_unstable();
    positions.dedup();
    assert_eq!(positions.len(), 200);
    assert_eq!(drain(&one, TUNNEL, 0, 200).await.len(), 200);
    // What one process deletes is no longer counted by the other.
    other.ack(TUNNEL, &LAPTOP, u64::MAX).await.unwrap();
    holds(&one, 0).await;
    let quota = Quota { letters: 1, ..Quota::default() };
    one.put(TUNNEL, parcel(1, 10), &quota).await.unwrap();
    let refused = other.put(TUNNEL, parcel(2, 10), &quota).await.unwrap_err();
    assert!(matches!(refused, MailboxError::QuotaFull(_)), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_feed_ends_when_its_tunnel_is_shut() {
    let files = Files::new();
    let store = with_tunnel(&files).await;
    store.open_tunnel(new_tunnel("other", LAPTOP)).await.unwrap();
    let mut feed = store.feed(TUNNEL, 0).await.unwrap();
    let mut another = store.feed("other", 0).await.unwrap();
    let (ended, ()) = tokio::join!(feed.next(1, 1), async { store.leave(TUNNEL, &LAPTOP).await.unwrap() });
    assert!(matches!(ended, Err(MailboxError::Unknown { what: "tunnel", .. })), "{ended:?}");

    // Another process may shut a tunnel, too: that is noticed at the next write.
    let cli = files.open().await;
    let (ended, ()) = tokio::join!(another.next(1, 1), async {
        cli.revoke_token("tk").await.unwrap();
        store.add_token("new", [3; 32], None, MOST_TUNNELS).await.unwrap();
    });
    assert!(matches!(ended, Err(MailboxError::Unknown { what: "tunnel", .. })), "{ended:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn letters_that_are_refused_do_not_harm_their_neighbours() {
    let files = Files::new();
    let store = with_tunnel(&files).await;
    let quota = Quota { bytes: 3_000, ..Quota::default() };
    let mut senders = JoinSet::new();
    for number in 0..200 {
        let store = store.clone();
        // Every other letter is larger than the whole quota.
        let size = if number % 2 == 0 { 20 } else { 4_000 };
        senders.spawn(async move { (size, store.put(TUNNEL, parcel(number, size), &quota).await) });
    }
    for (size, outcome) in senders.join_all().await {
        match outcome {
            Ok(_) => assert_eq!(size, 20),
            Err(refused) => {
                assert!(size == 4_000 && matches!(refused, MailboxError::QuotaFull(_)), "{refused}")
            }
        }
    }
    assert_eq!(store.usage().await.unwrap().bytes, 2_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_is_there_already_is_refused_and_its_neighbours_are_not() {
    let files = Files::new();
    let store = with_tunnel(&files).await;
    let quota = Quota::default();
    let (same_id, same_hash, letter, token) = tokio::join!(
        store.add_token("tk", [1; 32], None, MOST_TUNNELS),
        store.add_token("tk_2", [9; 32], None, MOST_TUNNELS),
        store.put(TUNNEL, parcel(0, 10), &quota),
        store.add_token("tk_3", [3; 32], None, MOST_TUNNELS)
    );
    assert!(matches!(same_id, Err(MailboxError::NameTaken(_))), "{same_id:?}");
    assert!(matches!(same_hash, Err(MailboxError::NameTaken(_))), "{same_hash:?}");
    assert!(letter.is_ok() && token.is_ok(), "{letter:?}, {token:?}");
    assert_eq!(store.tokens().await.unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_backlog_is_deleted_while_letters_come_in() {
    let files = Files::new();
    let store = with_tunnel(&files).await;
    let mut senders = JoinSet::new();
    for sender in 0..20 {
        let store = store.clone();
        senders.spawn(async move { put(&store, sender * 100..(sender + 1) * 100).await });
    }
    let newest = senders.join_all().await.into_iter().flatten().max().unwrap();
    store.ack(TUNNEL, &LAPTOP, newest).await.unwrap();
    let after = put(&store, 0..10).await;
    holds(&store, 10).await;
    assert_eq!(drain(&store, TUNNEL, newest, 10).await[0].0, after[0]);
    assert_eq!(store.usage().await.unwrap().bytes, 1_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_killed_process_left_to_be_deleted_is_deleted() {
    let files = Files::new();
    let store = with_tunnel(&files).await;
    put(&store, 0..100).await;
    // The state after a kill between the acknowledgement and the deletion: the cursor has moved, but the letters are
    // there.
    store.close().await;
    let db = rusqlite::Connection::open(files.path()).unwrap();
    db.execute("UPDATE device SET cursor = 60", []).unwrap();
    drop(db);
    let store = files.open().await;
    holds(&store, 40).await;
    let numbers: Vec<_> =
        drain(&store, TUNNEL, 60, 40).await.iter().map(|(_, letter)| letter.number).collect();
    assert_eq!(numbers, (60..100).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flood_that_is_refused_is_not_written_one_by_one() {
    let files = Files::new();
    let store = with_tunnel(&files).await;
    let version = async || {
        let db = rusqlite::Connection::open(files.path()).unwrap();
        db.query_row("SELECT sum(refused) FROM mark", [], |row| row.get::<_, u64>(0)).unwrap()
    };
    for _ in 0..1_000 {
        store.count_refused(TUNNEL, false);
    }
    assert_eq!(version().await, 0);
    store.sweep(&Quota::default()).await.unwrap();
    let written = async || (version().await == 1_000).then_some(());
    eventually("the count is written", written).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn more_letters_than_can_be_written_are_refused_at_once() {
    let files = Files::new();
    let store = with_tunnel(&files).await;
    let other = rusqlite::Connection::open(files.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut senders = JoinSet::new();
    for number in 0..6_000 {
        let store = store.clone();
        senders.spawn(async move { store.put(TUNNEL, parcel(number, 1), &Quota::default()).await });
    }
    // Jobs that find no place in the queue fail while nothing can be written.
    let first = within("one is refused", senders.join_next()).await.unwrap().unwrap();
    assert!(matches!(first, Err(MailboxError::Overloaded)), "{first:?}");
    other.execute_batch("ROLLBACK").unwrap();
    let stored = senders.join_all().await.iter().filter(|outcome| outcome.is_ok()).count();
    assert!(stored > 0, "none was stored after all");
    assert_eq!(store.usage().await.unwrap().letters, u64::try_from(stored).unwrap());
}
