//! What can be wrong with a data directory and be mended without asking anybody.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::{Engine, EngineError, delivery::is_alive};

/// How the names of what hookmitt keeps in a data directory begin. Whatever else is there isn't ours to change.
const OURS: [&str; 9] = [
    "inbox.db",
    "search.",
    "setup.lock",
    "owner.lock",
    "token",
    "secrets.",
    "tunnels",
    "hookmitt.sock",
    "acme",
];

/// Copies of the inbox that are complete only once they have another name. Who makes one holds the locks of the data
/// directory, so whoever has the inbox open sees only those that a killed process left behind.
const UNFINISHED: [&str; 2] = ["inbox.db.restoring", "inbox.db.recovering"];

/// How long an index may take to be made anew. It is empty then, and grows in the background.
const ANEW: Duration = Duration::from_secs(10);

/// Something wrong that [`Engine::mend`] can put right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// Other users of the machine may open this file or folder of ours.
    OpenToOthers(PathBuf),
    /// A killed process left this file behind.
    Leftover(PathBuf),
    /// A killed process left this many deliveries behind as being tried.
    StuckClaims(u64),
    /// The search index is damaged, as this says.
    DamagedIndex(String),
}

impl Engine {
    /// Looks for everything that [`mend`](Self::mend) can put right.
    ///
    /// # Errors
    /// Fails if the data directory can't be read, or if the inbox fails.
    pub async fn flaws(&self) -> Result<Vec<Flaw>, EngineError> {
        let dir = self.data_dir();
        let files = fs::read_dir(dir).and_then(|entries| entries.collect::<io::Result<Vec<_>>>());
        let files = files.map_err(|error| failed(dir, &error))?;
        let mut flaws = Vec::new();
        for path in files.into_iter().map(|entry| entry.path()) {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if UNFINISHED.iter().any(|unfinished| name.starts_with(unfinished)) {
                flaws.push(Flaw::Leftover(path));
            } else if OURS.iter().any(|ours| name.starts_with(ours)) && is_open_to_others(&path) {
                flaws.push(Flaw::OpenToOthers(path));
            }
        }
        flaws.sort_by(|one, other| one.path().cmp(&other.path()));
        if is_open_to_others(dir) {
            flaws.push(Flaw::OpenToOthers(dir.to_owned()));
        }
        let stuck = self.stuck_claims().await?;
        flaws.extend((stuck > 0).then_some(Flaw::StuckClaims(stuck)));
        let damage = self.search.index_damage().await;
        flaws.extend(damage.map(|damage| Flaw::DamagedIndex(damage.to_string())));
        Ok(flaws)
    }

    /// Counts the deliveries that nobody tries although the inbox says so.
    async fn stuck_claims(&self) -> Result<u64, EngineError> {
        let inbox = &self.base.inbox;
        let claims = inbox.claims().await?;
        if claims == 0 || *self.owns_delivery().borrow() {
            return Ok(0);
        }
        let lives = inbox.former_owner().await?.is_some_and(|owner| is_alive(owner.pid));
        Ok(if lives { 0 } else { claims })
    }

    /// Mends a flaw.
    ///
    /// # Errors
    /// Fails with [`EngineError::NotMended`] if the system refuses it or another process has to do it, and if the
    /// inbox fails.
    pub async fn mend(&self, flaw: &Flaw) -> Result<(), EngineError> {
        match flaw {
            Flaw::OpenToOthers(path) => mended(path, close_to_others(path)),
            Flaw::Leftover(path) => mended(path, fs::remove_file(path)),
            Flaw::StuckClaims(_) => {
                self.begin_to_deliver().await?; // which settles them first
                Ok(())
            }
            Flaw::DamagedIndex(_) => {
                self.begin_to_deliver().await?;
                self.base.inbox.forget_index().await?;
                let made = async {
                    while self.search.index_damage().await.is_some() {
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                };
                let made = tokio::time::timeout(ANEW, made).await;
                made.map_err(|_| EngineError::NotMended("the search index isn't made anew yet".to_owned()))
            }
        }
    }

    /// Becomes the process that delivers, unless this is it already. Only that process settles claims, and writes the
    /// index.
    async fn begin_to_deliver(&self) -> Result<(), EngineError> {
        if *self.owns_delivery().borrow() || self.deliver_if_alone().await? {
            return Ok(());
        }
        Err(EngineError::NotMended("another process delivers".to_owned()))
    }
}

impl Flaw {
    fn path(&self) -> Option<&Path> {
        match self {
            Self::OpenToOthers(path) | Self::Leftover(path) => Some(path),
            Self::StuckClaims(_) | Self::DamagedIndex(_) => None,
        }
    }
}

/// What isn't there any more needs no mending.
fn mended(path: &Path, done: io::Result<()>) -> Result<(), EngineError> {
    match done {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(path, &error)),
        _ => Ok(()),
    }
}

fn failed(path: &Path, error: &io::Error) -> EngineError {
    EngineError::NotMended(format!("{}: {error}", path.display()))
}

/// Whether a file or a folder is open to others. What a link leads to isn't looked at.
#[cfg(unix)]
fn is_open_to_others(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    let found = fs::symlink_metadata(path);
    found.is_ok_and(|found| !found.is_symlink() && found.permissions().mode() & 0o077 != 0)
}

#[cfg(unix)]
fn close_to_others(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = if path.is_dir() { 0o700 } else { 0o600 };
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn is_open_to_others(_: &Path) -> bool {
    false // the access list of the user's own folder keeps it private
}

#[cfg(not(unix))]
fn close_to_others(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::begun::engine;

    #[cfg(unix)]
    #[tokio::test]
    async fn files_that_others_may_read_are_closed_and_leftovers_removed_and_nothing_else_is_touched() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let engine = engine(folder.path()).await;
        assert_eq!(engine.flaws().await.unwrap(), []);
        for name in ["notes.txt", "inbox.db.restoring", "inbox.db.restoring-wal"] {
            fs::write(at(name), "x").unwrap();
        }
        let world = || fs::Permissions::from_mode(0o644);
        fs::set_permissions(at("inbox.db"), world()).unwrap();
        fs::set_permissions(at("notes.txt"), world()).unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();

        let flaws = engine.flaws().await.unwrap();
        let open = Flaw::OpenToOthers;
        let expected = [
            open(at("inbox.db")),
            Flaw::Leftover(at("inbox.db.restoring")),
            Flaw::Leftover(at("inbox.db.restoring-wal")),
            open(folder.path().to_owned()),
        ];
        assert_eq!(flaws, expected);
        for flaw in &flaws {
            engine.mend(flaw).await.unwrap();
        }
        assert_eq!(engine.flaws().await.unwrap(), []);
        assert!(!at("inbox.db.restoring").exists());
        assert_eq!(fs::metadata(at("notes.txt")).unwrap().permissions().mode() & 0o777, 0o644);
        engine.stop().await;
    }

    #[tokio::test]
    async fn an_index_that_is_none_is_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("search.db"), "no index, and longer than a header ".repeat(99)).unwrap();
        close_to_others(&folder.path().join("search.db")).unwrap();
        close_to_others(folder.path()).unwrap();
        let engine = engine(folder.path()).await;
        let flaws = engine.flaws().await.unwrap();
        assert!(matches!(flaws[..], [Flaw::DamagedIndex(_)]), "{flaws:?}");
        engine.mend(&flaws[0]).await.unwrap();
        assert_eq!(engine.flaws().await.unwrap(), []);
        engine.stop().await;
    }
}
