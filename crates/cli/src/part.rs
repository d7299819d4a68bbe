//! A file that is being made beside the one whose name it gets once it is complete.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io,
    path::{Path, PathBuf},
};

use crate::replaced::{Replaced, is_at};

/// The right to make a file, which one command has at a time.
///
/// It is a lock on a file of its own: a lock on the part would keep SQLite out on some systems. A system that can't lock
/// files there has nobody wait; the parts' names are random, so two commands still don't get in each other's way.
pub(crate) struct Turn {
    file: PathBuf,
    path: PathBuf,
    lock: Option<File>,
}

impl Turn {
    /// Returns `None` while another command makes the same file.
    pub(crate) fn take(file: &Path) -> io::Result<Option<Self>> {
        let path = beside(file, ".lock");
        loop {
            let lock = opened(&path, OpenOptions::new().create(true).truncate(false))?;
            match lock.try_lock() {
                // Whoever had it before us may have removed it since we opened it.
                Ok(()) if !is_at(&lock, &path) => {}
                Ok(()) => return Ok(Some(Self { file: file.to_owned(), path, lock: Some(lock) })),
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(_)) => {
                    return Ok(Some(Self { file: file.to_owned(), path, lock: None }));
                }
            }
        }
    }

    /// Returns the parts that killed commands left behind.
    pub(crate) fn left(&self) -> io::Result<Vec<PathBuf>> {
        let (Some(folder), Some(_)) = (self.file.parent(), &self.lock) else { return Ok(Vec::new()) };
        let begin = beside(&self.file, "-");
        let mut left = Vec::new();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let random = path.to_str().zip(begin.to_str()).and_then(|(path, begin)| path.strip_prefix(begin));
            let random = random.and_then(|rest| rest.strip_suffix(".part"));
            let is_ours = random.is_some_and(|n| n.len() == 16 && n.bytes().all(|b| b.is_ascii_hexdigit()));
            if is_ours && fs::symlink_metadata(&path).is_ok_and(|there| there.is_file()) {
                left.push(path);
            }
        }
        Ok(left)
    }

    /// Makes the part, which is empty and private.
    pub(crate) fn part(self) -> io::Result<Part> {
        let path = beside(&self.file, &format!("-{:016x}.part", rand::random::<u64>()));
        let made = opened(&path, OpenOptions::new().create_new(true))?;
        Ok(Part { path, made, turn: self })
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let _gone = fs::remove_file(&self.path);
    }
}

/// The file that is being made. It is removed unless it gets its name.
pub(crate) struct Part {
    path: PathBuf,
    made: File,
    turn: Turn,
}

impl Part {
    /// Returns where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives it its name, and returns what had it before. Unless `force` is set, that fails if something has that name by
    /// now.
    pub(crate) fn becomes(self, force: bool) -> io::Result<Replaced> {
        if !is_at(&self.made, &self.path) {
            return Err(io::Error::other("another file took the place of the one that was being made"));
        }
        let file = &self.turn.file;
        let replaced = Replaced::hold(file);
        if force {
            fs::rename(&self.path, file)?
        } else {
            self.rename_if_free(file)?
        }
        if let Some(folder) = file.parent().filter(|_| cfg!(unix)) {
            File::open(folder)?.sync_all()?;
        }
        Ok(replaced)
    }

    fn rename_if_free(&self, file: &Path) -> io::Result<()> {
        match fs::hard_link(&self.path, file) {
            Ok(()) => fs::remove_file(&self.path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
            Err(_) if fs::symlink_metadata(file).is_ok() => Err(io::ErrorKind::AlreadyExists.into()),
            Err(_) => fs::rename(&self.path, file), // a file system without second names
        }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let _renamed = fs::remove_file(&self.path);
    }
}

/// Returns the path of a hidden file beside another one.
fn beside(file: &Path, ending: &str) -> PathBuf {
    let name = file.file_name().unwrap_or_default();
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(".hookmitt");
    hidden.push(ending);
    file.with_file_name(hidden)
}

fn opened(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    options.read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn part(file: &Path) -> Part {
        Turn::take(file).unwrap().expect("nobody else makes it").part().unwrap()
    }

    #[test]
    fn one_command_makes_a_file_at_a_time_and_its_part_stays() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("b.db");
        let first = part(&file);
        fs::write(first.path(), "whole").unwrap();
        assert!(Turn::take(&file).unwrap().is_none());
        let _other = part(&folder.path().join("c.db"));
        let _nothing = first.becomes(false).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"whole");
        let second = part(&file);
        let why = second.becomes(false).unwrap_err();
        assert_eq!(why.kind(), io::ErrorKind::AlreadyExists);
        let _replaced = part(&file).becomes(true).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"");
        drop(_other);
        assert_eq!(names(folder.path()), ["b.db"]);
    }

    #[test]
    fn only_what_a_killed_command_left_behind_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("b.db");
        let left = ".b.db.hookmitt-0123456789abcdef.part";
        let others = ["b.db.part", ".b.db.hookmitt-mine.part", ".c.db.hookmitt-0123456789abcdef.part"];
        for name in others.into_iter().chain([left, ".b.db.hookmitt.lock"]) {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        let turn = Turn::take(&file).unwrap().expect("its maker was killed");
        assert_eq!(turn.left().unwrap(), [folder.path().join(left)]);
    }

    #[test]
    fn another_file_in_the_place_of_the_part_does_not_get_the_name() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("b.db");
        let made = part(&file);
        fs::remove_file(made.path()).unwrap();
        if cfg!(unix) {
            fs::write(made.path(), "another").unwrap();
        }
        assert!(made.becomes(true).is_err());
        assert!(!file.exists());
    }
}
