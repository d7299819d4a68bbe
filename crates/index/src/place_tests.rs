//! The file while others have it open, and when another one takes its place.

use std::fs;

use hookmitt_search::Query;

use crate::{
    Index, IndexError, Step,
    life_tests::{entries, entry, fill, found, path, removed},
};

#[tokio::test]
async fn who_only_looks_sees_what_another_process_writes_and_makes_anew() {
    let folder = tempfile::tempdir().unwrap();
    let looking = Index::look(folder.path(), "a");
    assert!(looking.candidates(&Query::default(), 0..9, 9).await.is_err());
    let index = Index::open(folder.path(), "a").unwrap();
    fill(&index, 5);
    assert_eq!(found(&looking, &path("/special/1")).await, [1]);
    assert!(matches!(looking.write(Step::default()), Err(IndexError::Closed)));
    assert!(matches!(looking.rebuild().await, Err(IndexError::Closed)));

    index.rebuild().await.unwrap();
    assert_eq!(looking.state().await.unwrap().events, 0);
    fill(&index, 5);
    assert_eq!(found(&looking, &path("/special/1")).await, [1]);
    assert!(Index::look(folder.path(), "b").state().await.is_err());
}

#[tokio::test]
async fn who_has_been_overtaken_writes_nothing_more() {
    let folder = tempfile::tempdir().unwrap();
    let former = Index::open(folder.path(), "a").unwrap();
    former.write(Step { name: 7, ..entries(vec![entry(1, "/one", "")]) }).unwrap();
    let index = Index::open(folder.path(), "a").unwrap();
    assert_eq!(index.step(), Some(7));
    index.write(Step { name: 8, ..removed(&[1]) }).unwrap();
    let late = former.write(Step { name: 9, ..entries(vec![entry(1, "/one", "")]) });
    assert!(matches!(late, Err(IndexError::Overtaken)), "{late:?}");
    let all = index.candidates(&Query::default(), 0..9, 9).await.unwrap();
    assert_eq!((all.seqs, all.step), (vec![], Some(8)));
    index.rebuild().await.unwrap();
    assert_eq!(index.step(), None);
}

#[cfg(unix)]
#[tokio::test]
async fn a_file_that_is_removed_and_made_anew_is_noticed_by_all() {
    let folder = tempfile::tempdir().unwrap();
    let (former, looking) = (Index::open(folder.path(), "a").unwrap(), Index::look(folder.path(), "a"));
    fill(&former, 5);
    assert_eq!(found(&looking, &path("/special/1")).await, [1]);
    assert!(former.is_in_place());
    for suffix in ["", "-wal", "-shm"] {
        fs::remove_file(folder.path().join(format!("search.db{suffix}"))).unwrap();
    }
    assert!(!former.is_in_place());
    let index = Index::open(folder.path(), "a").unwrap();
    assert!(index.is_in_place() && !former.is_in_place());
    assert_eq!(index.done(), 0);
    index.write(entries(vec![entry(2, "/two", "")])).unwrap();
    for index in [&looking, &index] {
        assert_eq!(found(index, &Query::default()).await, [2]);
    }
}

#[tokio::test]
async fn an_index_that_can_not_be_opened_now_is_not_thrown_away() {
    let folder = tempfile::tempdir().unwrap();
    let index = Index::open(folder.path(), "a").unwrap();
    fill(&index, 5);
    index.close().await;
    let lock = folder.path().join("search.lock");
    fs::remove_file(&lock).unwrap();
    fs::create_dir(&lock).unwrap(); // nobody can open that as a file
    assert!(matches!(Index::open(folder.path(), "a"), Err(IndexError::Open { .. })));
    fs::remove_dir(&lock).unwrap();
    let log = folder.path().join("search.db-wal");
    fs::create_dir(&log).unwrap();
    assert!(Index::open(folder.path(), "a").is_err());
    fs::remove_dir(&log).unwrap();
    assert_eq!(Index::open(folder.path(), "a").unwrap().done(), 5);
}
