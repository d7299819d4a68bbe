//! The write-ahead log stays small, and its file is reused.

use std::sync::Arc;

use hookmitt_mailbox::{Mailbox as _, Quota, SqliteMailbox};
use tokio::task::JoinSet;

use super::child;
use crate::{
    Files,
    contract::{LAPTOP, Maker as _, TUNNEL, clock, drain, holds, parcel, with_tunnel},
};

const KIB: usize = 1024;
const MIB: u64 = 1024 * 1024;

#[tokio::test(flavor = "multi_thread")]
async fn the_log_and_the_file_stay_small_however_much_passes_through() {
    let files = Files::new();
    let store = with_tunnel(&files).await;
    let (letter, mut after) = (parcel(1, 256 * KIB), 0);
    // 250 MiB in total, 5 MiB at a time.
    for _ in 0..50 {
        let mut senders = JoinSet::new();
        for _ in 0..20 {
            let (store, letter) = (store.clone(), letter.clone());
            senders.spawn(async move { store.put(TUNNEL, letter, &Quota::default()).await.unwrap() });
        }
        senders.join_all().await;
        after = drain(&store, TUNNEL, after, 20).await[19].0;
        store.ack(TUNNEL, &LAPTOP, after).await.unwrap();
    }
    holds(&store, 0).await;
    let (log, file) = (mib(&files, "-wal"), mib(&files, ""));
    assert!(log <= 128, "the log has {log} MiB");
    assert!(file <= 64, "the file has {file} MiB");
}

/// The name of the next test, as its child process needs it.
const SMALL: &str = "sqlite::log::the_log_stays_small_where_each_small_letter_has_a_commit_of_its_own";

/// Each commit writes some pages of 4 KiB, however small its letter is. Runs as a child that does not sync to the disk,
/// because syncing does not matter here.
#[tokio::test(flavor = "multi_thread")]
async fn the_log_stays_small_where_each_small_letter_has_a_commit_of_its_own() {
    let Some(path) = child::store() else {
        let files = Files::new();
        with_tunnel(&files).await.close().await;
        let mut child = child::command(&[], SMALL, &files.path());
        let ended = child.env("HOOKMITT_TEST_SYNCHRONOUS", "OFF").output().unwrap();
        let said =
            [ended.stdout, ended.stderr].map(|said| String::from_utf8_lossy(&said).into_owned()).concat();
        return assert!(ended.status.success() && said.contains("1 passed"), "{said}");
    };
    let store = SqliteMailbox::open(&path, Arc::new(clock())).unwrap();
    let log = path.with_file_name("relay.db-wal");
    for _ in 0..40 {
        for _ in 0..1_000 {
            store.put(TUNNEL, parcel(1, 100), &Quota::default()).await.unwrap();
        }
        let log = std::fs::metadata(&log).unwrap().len() / MIB;
        assert!(log <= 128, "the log has {log} MiB");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_mostly_empty_is_given_back() {
    let files = Files::new();
    let store = with_tunnel(&files).await;
    let (letter, mut newest) = (parcel(1, 1024 * KIB), 0);
    for _ in 0..40 {
        newest = store.put(TUNNEL, letter.clone(), &Quota::default()).await.unwrap();
    }
    store.ack(TUNNEL, &LAPTOP, newest).await.unwrap();
    holds(&store, 0).await;
    store.put(TUNNEL, letter.clone(), &Quota::default()).await.unwrap();
    store.sweep(&Quota::default()).await.unwrap();
    store.close().await;
    let file = mib(&files, "");
    assert!((1..=20).contains(&file), "the file has {file} MiB");
    let store = files.open().await;
    assert!(drain(&store, TUNNEL, newest, 1).await[0].1 == letter);
}

fn mib(files: &Files, ending: &str) -> u64 {
    let path = files.path().with_file_name(format!("relay.db{ending}"));
    std::fs::metadata(path).unwrap().len() / MIB
}
