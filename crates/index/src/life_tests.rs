//! The file's life: it is reopened, damaged, emptied, and made anew while searches go on.

use std::{fs, path::Path};

use crate::{Candidates, Entry, Index, IndexError, Marks, Step};
use hookmitt_event::{EventStatus, Timestamp, Verdict, Via};
use hookmitt_search::{Pattern, Query, Test, Text, WordKey};

pub(crate) fn entry(seq: i64, path: &str, text: &str) -> Entry {
    Entry {
        seq,
        source: "shop".to_owned(),
        event_type: Some("push".to_owned()),
        provider: None,
        targets: Vec::new(),
        method: "POST".to_owned(),
        path: path.to_owned(),
        tags: Vec::new(),
        answers: Vec::new(),
        verdict: Verdict::Valid,
        status: EventStatus::Captured,
        via: Via::Direct,
        marks: Marks::default(),
        size: 10,
        received_at: Timestamp::from_micros(seq),
        text: Some(text.to_owned()),
    }
}

pub(crate) fn entries(entries: Vec<Entry>) -> Step {
    Step { entries, ..Step::default() }
}

pub(crate) fn removed(seqs: &[i64]) -> Step {
    Step { removed: seqs.to_vec(), ..Step::default() }
}

/// Writes events from 1 on, the first of each thousand with its own path.
pub(crate) fn fill(index: &Index, count: i64) {
    for first in (1..=count).step_by(1_000) {
        let path = |seq| if seq % 1_000 == 1 { format!("/special/{seq}") } else { "/usual".to_owned() };
        let batch = first..(first + 1_000).min(count + 1);
        let entries = batch.clone().map(|seq| entry(seq, &path(seq), &format!("text number {seq}")));
        index.write(Step { entries: entries.collect(), whole: Some(batch), ..Step::default() }).unwrap();
    }
}

pub(crate) fn path(pattern: &str) -> Query {
    let mut query = Query::default();
    query.and(Test::Word(WordKey::Path, Pattern::new(pattern)));
    query
}

fn text(text: &str) -> Query {
    let mut query = Query::default();
    query.and(Test::Text(Text::new(text)));
    query
}

pub(crate) async fn found(index: &Index, query: &Query) -> Vec<i64> {
    index.candidates(query, 0..i64::MAX, 100).await.unwrap().seqs
}

fn tidy(index: &Index) {
    while index.tidy().unwrap() {}
}

/// The files' bytes, those of the log included.
fn bytes(folder: &Path) -> Vec<u8> {
    let files = ["search.db", "search.db-wal"].map(|name| fs::read(folder.join(name)).unwrap_or_default());
    files.concat()
}

fn contains(bytes: &[u8], part: &str) -> bool {
    bytes.windows(part.len()).any(|window| window == part.as_bytes())
}

#[tokio::test]
async fn what_was_written_is_there_after_reopening() {
    let folder = tempfile::tempdir().unwrap();
    let index = Index::open(folder.path(), "a").unwrap();
    fill(&index, 3_000);
    index.close().await;
    assert!(matches!(index.write(Step::default()), Err(IndexError::Closed)));
    assert!(matches!(index.count(&Query::default()).await, Err(IndexError::Closed)));

    let index = Index::open(folder.path(), "a").unwrap();
    assert_eq!(index.done(), 3_000);
    assert_eq!(found(&index, &path("/special/*")).await, [2_001, 1_001, 1]);
    assert_eq!(found(&index, &text("number 1234")).await, [1_234]);
    let words = index.words(WordKey::Path, "USUAL", 9).await.unwrap();
    assert_eq!(words, [("/usual".to_owned(), 2_997)]);
}

#[tokio::test]
async fn the_index_of_another_inbox_is_thrown_away() {
    let folder = tempfile::tempdir().unwrap();
    let index = Index::open(folder.path(), "a").unwrap();
    fill(&index, 100);
    index.close().await;
    let index = Index::open(folder.path(), "b").unwrap();
    assert_eq!((index.done(), index.state().await.unwrap().events), (0, 0));
}

#[tokio::test]
async fn a_file_that_is_no_index_is_thrown_away() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("search.db"), "not a database, but as long as the head of one ".repeat(50))
        .unwrap();
    let index = Index::open(folder.path(), "a").unwrap();
    fill(&index, 100);
    assert_eq!(found(&index, &path("/special/1")).await, [1]);
}

#[tokio::test]
async fn overwritten_bytes_are_noticed_and_hide_no_event() {
    let folder = tempfile::tempdir().unwrap();
    let index = Index::open(folder.path(), "a").unwrap();
    fill(&index, 3_000);
    tidy(&index);
    index.close().await;
    let file = folder.path().join("search.db");
    let whole = fs::read(&file).unwrap();
    let mut noticed = 0;
    for place in (0..whole.len() - 512).step_by(whole.len() / 40) {
        let mut damaged = whole.clone();
        damaged[place..place + 512].fill(0xA5);
        fs::write(&file, damaged).unwrap();
        let index = Index::open(folder.path(), "a").unwrap();
        for query in [path("/special/1001"), text("number 1001")] {
            match index.candidates(&query, 0..i64::MAX, 9_999).await {
                Ok(Candidates { seqs, done, .. }) if done > 0 => assert!(seqs.contains(&1_001), "at {place}"),
                Ok(_) => noticed += 1, // made anew
                Err(error) => {
                    assert!(matches!(error, IndexError::Damaged(_)), "{error}");
                    noticed += 1;
                }
            }
        }
        index.rebuild().await.unwrap();
        let step = entries(vec![entry(1, "/special/1", "text")]);
        index.write(Step { whole: Some(1..2), ..step }).unwrap();
        assert_eq!(index.done(), 1);
        assert_eq!(found(&index, &path("/special/*")).await, [1]);
        index.close().await;
    }
    assert!(noticed > 10, "only {noticed} were noticed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn searches_go_on_while_the_index_is_made_anew() {
    let folder = tempfile::tempdir().unwrap();
    let index = Index::open(folder.path(), "a").unwrap();
    fill(&index, 2_000);
    let searches = index.clone();
    let rebuilds = async move {
        for _ in 0..20 {
            index.rebuild().await.unwrap();
            let index = index.clone();
            tokio::task::spawn_blocking(move || fill(&index, 2_000)).await.unwrap();
        }
    };
    let searching = async {
        loop {
            let answer = searches.candidates(&path("/special/1"), 0..i64::MAX, 9).await.unwrap();
            assert!(answer.done == 0 || answer.seqs == [1], "{answer:?}");
        }
    };
    tokio::select! { () = rebuilds => {}, () = searching => {} }
}

#[tokio::test]
async fn what_was_read_before_a_rebuild_does_not_count_as_done_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let index = Index::open(folder.path(), "a").unwrap();
    fill(&index, 1_000);
    index.rebuild().await.unwrap();
    index.write(Step { whole: Some(1_001..1_002), ..entries(vec![entry(1_001, "", "")]) }).unwrap();
    assert_eq!(index.done(), 0);
    assert_eq!(index.candidates(&Query::default(), 0..9_999, 9).await.unwrap().done, 0);
}

#[tokio::test]
async fn events_at_the_borders_of_chunks_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let index = Index::open(folder.path(), "a").unwrap();
    let seqs = [0, 1, 8_191, 8_192, 65_535, 65_536];
    let all = seqs.map(|seq| entry(seq, "/border", &format!("the border at {seq}.")));
    index.write(entries(all.to_vec())).unwrap();
    let mut newest_first = seqs;
    newest_first.reverse();
    assert_eq!(found(&index, &path("/border")).await, newest_first);
    for seq in seqs {
        assert_eq!(found(&index, &text(&format!("at {seq}."))).await, [seq]);
    }
    let some = index.candidates(&path("/border"), 1..65_536, 3).await.unwrap();
    assert_eq!((some.seqs, some.reached), (vec![65_535, 8_192, 8_191], 8_191));
    let rest = index.candidates(&path("/border"), 1..8_191, 3).await.unwrap();
    assert_eq!((rest.seqs, rest.reached), (vec![1], 1));
}

#[tokio::test]
async fn an_event_whose_text_was_never_given_is_found_by_every_text() {
    let folder = tempfile::tempdir().unwrap();
    let index = Index::open(folder.path(), "a").unwrap();
    let untold = Entry { text: None, ..entry(2, "", "") };
    index.write(entries(vec![entry(1, "", "some words"), untold])).unwrap();
    assert_eq!(found(&index, &text("other")).await, [2]);
    assert_eq!(found(&index, &text("words")).await, [2, 1]);
}

#[tokio::test]
async fn a_sender_who_invents_paths_fills_the_dictionary_and_hides_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let index = Index::open(folder.path(), "a").unwrap();
    let long = format!("/{}", "long/".repeat(300));
    index.write(entries(vec![entry(1, &long, ""), entry(2, "/usual", "")])).unwrap();
    let maybe = index.candidates(&path("/long/*"), 0..9, 9).await.unwrap();
    assert_eq!((maybe.seqs, maybe.exact), (vec![1], false));
    assert_eq!(index.words(WordKey::Path, "", 9).await.unwrap(), [("/usual".to_owned(), 1)]);
}

#[tokio::test]
async fn when_all_but_ten_are_gone_the_rest_is_as_if_they_had_never_been_there() {
    let folder = tempfile::tempdir().unwrap();
    let index = Index::open(folder.path(), "a").unwrap();
    fill(&index, 50_000);
    let before = index.state().await.unwrap();
    let gone: Vec<i64> = (1..=50_000).filter(|seq| seq % 5_000 != 1).collect();
    for gone in gone.chunks(2_000) {
        index.write(removed(gone)).unwrap();
    }
    tidy(&index);
    let left: Vec<i64> = (0..10).rev().map(|seq| seq * 5_000 + 1).collect();
    assert_eq!(found(&index, &path("/special/*")).await, left);
    assert_eq!(found(&index, &text("text number")).await, left);
    let state = index.state().await.unwrap();
    assert_eq!((state.events, state.tombstones), (10, 0));
    assert!(state.bytes < before.bytes, "{state:?} {before:?}");

    let other = tempfile::tempdir().unwrap();
    let fresh = Index::open(other.path(), "a").unwrap();
    let left = left.iter().map(|seq| entry(*seq, &format!("/special/{seq}"), &format!("text number {seq}")));
    fresh.write(entries(left.collect())).unwrap();
    tidy(&fresh);
    assert_eq!(rows(folder.path()), rows(other.path()));
}

/// How many rows and bytes a search may have to read.
fn rows(folder: &Path) -> Vec<(i64, i64)> {
    let db = rusqlite::Connection::open(folder.join("search.db")).unwrap();
    let sums = ["chunk", "part", "word", "run", "gram"].map(|table| {
        let length = if ["chunk", "word"].contains(&table) { "0" } else { "sum(length(data))" };
        let sql = format!("SELECT count(*), {length} FROM {table}");
        db.query_row(&sql, [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap()
    });
    sums.to_vec()
}

#[tokio::test]
async fn what_is_removed_leaves_the_file_and_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let index = Index::open(folder.path(), "a").unwrap();
    let tags = vec!["tag§secret".to_owned()];
    let secret = Entry { tags, ..entry(701, "/path§secret", "body §¤§ secret") };
    index.write(entries(vec![secret, entry(702, "", "other")])).unwrap();
    fill(&index, 700);
    assert!(contains(&bytes(folder.path()), "path§secret"));
    assert_eq!(found(&index, &text("§¤§")).await, [701]);

    index.write(removed(&[701])).unwrap();
    assert_eq!(index.state().await.unwrap().tombstones, 1);
    tidy(&index);
    let left = bytes(folder.path());
    assert!(["path§secret", "tag§secret", "§¤§", "§"].iter().all(|part| !contains(&left, part)));
    assert_eq!(fs::metadata(folder.path().join("search.db-wal")).unwrap().len(), 0);
    let db = rusqlite::Connection::open(folder.path().join("search.db")).unwrap();
    // The first two bytes of the sign begin no gram any more.
    let begins = "SELECT count(*) FROM gram WHERE id & 0xFFFF00 = 0xC2A700";
    assert_eq!(db.query_row(begins, [], |row| row.get(0)), Ok(0));
}

#[cfg(unix)]
#[tokio::test]
async fn nobody_else_may_read_the_file() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    assert!(Index::look(folder.path(), "a").state().await.is_err());
    let index = Index::open(folder.path(), "a").unwrap();
    fill(&index, 5);
    for name in ["search.db", "search.db-wal", "search.db-shm"] {
        let mode = fs::metadata(folder.path().join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{name}");
    }
}

/// The note of the run of the machine in which something was written that isn't synced.
#[cfg(target_os = "linux")]
fn note(folder: &Path) -> String {
    fs::read_to_string(folder.join("search.lock")).unwrap()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_is_written_is_synced_once_it_is_quiet_and_when_it_is_closed() {
    let folder = tempfile::tempdir().unwrap();
    let index = Index::open(folder.path(), "a").unwrap();
    assert_eq!(note(folder.path()), "");
    fill(&index, 100);
    assert_ne!(note(folder.path()), "");
    tidy(&index);
    assert!(!index.tidy().unwrap());
    assert_eq!(note(folder.path()), "", "it is quiet");
    index.write(entries(vec![entry(101, "/late", "text")])).unwrap();
    assert_ne!(note(folder.path()), "");
    index.close().await;
    assert_eq!(note(folder.path()), "");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn who_was_overtaken_leaves_the_note_of_who_writes_now() {
    let folder = tempfile::tempdir().unwrap();
    let former = Index::open(folder.path(), "a").unwrap();
    fill(&former, 100);
    let index = Index::open(folder.path(), "a").unwrap();
    index.write(entries(vec![entry(101, "/late", "text")])).unwrap();
    let noted = note(folder.path());
    former.close().await;
    assert_eq!(note(folder.path()), noted);
    index.close().await;
    assert_eq!(note(folder.path()), "");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn an_index_that_was_not_synced_when_the_machine_stopped_is_thrown_away() {
    let folder = tempfile::tempdir().unwrap();
    let index = Index::open(folder.path(), "a").unwrap();
    fill(&index, 100);
    let run = note(folder.path());
    index.close().await;

    fs::write(folder.path().join("search.lock"), &run).unwrap(); // as after a process that was killed
    let index = Index::open(folder.path(), "a").unwrap();
    assert_eq!(found(&index, &path("/special/1")).await, [1]);
    tidy(&index);
    assert!(!index.tidy().unwrap());
    assert_eq!(note(folder.path()), "", "what the killed one left is synced");
    index.close().await;

    fs::write(folder.path().join("search.lock"), "another run of the machine").unwrap();
    let looking = Index::look(folder.path(), "a");
    let looked = looking.candidates(&path("/special/1"), 0..i64::MAX, 9).await;
    assert!(matches!(looked, Err(IndexError::Closed)), "{looked:?}");
    let index = Index::open(folder.path(), "a").unwrap();
    assert_eq!((index.done(), note(folder.path()).as_str()), (0, ""));
    fill(&index, 100);
    assert_eq!(found(&index, &path("/special/1")).await, [1]);
}
