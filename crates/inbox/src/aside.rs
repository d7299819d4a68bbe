//! Puts a file in the place of the inbox, and keeps the one that was there beside it.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// What SQLite keeps beside a file.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Returns the path with an ending added to the file's name.
pub(crate) fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Removes a file and what SQLite keeps beside it. What isn't there is no error.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    for ending in BESIDE.into_iter().chain([""]) {
        match fs::remove_file(with_ending(path, ending)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Puts `new` in the place of `path`. What was there is called `kept` from then on, and its log with it. A process that
/// is killed in between leaves the old file or the new one at `path`, and never the one with the log of the other.
///
/// Nobody may have either file open for writing.
///
/// # Errors
/// Fails if the system refuses it. Then the old file is still there.
pub(crate) fn replace(path: &Path, new: &Path, kept: &Path) -> io::Result<()> {
    if path.exists() {
        also_call(path, kept)?;
        for ending in BESIDE {
            let beside = with_ending(path, ending);
            if beside.exists() {
                // SQLite finds no log of the old file beside the new one. Without its log the old file is only a little
                // older, and its log has the other name already.
                also_call(&beside, &with_ending(kept, ending))?;
                fs::remove_file(beside)?;
            }
        }
    }
    fs::rename(new, path)?;
    sync_folder(path)
}

/// Gives a file a second name, or makes a copy where the file system knows no second names.
fn also_call(path: &Path, name: &Path) -> io::Result<()> {
    if fs::hard_link(path, name).is_ok() {
        return Ok(());
    }
    fs::copy(path, name)?;
    fs::File::open(name)?.sync_all()
}

/// Has the system write down which files are in the folder of this one.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) if cfg!(unix) => fs::File::open(folder)?.sync_all(),
        _ => Ok(()),
    }
}

/// Returns a time for the name of a file: `2026-11-24T174400Z`.
pub(crate) fn stamp(now: hookmitt_event::Timestamp) -> String {
    let text = now.to_string();
    let text = text.split('.').next().unwrap_or_default().trim_end_matches('Z');
    format!("{}Z", text.replace(':', ""))
}

/// Removes names of the inbox that a killed process gave it when it was about to put another file in its place: they
/// name the inbox itself.
#[cfg(unix)]
pub(crate) fn forget_second_names(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    let (Some(folder), Ok(inbox)) = (path.parent(), fs::metadata(path)) else { return Ok(()) };
    if inbox.nlink() < 2 {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let is_kept = name.to_string_lossy().starts_with("inbox.db.");
        if is_kept
            && entry.metadata().is_ok_and(|other| (other.dev(), other.ino()) == (inbox.dev(), inbox.ino()))
        {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

#[cfg(not(unix))]
pub(crate) fn forget_second_names(_: &Path) -> io::Result<()> {
    Ok(())
}
