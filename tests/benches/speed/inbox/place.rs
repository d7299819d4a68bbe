//! The inboxes that are measured. They are kept between runs, and made anew when the generator or the schema changes.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Instant,
};

use hookmitt_event::Timestamp;
use hookmitt_stories::{Plan, Sizes, fill_inbox};
use serde::{Deserialize, Serialize};
use tokio::runtime::Runtime;

use super::served::Served;

/// An inbox of so many events has small ones.
const MANY: u64 = 10_000_000;

/// A kept inbox.
pub(super) struct Place {
    /// Holds the data directory, and beside it the note of how that was made.
    folder: PathBuf,
    data: PathBuf,
    made: Made,
}

/// How an inbox was made: written beside it once it is complete.
#[derive(Serialize, Deserialize)]
struct Made {
    events: u64,
    fingerprint: String,
    schema: i64,
    until: Timestamp,
    body_bytes: u64,
    head_bytes: u64,
    /// The highest number of an event.
    last: i64,
}

impl Place {
    /// Returns the inbox of this many events, which is made if there is none like it.
    pub(super) fn ready(runtime: &Runtime, events: u64) -> anyhow::Result<Self> {
        let folder = bench_folder().join(format!("inbox-{events}"));
        let data = folder.join("data");
        let sizes = if events < MANY { Sizes::Usual } else { Sizes::Small };
        let (plan, schema) = (Plan { sizes, ..Plan::of(events) }, newest_schema()?);
        let known = fs::read(folder.join("made.json"))
            .ok()
            .and_then(|text| serde_json::from_slice::<Made>(&text).ok());
        let fits = |made: &Made| made.fingerprint == plan.fingerprint() && made.schema == schema;
        if let Some(made) = known.filter(fits) {
            return Ok(Self { folder, data, made });
        }
        let _absent = fs::remove_dir_all(&folder);
        fs::create_dir_all(&data)?;
        let made = fill(runtime, &data, plan)?;
        Served::start(&data)?.settle()?;
        fs::write(folder.join("made.json"), serde_json::to_string_pretty(&made)?)?;
        Ok(Self { folder, data, made })
    }

    /// Returns a copy, which may be changed and is removed when dropped.
    pub(super) fn copy(&self) -> anyhow::Result<Copied> {
        let folder = self.folder.join("copy");
        let _absent = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder)?;
        let copied = Copied(folder);
        for entry in fs::read_dir(self.directory())? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                fs::copy(entry.path(), copied.0.join(entry.file_name()))?;
            }
        }
        Ok(copied)
    }

    /// Returns the data directory.
    pub(super) fn directory(&self) -> &Path {
        &self.data
    }

    pub(super) fn last(&self) -> i64 {
        self.made.last
    }

    /// Returns when the last event was received.
    pub(super) fn until(&self) -> Timestamp {
        self.made.until
    }

    /// Returns how many bytes the captured bodies and header lines have.
    pub(super) fn raw_bytes(&self) -> u64 {
        self.made.body_bytes + self.made.head_bytes
    }
}

/// A copy of an inbox. It is removed when dropped.
pub(super) struct Copied(PathBuf);

impl Copied {
    pub(super) fn directory(&self) -> &Path {
        &self.0
    }
}

impl Drop for Copied {
    fn drop(&mut self) {
        let _gone = fs::remove_dir_all(&self.0);
    }
}

fn fill(runtime: &Runtime, directory: &Path, plan: Plan) -> anyhow::Result<Made> {
    let started = Instant::now();
    let filled =
        runtime.block_on(fill_inbox(directory, plan, |count| progress(count, plan.events, started)))?;
    let db = rusqlite::Connection::open(directory.join("inbox.db"))?;
    Ok(Made {
        events: plan.events,
        fingerprint: plan.fingerprint(),
        schema: schema_of(&db)?,
        until: plan.until,
        body_bytes: filled.body_bytes,
        head_bytes: filled.head_bytes,
        last: db.query_row("SELECT max(seq) FROM event", [], |row| row.get(0))?,
    })
}

#[expect(clippy::print_stderr, reason = "a benchmark says what it is doing")]
fn progress(count: u64, events: u64, started: Instant) {
    if count.is_multiple_of((events / 10).max(1)) || count == events {
        let rate = count as f64 / started.elapsed().as_secs_f64();
        eprintln!("made {count} of {events} events, {rate:.0} a second");
    }
}

/// Returns the schema number of a new inbox.
fn newest_schema() -> anyhow::Result<i64> {
    let folder = tempfile::tempdir()?;
    let clock = std::sync::Arc::new(hookmitt_clock::MachineClock);
    let inbox = hookmitt_inbox::Inbox::open(folder.path(), clock)?;
    schema_of(&rusqlite::Connection::open(inbox.path())?)
}

fn schema_of(db: &rusqlite::Connection) -> anyhow::Result<i64> {
    Ok(db.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

fn bench_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/bench")
}
