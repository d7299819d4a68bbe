//! A log that is damaged, or whose file is gone: what is whole in it is put into the file before SQLite sees either,
//! which would drop it without a word.

use std::{
    fs::{self, File},
    io::{self, Seek as _, SeekFrom, Write as _},
    path::Path,
};

use hookmitt_sqlite::beside;

use crate::{
    aside,
    log_frames::{Frame, HEAD, LogFrames},
    pages::PAGE,
};

/// Returns why the log of a file can't be read to its end by SQLite.
pub(crate) fn flaw(path: &Path) -> Option<&'static str> {
    let log = beside(path, "-wal");
    // If another process writes it just now, what looked damaged is whole the second time.
    let found = look(&log).ok()??;
    (look(&log).ok()? == Some(found)).then_some(match found {
        0 => "its log doesn't begin as it should",
        _ => "its log is damaged",
    })
}

/// Returns the place of the damage: 0 for the head, or the number of the frame, counted from 1.
fn look(log: &Path) -> io::Result<Option<u64>> {
    let Some(mut frames) = LogFrames::open(log)? else { return Ok(None) };
    let is_head_whole = frames.is_head_whole();
    let (mut count, mut hole, mut committed) = (0_u64, (!is_head_whole).then_some(0), 0);
    while let Some(frame) = frames.next()? {
        count += 1;
        match hole {
            None if !frame.is_whole => hole = Some(count),
            Some(_) if frame.is_whole && frame.pages > 0 => committed += 1,
            _ => {}
        }
    }
    // A transaction that wasn't synced when the power failed may have holes. The next one is only begun once it is.
    let is_unsynced = is_head_whole && committed < 2;
    // A head of zeros was never written.
    let is_unwritten = frames.head == [0; HEAD] && committed == 0;
    Ok(hole.filter(|_| !is_unsynced && !is_unwritten))
}

/// Puts what is whole in the log into the file, in the order in which it was written, and keeps the log beside `kept`.
/// Nobody may have the file open. Returns whether the last transaction is there, as far as that can be known.
///
/// # Errors
/// Fails if the system refuses it. Then it can be done again.
pub(crate) fn put_back(path: &Path, kept: &Path) -> io::Result<bool> {
    let log = beside(path, "-wal");
    if !has_frames(path) {
        return Ok(true);
    }
    let (there, known) = (committed(&log)?, LogFrames::open(&log)?.and_then(|frames| frames.known));
    if let Some((committed, pages)) = there {
        let mut file = File::options().write(true).create(true).truncate(false).open(path)?;
        for frame in whole_frames(&log)?.take(committed) {
            if let Some(Frame { page, bytes, .. }) = frame? {
                file.seek(SeekFrom::Start(u64::from(page.saturating_sub(1)) * PAGE as u64))?;
                file.write_all(&bytes)?;
            }
        }
        file.set_len(u64::from(pages) * PAGE as u64)?;
        file.sync_all()?;
    }
    fs::rename(log, beside(kept, ".log"))?; // not `-wal`: SQLite would write a part of it over what is there now
    aside::remove_beside(path)?;
    Ok(there.is_some_and(|(committed, _)| known.is_none_or(|known| known == committed)))
}

/// Whether there is more in the log of a file than how it begins.
pub(crate) fn has_frames(path: &Path) -> bool {
    fs::metadata(beside(path, "-wal")).is_ok_and(|log| log.len() > HEAD as u64)
}

/// Returns how many frames there are up to the one that completes the last transaction, and how many pages the file has
/// after it; `None` if no transaction is completed.
fn committed(log: &Path) -> io::Result<Option<(usize, u32)>> {
    let mut last = None;
    for (count, frame) in (1..).zip(whole_frames(log)?) {
        last = frame?.filter(|frame| frame.pages > 0).map(|frame| (count, frame.pages)).or(last);
    }
    Ok(last)
}

/// Returns the frames of a log, those that aren't whole as `None`.
fn whole_frames(log: &Path) -> io::Result<impl Iterator<Item = io::Result<Option<Frame>>>> {
    let mut frames = LogFrames::open(log)?;
    let next = move || frames.as_mut()?.next().transpose();
    Ok(std::iter::from_fn(next).map(|frame| Ok(Some(frame?).filter(|frame| frame.is_whole))))
}
