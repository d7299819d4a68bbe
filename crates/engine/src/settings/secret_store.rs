//! The secrets in memory: read at the start and after a change, never during capture.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use hookmitt_event::{Explain as _, Slug, Source, TargetId};
use hookmitt_inbox::Inbox;
use hookmitt_keys::KeyStore;
use hookmitt_vault::{Entry, Problem, StoreChoice, Vault, VaultError};
use hookmitt_verify::Secret;

use super::config::{Config, ConfiguredSource};
use crate::EngineError;

/// How long the start waits for the keychain. Capture doesn't wait for it: events that are judged meanwhile are judged
/// again.
const START: Duration = Duration::from_secs(1);

/// What a running `listen` command lends to sources.
#[derive(Debug, Clone)]
pub(crate) struct Lent {
    pub(crate) target: TargetId,
    /// The source that it is lent to; if `None`, every source with a row number above `after`.
    pub(crate) source: Option<Slug>,
    pub(crate) after: i64,
    pub(crate) provider: Option<String>,
    pub(crate) secret: Option<Secret>,
}

impl Lent {
    pub(crate) fn holds_for(&self, source: &Source) -> bool {
        match &self.source {
            Some(slug) => *slug == source.slug,
            None => source.row > self.after,
        }
    }
}

/// The vault, and the secrets that were read from it.
#[derive(Debug)]
pub(crate) struct SecretStore {
    vault: Arc<Vault>,
    held: Arc<Mutex<Held>>,
    /// How many readings have begun.
    readings: AtomicU64,
}

#[derive(Debug, Default)]
struct Held {
    /// The number of the reading that these secrets are from.
    reading: u64,
    values: HashMap<String, Vec<Secret>>,
    problems: Vec<Problem>,
    /// Whether the keychain has not answered yet.
    waiting: bool,
    /// What running `listen` commands lend.
    lent: Vec<Lent>,
}

impl Held {
    /// Takes over what a reading found, unless a reading that began later has ended before and so knows more.
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

impl SecretStore {
    /// Opens the vault and reads the secrets. A keychain that doesn't answer soon is left to answer during capture.
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
    pub(crate) fn is_waiting(&self) -> bool {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).waiting
    }

    /// Joins the sources and targets of the inbox with the secrets.
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
            (slug, Arc::new(ConfiguredSource::new(source, secrets, has_secret).with_keys(keys.clone())))
        });
        let sources = known.collect();
        let targets = targets.into_iter().map(|target| (target.id, Arc::new(target))).collect();
        Ok(Config { version, sources, targets })
    }

    pub(crate) async fn list(&self) -> Result<Vec<Entry>, EngineError> {
        self.blocking(Vault::list).await
    }

    /// Runs something that may wait for the keychain on a thread that may block.
    pub(crate) async fn blocking<T: Send + 'static>(
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

    /// Returns the targets of the commands that lend something.
    pub(crate) fn lent_targets(&self) -> Vec<TargetId> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.lent.iter().map(|lent| lent.target).collect()
    }

    pub(crate) fn take_back(&self, target: TargetId) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.lent.retain(|lent| lent.target != target);
    }

    /// Returns how many secrets are kept in the private file, and where that is.
    pub(crate) fn unencrypted(&self) -> Option<(usize, PathBuf)> {
        self.vault.unencrypted().map(|(count, path)| (count, path.to_owned()))
    }

    /// Returns what hinders the reading of secrets, each cause in one sentence.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let waiting =
            held.waiting.then(|| "the keychain hasn't answered yet; capturing continues".to_owned());
        waiting.into_iter().chain(by_cause(&held.problems)).collect()
    }

    pub(crate) fn problem_of(&self, source: &Slug, label: &str) -> Option<String> {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let about = |problem: &&Problem| {
            problem.secret.as_ref().is_none_or(|(of, called)| of == source && called == label)
        };
        held.problems.iter().find(about).map(|problem| problem.error.to_string())
    }

    pub(crate) fn is_held(&self, source: &Slug, label: &str) -> bool {
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.values.get(source.as_str()).is_some_and(|list| list.iter().any(|secret| secret.label == label))
    }
}

/// Describes problems in sentences. Secrets that can't be read for the same reason share one.
fn by_cause(problems: &[Problem]) -> Vec<String> {
    let mut causes: Vec<(String, Vec<&Problem>)> = Vec::new();
    for problem in problems {
        let why = problem.error.to_string();
        match causes.iter_mut().find(|(cause, _)| *cause == why) {
            Some((_, same)) => same.push(problem),
            None => causes.push((why, vec![problem])),
        }
    }
    let sentence = |(why, same): (String, Vec<&Problem>)| {
        let said = match *same {
            [one] => one.to_string(),
            _ => format!("{} secrets can't be read: {why}", same.len()),
        };
        let hint = same.first().and_then(|problem| problem.error.hint());
        hint.map_or_else(|| said.clone(), |hint| format!("{said}; {hint}"))
    };
    causes.into_iter().map(sentence).collect()
}

#[cfg(test)]
mod tests {
    use zeroize::Zeroizing;

    use super::*;

    #[test]
    fn secrets_that_are_unreadable_for_one_reason_share_a_sentence() {
        let problem = |source: &str, error| Problem {
            secret: Some((source.parse().unwrap(), "main".to_owned())),
            error,
        };
        let locked = || VaultError::Locked("no window".to_owned());
        let problems =
            [problem("a", locked()), problem("b", VaultError::Missing("keychain")), problem("c", locked())];
        let said = by_cause(&problems);
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(
            said[0].starts_with("2 secrets can't be read: the keychain is locked: no window; unlock it"),
            "{said:?}"
        );
        assert!(
            said[1].starts_with("secret main of b: the value is missing from the keychain; set"),
            "{said:?}"
        );
    }

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
