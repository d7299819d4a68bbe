//! Another process locks the inbox: each sender gets one 503 after about one busy time, and then everything goes on.

use std::time::{Duration, Instant};

use hookmitt_inbox::AUTO_SOURCES;
use hookmitt_stories::{App, post};
use rusqlite::Connection;
use serde_json::json;
use tokio::task::JoinSet;

/// How long the writer waits for another process's lock.
const BUSY: Duration = Duration::from_secs(5);

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_lock_is_waited_for_once_and_names_too_many_are_refused_beside_it() {
    let app = App::start().await;
    for number in 1..=AUTO_SOURCES {
        assert_eq!(post(app.capture(), &format!("/made-{number}"), &[], b"{}").await.status, 202);
    }
    let other = Connection::open(app.folder.path().join("inbox.db")).expect("the inbox");
    other.execute_batch("BEGIN IMMEDIATE").expect("nobody else writes");

    let (began, mut senders) = (Instant::now(), JoinSet::new());
    for _ in 0..40 {
        let capture = app.capture();
        senders.spawn(async move { post(capture, "/made-1", &[], b"{}").await });
    }
    // A request for one name more than allowed is refused without waiting for the lock.
    for _ in 0..20 {
        assert_eq!(post(app.capture(), "/one-too-many", &[], b"{}").await.status, 404);
    }
    assert!(senders.try_join_next().is_none(), "the others still wait, for {:?}", began.elapsed());
    for reply in senders.join_all().await {
        assert_eq!((reply.status, &reply.json()["code"]), (503, &json!("inbox-busy")));
        assert!(reply.header("retry-after").is_some());
    }
    assert!(began.elapsed() < 2 * BUSY, "they waited one after the other: {:?}", began.elapsed());

    other.execute_batch("ROLLBACK").expect("it lets go");
    for _ in 0..20 {
        assert_eq!(post(app.capture(), "/made-1", &[], b"{}").await.status, 202);
    }
    assert_eq!(app.events().await.len(), 70, "what was refused is not there");
    app.stop().await;
}
