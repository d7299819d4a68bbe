//! What is let go leaves the files, and what changes nothing is noted nowhere.

use std::fs;

use hookmitt_inbox::AuditFilter;

use super::KeepChange;
use crate::begun::{engine, post, source};

#[tokio::test(flavor = "multi_thread")]
async fn what_is_deleted_for_good_has_left_the_files_when_a_process_that_does_not_deliver_ends() {
    const TEXT: &str = "nobody-may-find-this";
    let folder = tempfile::tempdir().unwrap();
    let is_anywhere = || {
        let files =
            fs::read_dir(folder.path()).unwrap().filter_map(|entry| fs::read(entry.unwrap().path()).ok());
        files.into_iter().any(|bytes| bytes.windows(TEXT.len()).any(|some| some == TEXT.as_bytes()))
    };
    let engine = engine(folder.path()).await;
    let known = source(&engine, "shop").await;
    let event = known.judge(post([("X-Shop", "order")], TEXT.as_bytes())).event;
    let id = engine.capture.store_unanswered(&known, event).await.unwrap().id;
    assert!(is_anywhere(), "this test would notice");
    engine.trash.set_deleted(id, true).await.unwrap();
    assert!(engine.trash.delete_for_good(id).await.unwrap());
    engine.stop().await;
    drop(engine);
    assert!(!is_anywhere());
}

#[tokio::test]
async fn a_change_that_changes_nothing_is_not_in_the_audit_trail() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path()).await;
    let before = engine.inbox().audit(AuditFilter::default(), None, 10).await.unwrap().items.len();
    let nothing = serde_json::json!({ "keep": {}, "sources": { "unassigned": {} } });
    for change in [KeepChange::default(), serde_json::from_value(nothing).unwrap()] {
        engine.keeping.change(change).await.unwrap();
    }
    let after = engine.inbox().audit(AuditFilter::default(), None, 10).await.unwrap().items.len();
    assert_eq!(after, before);
    engine.stop().await;
}
