//! The file whose name another one got.
//!
//! A file system that gives back a large file all at once keeps everybody else's writes waiting, the inbox's commits
//! among them. So it is given back in steps, with rests in between.

use std::{
    fs::{self, File},
    io,
    path::Path,
    time::{Duration, Instant},
};

use crate::stop::Stop;

/// How many bytes are given back at a time.
const STEP: u64 = 4 * 1024 * 1024;

/// How many times as long as a step it rests after it, and for how long at least.
const RESTS: u32 = 4;
const LEAST: Duration = Duration::from_millis(5);

/// Keeps a replaced file's content until it is given back, or until this is dropped.
#[derive(Debug)]
pub(crate) struct Replaced(Option<File>);

impl Replaced {
    /// Holds on to the file that is about to lose its name. What is no ordinary file is left to the system, and so is
    /// everything where a file that is open can't be replaced.
    pub(crate) fn hold(path: &Path) -> Self {
        let is_file = cfg!(unix) && fs::symlink_metadata(path).is_ok_and(|there| there.is_file());
        let held = is_file.then(|| File::options().read(true).write(true).open(path).ok()).flatten();
        Self(held.filter(|held| is_at(held, path)))
    }

    /// Gives it back, unless it has yet another name. Whoever still reads from it finds it cut short. Ctrl-C leaves the rest
    /// to the system.
    pub(crate) async fn give_back_until(self, stop: &mut Stop) {
        tokio::select! {
            // The system does what fails here.
            _given_back = self.give_back() => {}
            () = stop.asked() => {}
        }
    }

    async fn give_back(self) -> io::Result<()> {
        let Some(held) = self.0 else { return Ok(()) };
        if has_name(&held)? {
            return Ok(());
        }
        let mut size = held.metadata()?.len();
        while size > STEP {
            size -= STEP;
            let begun = Instant::now();
            held.set_len(size)?;
            tokio::time::sleep((begun.elapsed() * RESTS).max(LEAST)).await;
        }
        Ok(())
    }
}

/// Whether an open file is the one that has this name.
#[cfg(unix)]
pub(crate) fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let there = fs::symlink_metadata(path).and_then(|there| Ok((there, file.metadata()?)));
    there.is_ok_and(|(there, open)| (there.dev(), there.ino()) == (open.dev(), open.ino()))
}

#[cfg(not(unix))]
pub(crate) fn is_at(_: &File, path: &Path) -> bool {
    path.exists()
}

#[cfg(unix)]
fn has_name(file: &File) -> io::Result<bool> {
    Ok(std::os::unix::fs::MetadataExt::nlink(&file.metadata()?) > 0)
}

#[cfg(not(unix))]
fn has_name(_: &File) -> io::Result<bool> {
    Ok(true)
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    /// A file of two steps and a half, and one that takes its place.
    fn two_files(folder: &Path) -> (std::path::PathBuf, std::path::PathBuf) {
        let (old, new) = (folder.join("old"), folder.join("new"));
        File::create(&old).unwrap().set_len(STEP * 5 / 2).unwrap();
        fs::write(&new, "new").unwrap();
        (old, new)
    }

    #[tokio::test]
    async fn a_replaced_file_is_given_back_and_the_new_one_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = two_files(folder.path());
        let reader = File::open(&old).unwrap();
        let replaced = Replaced::hold(&old);
        fs::rename(&new, &old).unwrap();
        replaced.give_back().await.unwrap();
        assert_eq!(reader.metadata().unwrap().len(), STEP / 2);
        assert_eq!(fs::read(&old).unwrap(), b"new");
    }

    #[tokio::test]
    async fn a_file_that_has_another_name_stays_whole() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = two_files(folder.path());
        let other = folder.path().join("kept");
        fs::hard_link(&old, &other).unwrap();
        let replaced = Replaced::hold(&old);
        fs::rename(&new, &old).unwrap();
        replaced.give_back().await.unwrap();
        assert_eq!(fs::metadata(&other).unwrap().len(), STEP * 5 / 2);
    }

    #[tokio::test]
    async fn what_a_replaced_link_leads_to_stays_whole() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = two_files(folder.path());
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&old, &link).unwrap();
        let replaced = Replaced::hold(&link);
        fs::rename(&new, &link).unwrap();
        replaced.give_back().await.unwrap();
        assert_eq!(fs::metadata(&old).unwrap().len(), STEP * 5 / 2);
    }
}
