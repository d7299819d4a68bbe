//! What an earlier version wrote ages from when the file is first opened, because that version had no store clock.

use hookmitt_mailbox::{Mailbox as _, Quota};

use crate::{
    Files,
    contract::{A_DAY, A_MINUTE, DESKTOP, LAPTOP, Maker as _, TUNNEL, holds, join, live, put, with_tunnel},
};

/// Turns the file back into what schema 6 was.
const BEFORE: &str = "
    DROP TABLE clock;
    DROP TABLE put;
    ALTER TABLE device DROP COLUMN there_at;
    ALTER TABLE invite DROP COLUMN store_until;
    PRAGMA user_version = 6;";

#[tokio::test(flavor = "multi_thread")]
async fn what_was_there_before_the_clock_counts_from_when_it_is_opened() {
    let files = Files::new();
    let store = with_tunnel(&files).await;
    join(&store, DESKTOP).await;
    put(&store, 0..20).await;
    store.close().await;
    rusqlite::Connection::open(files.path()).unwrap().execute_batch(BEFORE).unwrap();
    files.clock().pass(A_DAY * 45);

    let store = files.open().await;
    live(files.clock(), &store, &Quota::default(), A_MINUTE * 15).await;
    holds(&store, 20).await;
    assert_eq!(store.devices(TUNNEL).await.unwrap().len(), 2);
    assert_eq!(store.depth(TUNNEL, &LAPTOP).await.unwrap().0.refused, 0);
    put(&store, 20..21).await;
    files.clock().pass(A_DAY * 30);
    store.sweep(&Quota::default()).await.unwrap();
    holds(&store, 1).await;
}
