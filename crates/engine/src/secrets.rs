//! The secrets in memory: read at the start and after a change, never while something is captured.

use std::{
    collections::HashMap,
    path::Path,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use hookmitt_event::{Explain as _, Slug, TargetId};
use hookmitt_inbox::{Inbox, InboxError, SourceSettings};
use hookmitt_keys::KeyStore;
use hookmitt_vault::{Place, Problem, StoreChoice, Vault, VaultError};
use hookmitt_verify::Secret;
use serde::Serialize;
use tokio_util::task::TaskTracker;
use zeroize::Zeroizing;

use crate::{Config, Engine, EngineError, config::Known, listening::Lent};

/// How long the start waits for the keychain. Capture must not: what is judged meanwhile is judged again.
const START: Duration = Duration::from_secs(1);

/// A secret as it is listed, without its value.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct SecretEntry {
    /// The source that it belongs to.
    pub source: Slug,
    /// What tells it from the source's others.
    pub label: String,
    /// `keychain`, `file` or `env`.
    pub kind: &'static str,
    /// The variable's name, for `env`.
    pub env: Option<String>,
    /// Whether it could be read.
    pub readable: bool,
    /// Why not.
    pub problem: Option<String>,
}

/// The vault, and what was read from it.
#[derive(Debug)]
pub(crate) struct Secrets {
    vault: Arc<Vault>,
    held: Arc<Mutex<Held>>,
    /// Readings begun so far.
    readings: AtomicU64,
}

#[derive(Debug, Default)]
struct Held {
    /// Which reading this is of.
    reading: u64,
    values: HashMap<String, Vec<Secret>>,
    problems: Vec<Problem>,
    /// The keychain has not answered yet.
    waiting: bool,
    /// What running `listen` commands lend.
    lent: Vec<Lent>,
}

impl Held {
    /// Takes in what a reading found. One that began earlier may end later, and knows less.
    fn take_in(&mut self, reading: u64, secrets: Vec<hookmitt_vault::Secret>, problems: Vec<Problem>) {
        if reading < self.reading {
            return;
        }
        let mut values: HashMap<String, Vec<Secret>> = HashMap::new();
        for mut secret in secrets {
            let list = values.entry(secret.source.to_string()).or_default();
            list.push(Secret::new(secret.label, std::mem::take(&mut *secret.value)));
        }
        (self.reading, self.values, self.problems, self.waiting) = (reading, values, problems, false);
    }
}

impl Secrets {
    /// Reads what there is. A keychain that doesn't answer soon is waited for beside the capturing.
    pub(crate) async fn open(data_dir: &Path, choice: StoreChoice) -> Result<Self, EngineError> {
        let vault = Arc::new(Vault::open(data_dir, choice)?);
        let held = Arc::new(Mutex::new(Held { waiting: true, ..Held::default() }));
        let secrets = Self { vault, held, readings: AtomicU64::default() };
        let _later = tokio::time::timeout(START, secrets.read_again()).await;
        Ok(secrets)
    }

    /// Reads every secret again.
    pub(crate) async fn read_again(&self) {
        let (vault, held) = (Arc::clone(&self.vault), Arc::clone(&self.held));
        let reading = self.readings.fetch_add(1, Ordering::Relaxed) + 1;
        let read = tokio::task::spawn_blocking(move || {
            let (secrets, problems) = vault.read_all();
            let mut held = held.lock().unwrap_or_else(PoisonError::into_inner);
            held.take_in(reading, secrets, problems);
        });
        let _panicked = read.await;
    }

    /// Whether the keychain has not answered yet.
    fn is_waiting(&self) -> bool {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).waiting
    }

    /// Joins what the inbox knows with the secrets.
    pub(crate) async fn config(
        &self,
        inbox: &Inbox,
        version: i64,
        keys: &KeyStore,
    ) -> Result<Config, EngineError> {
        let (sources, targets) = (inbox.sources().await?, inbox.targets().await?);
        let listed = self.list().await?;
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let known = sources.into_iter().map(|mut source| {
            let slug = source.slug.to_string();
            let mut secrets = held.values.get(&slug).cloned().unwrap_or_default();
            let lent: Vec<_> = held.lent.iter().filter(|lent| lent.holds_for(&source)).collect();
            for lent in lent {
                source.provider = source.provider.or_else(|| lent.provider.clone());
                secrets.extend(lent.secret.clone());
            }
            let has_secret = !secrets.is_empty() || listed.iter().any(|entry| entry.source == source.slug);
            (slug, Arc::new(Known::new(source, secrets, has_secret).with_keys(keys.clone())))
        });
        let sources = known.collect();
        let targets = targets.into_iter().map(|target| (target.id, Arc::new(target))).collect();
        Ok(Config { version, sources, targets })
    }

    async fn list(&self) -> Result<Vec<hookmitt_vault::Entry>, EngineError> {
        self.blocking(Vault::list).await
    }

    /// Runs something that may wait for the keychain on a thread that may wait.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Vault) -> Result<T, VaultError> + Send + 'static,
    ) -> Result<T, EngineError> {
        let vault = Arc::clone(&self.vault);
        let task = tokio::task::spawn_blocking(move || work(&vault));
        Ok(task.await.map_err(|_| EngineError::Stopping)??)
    }

    pub(crate) fn lend(&self, lent: Lent) {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).lent.push(lent);
    }

    /// The targets of the commands that lend something.
    pub(crate) fn lent_targets(&self) -> Vec<TargetId> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.lent.iter().map(|lent| lent.target).collect()
    }

    pub(crate) fn take_back(&self, target: TargetId) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.lent.retain(|lent| lent.target != target);
    }

    pub(crate) fn warnings(&self) -> Vec<String> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let problems = held.problems.iter().map(|problem| match problem.error.hint() {
            Some(hint) => format!("{problem}; {hint}"),
            None => problem.to_string(),
        });
        let waiting = held.waiting.then(|| "the keychain has not answered yet; capture goes on".to_owned());
        self.vault.warning().into_iter().chain(waiting).chain(problems).collect()
    }

    fn problem_of(&self, source: &Slug, label: &str) -> Option<String> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let about = |problem: &&Problem| {
            problem.secret.as_ref().is_none_or(|(of, called)| of == source && called == label)
        };
        held.problems.iter().find(about).map(|problem| problem.error.to_string())
    }

    fn is_held(&self, source: &Slug, label: &str) -> bool {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.values.get(source.as_str()).is_some_and(|list| list.iter().any(|secret| secret.label == label))
    }
}

impl Engine {
    /// Every secret without its value.
    ///
    /// # Errors
    /// Where the index of secrets can't be read.
    pub async fn list_secrets(&self) -> Result<Vec<SecretEntry>, EngineError> {
        let entries = self.secrets.list().await?;
        let shown = entries.into_iter().map(|entry| {
            let (kind, env) = match entry.place {
                Place::Keychain => ("keychain", None),
                Place::File => ("file", None),
                Place::Env(name) => ("env", Some(name)),
            };
            let readable = self.secrets.is_held(&entry.source, &entry.label);
            let problem = (!readable).then(|| self.secrets.problem_of(&entry.source, &entry.label)).flatten();
            SecretEntry { source: entry.source, label: entry.label, kind, env, readable, problem }
        });
        Ok(shown.collect())
    }

    /// Keeps a secret and judges the source's events anew. The source is made where it is new.
    ///
    /// # Errors
    /// What the vault says: an empty value, a locked keychain.
    pub async fn set_secret(
        &self,
        source: Slug,
        label: String,
        value: Zeroizing<Vec<u8>>,
    ) -> Result<(), EngineError> {
        self.ensure_source(&source).await?;
        let slug = source.clone();
        self.secrets.blocking(move |vault| vault.set(&slug, &label, &value).map(drop)).await?;
        self.secrets_changed(&source).await
    }

    /// Lets a secret be read from an environment variable of the process that serves.
    ///
    /// # Errors
    /// A name that no variable can have.
    pub async fn set_env_secret(&self, source: Slug, label: String, name: String) -> Result<(), EngineError> {
        self.ensure_source(&source).await?;
        let slug = source.clone();
        self.secrets.blocking(move |vault| vault.set_env(&slug, &label, &name)).await?;
        self.secrets_changed(&source).await
    }

    /// Removes a secret. Verdicts that it gave stay, unless another secret changes them.
    ///
    /// # Errors
    /// Where there is none, or the keychain doesn't let go of it.
    pub async fn remove_secret(&self, source: Slug, label: String) -> Result<(), EngineError> {
        let slug = source.clone();
        self.secrets.blocking(move |vault| vault.remove(&slug, &label)).await?;
        self.secrets_changed(&source).await
    }

    async fn secrets_changed(&self, source: &Slug) -> Result<(), EngineError> {
        self.secrets.read_again().await;
        self.inbox.announce_config().await?;
        self.reload().await?;
        self.rejudge(source).await
    }

    pub(crate) async fn ensure_source(&self, slug: &Slug) -> Result<(), EngineError> {
        if !self.config().sources.contains_key(slug.as_str()) {
            let settings = SourceSettings::default();
            match self.inbox.add_source(slug.clone(), settings, false, self.clock.now()).await {
                Ok(_) | Err(InboxError::SourceExists(_)) => self.reload().await?, // another process was quicker
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Waits for a keychain that did not answer at the start, and judges anew what came in meanwhile.
    pub(crate) fn await_keychain(self: &Arc<Self>, tasks: &TaskTracker) {
        if !self.secrets.is_waiting() {
            return;
        }
        let (engine, stop) = (Arc::clone(self), self.stop.clone());
        tasks.spawn(async move {
            let read = async {
                engine.secrets.read_again().await;
                engine.reload().await?;
                let slugs: Vec<_> =
                    engine.config().sources.values().map(|known| known.source.slug.clone()).collect();
                for slug in slugs {
                    engine.rejudge(&slug).await?;
                }
                Ok::<_, EngineError>(())
            };
            if let Some(Err(error)) = stop.run_until_cancelled(read).await {
                tracing::warn!(%error, "the secrets could not be read");
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_that_began_before_a_secret_was_set_does_not_take_it_away() {
        let secret = hookmitt_vault::Secret {
            source: "s".parse().unwrap(),
            label: "new".to_owned(),
            value: Zeroizing::new(b"secret".to_vec()),
        };
        let mut held = Held { waiting: true, ..Held::default() };
        held.take_in(2, vec![secret], Vec::new());
        held.take_in(1, Vec::new(), Vec::new());
        assert!(held.values.contains_key("s") && !held.waiting);
        held.take_in(3, Vec::new(), Vec::new());
        assert!(held.values.is_empty());
    }
}
