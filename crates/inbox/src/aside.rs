//! Puts a file in the place of the inbox, and keeps the one that was there beside it.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use hookmitt_sqlite::beside;

/// What SQLite keeps beside a file.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Removes a file and what SQLite keeps beside it. What isn't there is no error.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    remove_beside(path)?;
    remove_one(path)
}

/// Removes what SQLite keeps beside a file.
pub(crate) fn remove_beside(path: &Path) -> io::Result<()> {
    BESIDE.into_iter().try_for_each(|ending| remove_one(&beside(path, ending)))
}

fn remove_one(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Returns a name for what is kept of a file: no file has it, nor one that SQLite would take for its log. The times in
/// these names have a resolution of a second, so the name of an earlier file may be the same.
pub(crate) fn free_name(path: &Path, ending: &str) -> PathBuf {
    let is_free = |name: &PathBuf| BESIDE.iter().chain(&[""]).all(|ending| !is_there(&beside(name, ending)));
    let name = beside(path, ending);
    let numbered = (2_u32..).map(|number| beside(&name, &format!("-{number}")));
    std::iter::once(name.clone()).chain(numbered).find(is_free).unwrap_or(name)
}

/// Whether anything has this name, be it a link that leads nowhere.
fn is_there(path: &Path) -> bool {
    !matches!(fs::symlink_metadata(path), Err(error) if error.kind() == io::ErrorKind::NotFound)
}

/// Puts `new` in the place of `path`. What was there is called `kept` from then on, and its log with it. A process that
/// is killed in between leaves the old file or the new one at `path`, and never the one with the log of the other.
///
/// Nobody may have either file open for writing.
///
/// # Errors
/// Fails if the system refuses it, or if something is called `kept` already. Then the old file is still there.
pub(crate) fn replace(path: &Path, new: &Path, kept: &Path) -> io::Result<()> {
    if path.exists() {
        also_call(path, kept)?;
    }
    for ending in BESIDE {
        let file = beside(path, ending);
        if file.exists() {
            // SQLite finds no log of the old file beside the new one. Without its log the old file is only a little
            // older, and its log has the other name already.
            also_call(&file, &beside(kept, ending))?;
            fs::remove_file(file)?;
        }
    }
    fs::rename(new, path)?;
    sync_folder(path)
}

/// Gives a file a second name, or makes a copy where the file system knows no second names. What has the name already
/// stays as it is: it may be all that is left of another inbox, or another name of this one.
fn also_call(path: &Path, name: &Path) -> io::Result<()> {
    match fs::hard_link(path, name) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => copy_to(path, name),
        linked => linked,
    }
}

/// Copies a file to a name that nothing has.
fn copy_to(path: &Path, name: &Path) -> io::Result<()> {
    let mut from = fs::File::open(path)?;
    let mut to = fs::File::create_new(name)?;
    to.set_permissions(from.metadata()?.permissions())?;
    io::copy(&mut from, &mut to)?;
    to.sync_all()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_before_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inbox.db");
        let made = folder.path().join("inbox.db.restoring");
        fs::write(&path, "1").unwrap();
        let mut kept = Vec::new();
        for text in ["2", "3", "4"] {
            fs::write(&made, text).unwrap();
            let name = free_name(&path, ".before-restore-1");
            replace(&path, &made, &name).unwrap();
            kept.push(name);
        }
        let texts = kept.iter().map(|name| fs::read_to_string(name).unwrap()).collect::<Vec<_>>();
        assert_eq!(texts, ["1", "2", "3"]);
        fs::write(&made, "5").unwrap();
        replace(&path, &made, &kept[0]).unwrap_err();
        assert_eq!(fs::read_to_string(&kept[0]).unwrap(), "1");
        assert_eq!(fs::read_to_string(&path).unwrap(), "4");
    }

    #[test]
    fn a_second_name_of_the_inbox_is_not_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let (path, name) = (folder.path().join("inbox.db"), folder.path().join("inbox.db.damaged-1"));
        fs::write(&path, "all").unwrap();
        fs::hard_link(&path, &name).unwrap();
        also_call(&path, &name).unwrap_err();
        copy_to(&path, &name).unwrap_err();
        assert_eq!(fs::read_to_string(&path).unwrap(), "all");
        copy_to(&path, &free_name(&path, ".damaged-1")).unwrap();
        let copy = folder.path().join("inbox.db.damaged-1-2");
        assert_eq!(fs::read_to_string(copy).unwrap(), "all");
    }

    #[test]
    fn the_name_of_a_log_that_was_kept_alone_is_not_free() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("inbox.db");
        fs::write(folder.path().join("inbox.db.a-wal"), "log").unwrap();
        assert_eq!(free_name(&path, ".a"), folder.path().join("inbox.db.a-2"));
    }
}
