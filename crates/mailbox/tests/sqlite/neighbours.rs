//! A job that fails does not affect the other jobs of its commit.

use std::sync::Arc;

use hookmitt_clock::MachineClock;
use hookmitt_mailbox::{MOST_DEVICES, MOST_TUNNELS, Mailbox as _, MailboxError, Quota, SqliteMailbox};
use rusqlite::Connection;
use tokio::task::JoinSet;

use crate::{
    Files,
    contract::{DESKTOP, LAPTOP, TUNNEL, drain, new_device, new_tunnel, parcel, with_tunnel},
};

const BAD: u32 = 13;

#[tokio::test(flavor = "multi_thread")]
async fn a_letter_that_fails_leaves_no_gap_and_the_others_are_stored_once() {
    let files = Files::new();
    let store = SqliteMailbox::open(&files.path(), Arc::new(MachineClock)).unwrap();
    store.add_token("tk", [9; 32], None, MOST_TUNNELS).await.unwrap();
    store.open_tunnel(new_tunnel(TUNNEL, LAPTOP)).await.unwrap();
    let fails = format!(
        "CREATE TRIGGER bad AFTER INSERT ON letter WHEN new.number = {BAD} BEGIN SELECT RAISE(ABORT, 'bad'); END"
    );
    Connection::open(files.path()).unwrap().execute_batch(&fails).unwrap();

    let mut puts = JoinSet::new();
    for number in 0..40 {
        let store = store.clone();
        puts.spawn(async move { (number, store.put(TUNNEL, parcel(number, 10), &Quota::default()).await) });
    }
    let mut stored = Vec::new();
    for (number, outcome) in puts.join_all().await {
        match outcome {
            Ok(position) => stored.push((position, number)),
            Err(failed) => assert!(number == BAD && matches!(failed, MailboxError::Failed(_)), "{failed}"),
        }
    }
    stored.sort_unstable();
    assert_eq!(
        stored.iter().map(|(position, _)| *position).collect::<Vec<_>>(),
        (1..=39).collect::<Vec<_>>()
    );
    let (depth, newest) = store.depth(TUNNEL, &LAPTOP).await.unwrap();
    assert_eq!((depth.letters, newest), (39, 39));
    for ((_, number), (_, got)) in stored.iter().zip(drain(&store, TUNNEL, 0, 39).await) {
        assert_eq!(got, parcel(*number, 10));
    }
    store.close().await;
}

#[tokio::test]
async fn a_code_that_is_none_takes_no_turn_at_the_writer() {
    let files = Files::new();
    let store = with_tunnel(&files).await;
    let other = Connection::open(files.path()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    for tunnel in [TUNNEL, "no-such"] {
        for code in 0..20 {
            let refused = store.join(tunnel, [code; 32], new_device(DESKTOP), MOST_DEVICES).await;
            assert!(matches!(refused, Err(MailboxError::Unknown { .. })), "{refused:?}");
        }
    }
    other.execute_batch("ROLLBACK").unwrap();
    store.close().await;
}
