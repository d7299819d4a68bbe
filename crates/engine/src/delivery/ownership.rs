//! One process per data directory delivers: an OS lock says which, and dies with its holder.

use std::{
    fs::File,
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::sync::watch;

use crate::{Engine, EngineError, delivery::couriers};

/// How often a process looks whether it may take over.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// How long a process that takes over waits for one whose lock was replaced: more than a sweep, and the attempts that it
/// had begun.
const FORMER: Duration = Duration::from_secs(45);

/// The file whose lock says who delivers. It holds the number of that process, for people.
const FILE: &str = "owner.lock";

/// The process that took the lock of a data directory last.
pub fn owner(data_dir: &Path) -> Option<u32> {
    std::fs::read_to_string(data_dir.join(FILE)).ok()?.trim().parse().ok()
}

/// Whether this process is the one.
#[derive(Debug)]
pub(crate) struct Ownership {
    path: PathBuf,
    held: Mutex<Option<File>>,
    hindrance: Mutex<Option<String>>,
    owner: watch::Sender<bool>,
    /// Held while targets of `listen` commands come, or are cleared away: ours are not to be taken for leftovers.
    pub(crate) sessions: tokio::sync::Mutex<()>,
}

impl Ownership {
    pub(crate) fn new(data_dir: &Path) -> Self {
        let (owner, _) = watch::channel(false);
        let sessions = tokio::sync::Mutex::default();
        Self {
            path: data_dir.join(FILE),
            held: Mutex::default(),
            hindrance: Mutex::default(),
            owner,
            sessions,
        }
    }

    pub(crate) fn watch(&self) -> watch::Receiver<bool> {
        self.owner.subscribe()
    }

    pub(crate) fn give_up(&self) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.owner.send_replace(false);
    }

    /// Takes the lock, now or as soon as it can be had, and delivers from then on.
    pub(crate) async fn take(&self, engine: &Arc<Engine>) {
        if !self.tries(engine).await {
            self.seek(engine);
        }
    }

    /// What keeps this process from delivering, other than another process that delivers.
    pub(crate) fn hindrance(&self) -> Option<String> {
        self.hindrance.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Tries again and again.
    fn seek(&self, engine: &Arc<Engine>) {
        let (engine, stop) = (Arc::clone(engine), engine.stop.clone());
        engine.tasks.clone().spawn(async move {
            while stop.run_until_cancelled(tokio::time::sleep(LOOK_EVERY)).await.is_some() {
                if engine.ownership().tries(&engine).await {
                    return;
                }
            }
        });
    }

    /// Tries once; what is in the way is logged once.
    async fn tries(&self, engine: &Arc<Engine>) -> bool {
        let tried = self.try_now(engine).await;
        let mut hindrance = self.hindrance.lock().unwrap_or_else(PoisonError::into_inner);
        let now = tried.as_ref().err().map(ToString::to_string);
        match (&now, &*hindrance) {
            (Some(error), before) if before.as_ref() != Some(error) => {
                tracing::warn!(error, "can't take over the deliveries yet");
            }
            (None, Some(_)) => tracing::info!("what kept this process from delivering is gone"),
            _ => {}
        }
        *hindrance = now;
        tried.unwrap_or(false)
    }

    /// Takes the lock if it is free. What another process left half done is settled first.
    pub(crate) async fn try_now(&self, engine: &Arc<Engine>) -> Result<bool, EngineError> {
        if !self.lock()? {
            return Ok(false);
        }
        if let Err(error) = self.clear_up(engine).await {
            self.give_up(); // or nobody would ever deliver
            return Err(error);
        }
        let owner = Arc::clone(engine);
        engine.keep_going("the deliveries", move || deliver(Arc::clone(&owner)));
        engine.settle_old_keys();
        self.owner.send_replace(true);
        Ok(true)
    }

    async fn clear_up(&self, engine: &Engine) -> Result<(), EngineError> {
        let lock = self.name();
        await_former(engine, &lock).await?;
        engine.inbox.own(std::process::id(), lock).await?;
        let cut_off = engine.inbox.settle_cut_off(None).await?;
        if cut_off > 0 {
            tracing::warn!(
                attempts = cut_off,
                "attempts were under way when the last process ended: they may have arrived"
            );
        }
        let _alone = self.sessions.lock().await;
        let ours = engine.secrets.lent_targets();
        engine.inbox.remove_session_targets(ours, engine.clock.now()).await?;
        engine.reload().await
    }

    fn lock(&self) -> Result<bool, EngineError> {
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
                    tracing::debug!(%error, "the owner's lock does not say whose it is");
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

    /// What tells the file that we have locked from one that took its place.
    fn name(&self) -> String {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.as_ref().map(name_of).unwrap_or_default()
    }

    /// Whether the file that we have locked is still the one at its path: where it was deleted or replaced, another
    /// process may have a lock as well.
    pub(crate) fn is_ours(&self) -> bool {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.as_ref().is_some_and(|file| is_same(file, &self.path))
    }
}

/// Waits for a process that delivers still, because its lock file was deleted or replaced beneath it: it notices at its
/// next sweep. One whose own file we have locked has ended.
async fn await_former(engine: &Engine, lock: &str) -> Result<(), EngineError> {
    let Some(former) = engine.inbox.former_owner().await? else { return Ok(()) };
    if former.lock == lock || former.pid == std::process::id() || !is_alive(former.pid) {
        return Ok(());
    }
    tracing::warn!(
        pid = former.pid,
        "the owner's lock was replaced while that process delivers: waiting for it"
    );
    let ends = async {
        while is_alive(former.pid) && engine.inbox.former_owner().await?.is_some_and(|now| now == former) {
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Ok(())
    };
    let waited = engine.stop.run_until_cancelled(tokio::time::timeout(FORMER, ends)).await;
    match waited {
        Some(Ok(ended)) => ended,
        Some(Err(_)) => Ok(()), // what it claims from now on is refused
        None => Err(EngineError::Stopping),
    }
}

/// Delivers until the stop. Where the lock is lost, it is sought again.
async fn deliver(engine: Arc<Engine>) {
    couriers::dispatch(&engine, &engine.stop).await;
    if !engine.stop.is_cancelled() {
        if let Err(error) = engine.inbox.disown().await {
            tracing::warn!(%error, "that this process delivers no more could not be written down");
        }
        engine.ownership().give_up();
        engine.ownership().seek(&engine);
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

/// Whether such a process runs. One that has ended and that nobody has asked for is none.
#[cfg(target_os = "linux")]
fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

#[cfg(not(target_os = "linux"))]
fn is_alive(_: u32) -> bool {
    false
}

#[cfg(not(unix))]
fn is_same(_: &File, _: &Path) -> bool {
    true // a file that is open can't be deleted or replaced there
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::begun::engine;

    #[tokio::test]
    async fn what_keeps_a_process_from_delivering_at_first_does_not_end_it() {
        let folder = tempfile::tempdir().unwrap();
        let engine = engine(folder.path()).await;
        let in_the_way = folder.path().join(FILE);
        std::fs::create_dir(&in_the_way).unwrap(); // as no handle left, or an inbox that is locked
        engine.deliver().await;
        let mut owner = engine.owns_delivery();
        assert!(!*owner.borrow_and_update());
        let said = engine.warnings();
        assert!(said.iter().any(|said| said.starts_with("nothing is delivered yet: can't open")), "{said:?}");
        std::fs::remove_dir(&in_the_way).unwrap();
        owner.wait_for(|owner| *owner).await.unwrap();
        assert!(engine.ownership().hindrance().is_none());
        engine.stop().await;
    }
}
