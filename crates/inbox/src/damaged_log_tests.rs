//! The log is overwritten, or the file that it belongs to is gone: what the log has is here afterwards.

use std::{
    fs::{self, File},
    io::{Seek as _, SeekFrom, Write as _},
    path::Path,
    sync::Arc,
};

use hookmitt_clock::MachineClock;
use hookmitt_event::{DedupeKey, EventId, Timestamp};
use rusqlite::Connection;

use crate::{
    BackupNote, Inbox, InboxError, NewEvent, Recovered, Restoring, SourceSettings, Unwanted, damaged_log,
    finish_backup, samples,
};

const HEAD: usize = 32;
const FRAME: usize = 24 + 4_096;

fn opened(folder: &Path) -> Inbox {
    Inbox::open(folder, Arc::new(MachineClock)).unwrap()
}

/// Stores events one after the other, each with a commit of its own, and returns their numbers.
async fn stored(inbox: &Inbox, source: i64, count: usize) -> Vec<i64> {
    let mut seqs = Vec::new();
    for number in 0..count {
        let id = EventId::fresh();
        let event = samples::event(source, Timestamp::now());
        let event = samples::with_body(event, format!("{{\"number\":{number}}}").into_bytes());
        let event =
            NewEvent { id, key_hash: *id.as_bytes(), dedupe_key: DedupeKey::Id(id.to_string()), ..event };
        seqs.push(inbox.store(event).await.unwrap().seq);
    }
    seqs
}

async fn with_source(inbox: &Inbox) -> i64 {
    let slug = "shop".parse().unwrap();
    inbox.add_source(slug, SourceSettings::default(), false, Timestamp::now()).await.unwrap().row
}

/// Makes an inbox with ten events in its file and thirty in its log, and copies it to `to` as a power cut leaves it.
async fn cut_off(to: &Path) -> Vec<i64> {
    let folder = tempfile::tempdir().unwrap();
    let inbox = opened(folder.path());
    let source = with_source(&inbox).await;
    let mut seqs = stored(&inbox, source, 10).await;
    while !inbox.cut_log().await.unwrap() {}
    seqs.extend(stored(&inbox, source, 30).await);
    for name in ["inbox.db", "inbox.db-wal"] {
        fs::copy(folder.path().join(name), to.join(name)).unwrap();
    }
    seqs
}

fn overwrite(folder: &Path, place: usize, bytes: &[u8]) {
    let mut log = File::options().write(true).open(folder.join("inbox.db-wal")).unwrap();
    log.seek(SeekFrom::Start(place as u64)).unwrap();
    log.write_all(bytes).unwrap();
}

fn frames(folder: &Path) -> usize {
    (fs::read(folder.join("inbox.db-wal")).unwrap().len() - HEAD) / FRAME
}

async fn seqs(inbox: &Inbox) -> Vec<i64> {
    let read = |db: &Connection| {
        let mut select = db.prepare("SELECT seq FROM event ORDER BY seq")?;
        let seqs = select.query_map([], |row| row.get(0))?.collect::<Result<Vec<i64>, _>>()?;
        Ok(seqs)
    };
    inbox.readers.read(read).await.unwrap()
}

async fn recovered(inbox: &Inbox) -> Option<Recovered> {
    inbox.recovered().await.unwrap()
}

#[tokio::test]
async fn a_log_that_a_power_cut_left_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let stored = cut_off(folder.path()).await;
    assert_eq!(damaged_log::flaw(&folder.path().join("inbox.db")), None);
    let inbox = opened(folder.path());
    assert_eq!((seqs(&inbox).await, recovered(&inbox).await), (stored, None));
}

#[tokio::test]
async fn what_a_power_cut_tore_is_no_damage() {
    let folder = tempfile::tempdir().unwrap();
    cut_off(folder.path()).await;
    let last = HEAD + (frames(folder.path()) - 1) * FRAME;
    overwrite(folder.path(), last + 100, &[0; 512]);
    let inbox = opened(folder.path());
    assert_eq!((seqs(&inbox).await.len() >= 39, recovered(&inbox).await), (true, None));
}

#[tokio::test]
async fn a_log_whose_beginning_is_overwritten_is_put_into_the_file() {
    for noise in [[0; HEAD], [0xa5; HEAD]] {
        let folder = tempfile::tempdir().unwrap();
        let stored = cut_off(folder.path()).await;
        overwrite(folder.path(), 0, &noise);
        let inbox = opened(folder.path());
        assert_eq!(seqs(&inbox).await, stored);
        let note = recovered(&inbox).await.unwrap();
        assert_eq!((note.events, note.without_body, note.missing), (40, 0, Some(0)));
        let log = note.kept.with_file_name(format!("{}.log", note.kept.file_name().unwrap().display()));
        assert!(log.exists(), "the log is kept");
    }
}

#[tokio::test]
async fn what_an_earlier_round_of_the_log_left_behind_is_not_put_back() {
    let (from, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let inbox = opened(from.path());
    let source = with_source(&inbox).await;
    let earlier = stored(&inbox, source, 30).await;
    let other = Connection::open(from.path().join("inbox.db")).unwrap();
    let restart = "PRAGMA wal_checkpoint(RESTART)";
    while other.query_row(restart, [], |row| row.get::<_, i64>(0)).unwrap() != 0 {}
    let later = stored(&inbox, source, 2).await;
    for name in ["inbox.db", "inbox.db-wal", "inbox.db-shm"] {
        fs::copy(from.path().join(name), folder.path().join(name)).unwrap();
    }
    // All that was written since the log has started over is damaged, and what follows it is older than the file.
    let log = fs::read(folder.path().join("inbox.db-wal")).unwrap();
    let salt = |frame: usize| &log[HEAD + frame * FRAME + 8..][..8];
    let young = (0..frames(folder.path())).take_while(|frame| salt(*frame) == &log[16..24]).count();
    overwrite(folder.path(), 0, &vec![0xa5; HEAD + young * FRAME]);
    let inbox = opened(folder.path());
    let (here, note) = (seqs(&inbox).await, recovered(&inbox).await.unwrap());
    assert!(young > 2 && young < frames(from.path()), "{young} frames");
    assert_eq!((here, note.missing), (earlier, None), "{later:?} are gone, and nobody knows how many");
}

#[cfg(unix)]
#[tokio::test]
async fn a_pipe_in_the_place_of_a_log_keeps_nobody_waiting() {
    let folder = tempfile::tempdir().unwrap();
    cut_off(folder.path()).await;
    let pipe = |name: &str| {
        let path = folder.path().join(name);
        let _there = fs::remove_file(&path);
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    };
    pipe("inbox.db-shm");
    assert_eq!(damaged_log::flaw(&folder.path().join("inbox.db")), None);
    pipe("inbox.db-wal");
    assert_eq!(damaged_log::flaw(&folder.path().join("inbox.db")), None);
}

#[tokio::test]
async fn who_is_killed_while_a_log_is_put_back_leaves_it_to_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let stored = cut_off(folder.path()).await;
    overwrite(folder.path(), 0, &[0xa5; HEAD]);
    let (path, log) = (folder.path().join("inbox.db"), folder.path().join("inbox.db-wal"));
    let whole = fs::read(&log).unwrap();
    damaged_log::put_back(&path, &folder.path().join("inbox.db.damaged-1")).unwrap();
    fs::write(&log, whole).unwrap(); // it hadn't got its other name yet
    fs::write(folder.path().join("inbox.damaged"), "").unwrap();
    let inbox = opened(folder.path());
    assert_eq!(seqs(&inbox).await, stored);
    assert_eq!(recovered(&inbox).await.unwrap().missing, Some(0));
    assert!(!folder.path().join("inbox.damaged").exists());
}

#[tokio::test]
async fn what_comes_after_a_damaged_place_in_the_log_is_still_there() {
    let folder = tempfile::tempdir().unwrap();
    let stored = cut_off(folder.path()).await;
    let half = frames(folder.path()) / 2;
    overwrite(folder.path(), HEAD + half * FRAME, &[0x5a; FRAME]);
    let inbox = opened(folder.path());
    let here = seqs(&inbox).await;
    let note = recovered(&inbox).await.unwrap();
    assert_eq!((here.len() as u64, note.missing), (note.events, Some(40 - note.events)));
    assert!(here.len() >= 38 && here.contains(stored.last().unwrap()), "{here:?}");
}

#[tokio::test]
async fn a_young_inbox_whose_file_is_gone_is_recovered_from_its_log() {
    let from = tempfile::tempdir().unwrap();
    let inbox = opened(from.path());
    let source = with_source(&inbox).await;
    let stored = stored(&inbox, source, 5).await;
    for is_empty in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        fs::copy(from.path().join("inbox.db-wal"), folder.path().join("inbox.db-wal")).unwrap();
        if is_empty {
            File::create(folder.path().join("inbox.db")).unwrap();
        }
        let inbox = opened(folder.path());
        assert_eq!(seqs(&inbox).await, stored);
        let note = recovered(&inbox).await.unwrap();
        assert_eq!(note.events, 5);
        #[cfg(unix)]
        if !is_empty {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(
                fs::metadata(note.kept).unwrap().permissions().mode() & 0o077,
                0,
                "others can't read it"
            );
        }
    }
}

#[tokio::test]
async fn of_a_file_that_is_gone_what_its_log_has_is_recovered() {
    let folder = tempfile::tempdir().unwrap();
    let stored = cut_off(folder.path()).await;
    File::create(folder.path().join("inbox.db")).unwrap(); // the log lacks the pages that nobody has changed lately
    let log = fs::read(folder.path().join("inbox.db-wal")).unwrap();
    for (number, frame) in log[HEAD..].chunks(FRAME).enumerate() {
        if frame[..4] == 1_u32.to_be_bytes() {
            overwrite(folder.path(), HEAD + number * FRAME, &[0xa5; 4]); // nor has it the page that the file begins with
        }
    }
    let inbox = opened(folder.path());
    let here = seqs(&inbox).await;
    assert!(here.ends_with(&stored[15..]), "{here:?} of {stored:?}");
    assert_eq!(recovered(&inbox).await.unwrap().events, here.len() as u64);
}

#[tokio::test]
async fn a_file_that_is_gone_and_of_which_the_log_has_no_event_begins_anew() {
    let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let inbox = opened(from.path());
    let source = with_source(&inbox).await;
    stored(&inbox, source, 10).await;
    while !inbox.cut_log().await.unwrap() {}
    let other = Connection::open(from.path().join("inbox.db")).unwrap();
    other.execute("INSERT OR REPLACE INTO meta VALUES ('swept', 7)", []).unwrap();
    fs::copy(from.path().join("inbox.db-wal"), to.path().join("inbox.db-wal")).unwrap();
    let inbox = opened(to.path());
    assert_eq!(seqs(&inbox).await, [0_i64; 0]);
    assert_eq!(recovered(&inbox).await.unwrap().missing, None);
    let source = with_source(&inbox).await;
    assert_eq!(stored(&inbox, source, 1).await.len(), 1);
}

#[tokio::test]
async fn a_log_without_its_file_never_gets_into_a_restored_inbox() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let inbox = opened(other.path());
    let source = with_source(&inbox).await;
    let backed_up = stored(&inbox, source, 3).await;
    let part = other.path().join("part");
    drop(hookmitt_sqlite::private_file(&part).unwrap());
    let mut copying = inbox.copy_into(&part).await.unwrap();
    while !copying.step().await.unwrap().is_complete {}
    drop(copying);
    finish_backup(&part, &BackupNote::default(), &Unwanted::default()).unwrap();

    cut_off(folder.path()).await;
    fs::remove_file(folder.path().join("inbox.db")).unwrap();
    let clock: Arc<dyn hookmitt_clock::Clock> = Arc::new(MachineClock);
    let restoring = Restoring::begin(folder.path(), &part, &clock).unwrap();
    restoring.take().unwrap();
    let inbox = opened(folder.path());
    assert_eq!((seqs(&inbox).await, recovered(&inbox).await), (backed_up, None));
    let kept = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let kept: Vec<_> = kept.filter(|name| name.to_string_lossy().ends_with("Z-wal")).collect();
    assert_eq!(kept.len(), 1, "the log is kept: {kept:?}");
}

#[tokio::test]
async fn a_log_that_is_written_meanwhile_is_not_taken_for_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let inbox = opened(folder.path());
    let source = with_source(&inbox).await;
    let path = folder.path().join("inbox.db");
    let looking = std::thread::spawn(move || (0..300).find_map(|_| damaged_log::flaw(&path)));
    while !looking.is_finished() {
        stored(&inbox, source, 5).await;
        let _is_cut = inbox.cut_log().await.unwrap();
    }
    assert_eq!(looking.join().unwrap(), None);
}

#[tokio::test]
async fn a_damaged_log_that_another_process_uses_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let inbox = opened(folder.path());
    let source = with_source(&inbox).await;
    stored(&inbox, source, 5).await;
    overwrite(folder.path(), 0, &[0xa5; HEAD]);
    let before = fs::read(folder.path().join("inbox.db-wal")).unwrap();
    let second = Inbox::open(folder.path(), Arc::new(MachineClock));
    assert!(matches!(second, Err(InboxError::Damaged(why)) if why.contains("end the hookmitt that runs")));
    assert_eq!(fs::read(folder.path().join("inbox.db-wal")).unwrap(), before);
}
