//! The lock that decides which process delivers. The operating system releases it when its holder ends.

use std::{
    fs::File,
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use tokio::sync::watch;

use crate::EngineError;

/// The file whose lock decides who delivers. It contains the id of that process, for people.
pub(super) const FILE: &str = "owner.lock";

/// Returns the id of the process that last took the lock of a data directory.
pub fn owner(data_dir: &Path) -> Option<u32> {
    std::fs::read_to_string(data_dir.join(FILE)).ok()?.trim().parse().ok()
}

/// The lock of a data directory, and whether this process delivers.
#[derive(Debug)]
pub(crate) struct OwnerLock {
    path: PathBuf,
    held: Mutex<Option<File>>,
    owner: watch::Sender<bool>,
}

impl OwnerLock {
    pub(crate) fn new(data_dir: &Path) -> Self {
        let (owner, _) = watch::channel(false);
        Self { path: data_dir.join(FILE), held: Mutex::default(), owner }
    }

    /// Watches whether this process delivers.
    pub(crate) fn watch(&self) -> watch::Receiver<bool> {
        self.owner.subscribe()
    }

    /// Records that this process delivers from now on.
    pub(super) fn delivers(&self) {
        self.owner.send_replace(true);
    }

    pub(super) fn give_up(&self) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.owner.send_replace(false);
    }

    /// Takes the lock if it is free. Returns whether this call took it.
    pub(super) fn lock(&self) -> Result<bool, EngineError> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.is_some() {
            return Ok(false);
        }
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options
            .open(&self.path)
            .map_err(|error| EngineError::BadInput(format!("can't open {}: {error}", self.path.display())))?;
        match file.try_lock() {
            Ok(()) => {
                if let Err(error) = note_pid(&file) {
                    tracing::debug!(%error, "the owner's lock doesn't name its owner");
                }
                *held = Some(file);
                Ok(true)
            }
            Err(std::fs::TryLockError::WouldBlock) => Ok(false),
            Err(std::fs::TryLockError::Error(error)) => {
                Err(EngineError::BadInput(format!("can't lock {}: {error}", self.path.display())))
            }
        }
    }

    /// Returns what distinguishes the file that we have locked from one that replaced it (device and inode); empty on
    /// Windows.
    pub(super) fn name(&self) -> String {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.as_ref().map(name_of).unwrap_or_default()
    }

    /// Whether the file that we have locked is still the one at its path. If it was deleted or replaced, another
    /// process may hold a lock, too.
    pub(super) fn is_ours(&self) -> bool {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.as_ref().is_some_and(|file| is_same(file, &self.path))
    }
}

fn note_pid(mut file: &File) -> io::Result<()> {
    file.set_len(0)?;
    writeln!(file, "{}", std::process::id())
}

#[cfg(unix)]
fn is_same(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let (Ok(held), Ok(there)) = (file.metadata(), path.metadata()) else { return false };
    (held.dev(), held.ino()) == (there.dev(), there.ino())
}

#[cfg(unix)]
fn name_of(file: &File) -> String {
    use std::os::unix::fs::MetadataExt as _;
    file.metadata().map(|file| format!("{}:{}", file.dev(), file.ino())).unwrap_or_default()
}

#[cfg(not(unix))]
fn name_of(_: &File) -> String {
    String::new()
}

/// Whether a process with this id runs. A zombie (ended, but not waited for) doesn't.
#[cfg(target_os = "linux")]
pub(crate) fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn is_alive(_: u32) -> bool {
    false
}

#[cfg(not(unix))]
fn is_same(_: &File, _: &Path) -> bool {
    true // an open file can't be deleted or replaced on this platform
}
