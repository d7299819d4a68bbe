//! Notices what other processes commit to the same file.

use std::{path::Path, thread, time::Duration};

use tokio::sync::watch;

use crate::InboxError;

/// How often we look. SQLite keeps the file's version number in shared memory, so that a look costs microseconds.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Starts the thread that looks for commits. It ends soon after the writer does.
pub(crate) fn watch(path: &Path, ended: watch::Receiver<bool>) -> Result<watch::Receiver<i64>, InboxError> {
    let db = hookmitt_sqlite::reader(path)?;
    let look = move || db.pragma_query_value(None, "data_version", |row| row.get::<_, i64>(0));
    let (seen, changes) = watch::channel(look()?);
    let failed = |why: std::io::Error| InboxError::Open { path: path.to_owned(), why: why.to_string() };
    thread::Builder::new()
        .name("inbox-others".to_owned())
        .spawn(move || {
            while !*ended.borrow() {
                if let Ok(version) = look() {
                    seen.send_if_modified(|last| std::mem::replace(last, version) != version);
                }
                thread::sleep(LOOK_EVERY);
            }
        })
        .map_err(failed)?;
    Ok(changes)
}
