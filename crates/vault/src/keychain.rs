//! Access to the OS keychain. It is called on a separate thread, and the caller never waits longer than a limit.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
        mpsc::{self, RecvTimeoutError, Sender},
    },
    thread,
    time::{Duration, Instant},
};

use keyring_core::{CredentialStore, Error as KeyringError};
use zeroize::Zeroizing;

use crate::VaultError;

/// The service name of hookmitt's secrets in the keychain.
const SERVICE: &str = "hookmitt";

/// The maximum number of threads that wait for a keychain which does not answer. A password window can block a thread
/// until somebody looks at it. Such a thread cannot be stopped, so their number is limited.
const MOST_WAITING: usize = 4;

/// A value that was read, or why it could not be read.
type Read = Result<Zeroizing<Vec<u8>>, VaultError>;

/// The keychain. It is connected when first needed, and again after a failure.
#[derive(Clone, Default)]
pub(crate) struct Keychain {
    store: Arc<Mutex<Option<Arc<CredentialStore>>>>,
    waiting: Arc<AtomicUsize>,
}

impl Keychain {
    /// Stores a value under a name.
    pub(crate) fn set(
        &self,
        name: String,
        value: Zeroizing<Vec<u8>>,
        limit: Duration,
    ) -> Result<(), VaultError> {
        self.ask_once(limit, move |store| entry(store, &name)?.set_secret(&value).map_err(explain))
    }

    /// Removes the value with this name. Does nothing if there is none.
    pub(crate) fn remove(&self, name: String, limit: Duration) -> Result<(), VaultError> {
        self.ask_once(limit, move |store| match entry(store, &name)?.delete_credential() {
            Ok(()) | Err(KeyringError::NoEntry) => Ok(()),
            Err(error) => Err(explain(error)),
        })
    }

    /// Returns the values with these names, in their order. Values that are missing after `limit` are errors.
    pub(crate) fn read(&self, names: Vec<String>, limit: Duration) -> Vec<Read> {
        let wanted = names.len();
        let job = move |store: &CredentialStore, out: &Sender<Read>| {
            for name in names {
                let value = entry(store, &name)
                    .and_then(|entry| entry.get_secret().map(Zeroizing::new).map_err(explain));
                let shut = matches!(&value, Err(error) if !matches!(error, VaultError::Missing(_)));
                if out.send(value).is_err() || shut {
                    return; // nobody waits any more, or the next would fail, too (and prompt again)
                }
            }
        };
        let mut read = self.ask(limit, job);
        let last = match read.last() {
            Some(Err(error)) => error.clone(),
            _ => VaultError::Keychain("its client stopped".to_owned()),
        };
        read.resize_with(wanted, || Err(last.clone()));
        read
    }

    fn ask_once<T: Send + 'static>(
        &self,
        limit: Duration,
        job: impl FnOnce(&CredentialStore) -> Result<T, VaultError> + Send + 'static,
    ) -> Result<T, VaultError> {
        let answers = self.ask(limit, move |store, out| drop(out.send(job(store))));
        let stopped = || Err(VaultError::Keychain("its client stopped".to_owned()));
        answers.into_iter().next().unwrap_or_else(stopped)
    }

    /// Runs `job` on a thread and collects what it sends, until `limit`. Nothing follows an error.
    fn ask<T: Send + 'static>(
        &self,
        limit: Duration,
        job: impl FnOnce(&CredentialStore, &Sender<Result<T, VaultError>>) + Send + 'static,
    ) -> Vec<Result<T, VaultError>> {
        if self.waiting.fetch_add(1, Ordering::SeqCst) >= MOST_WAITING {
            self.waiting.fetch_sub(1, Ordering::SeqCst);
            return vec![Err(VaultError::Slow)];
        }
        let seat = Seat(self.waiting.clone());
        let (sender, receiver) = mpsc::channel();
        let keychain = self.clone();
        let spawned = thread::Builder::new().name("keychain".to_owned()).spawn(move || {
            let _seat = seat;
            match keychain.connect() {
                Ok(store) => job(&*store, &sender),
                Err(error) => drop(sender.send(Err(error))),
            }
        });
        if let Err(error) = spawned {
            return vec![Err(VaultError::Keychain(error.to_string()))];
        }
        let answers = collect(&receiver, limit);
        if matches!(answers.last(), Some(Err(VaultError::Keychain(_)))) {
            *self.store.lock().unwrap_or_else(PoisonError::into_inner) = None; // its service may have restarted
        }
        answers
    }

    fn connect(&self) -> Result<Arc<CredentialStore>, VaultError> {
        let known = self.store.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(store) = known {
            return Ok(store);
        }
        let store = platform_store().map_err(|error| VaultError::NoKeychain(error.to_string()))?;
        *self.store.lock().unwrap_or_else(PoisonError::into_inner) = Some(store.clone());
        Ok(store)
    }
}

/// A thread's place among those that wait. Dropping it frees the place, however the thread ends.
struct Seat(Arc<AtomicUsize>);

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

fn collect<T>(
    receiver: &mpsc::Receiver<Result<T, VaultError>>,
    limit: Duration,
) -> Vec<Result<T, VaultError>> {
    let deadline = Instant::now() + limit;
    let mut answers = Vec::new();
    loop {
        match receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(answer) => answers.push(answer),
            Err(RecvTimeoutError::Disconnected) => return answers,
            Err(RecvTimeoutError::Timeout) => {
                answers.push(Err(VaultError::Slow));
                return answers;
            }
        }
    }
}

fn entry(store: &CredentialStore, name: &str) -> Result<keyring_core::Entry, VaultError> {
    store.build(SERVICE, name, None).map_err(explain)
}

fn explain(error: KeyringError) -> VaultError {
    match error {
        KeyringError::NoEntry => VaultError::Missing("keychain"),
        KeyringError::NoStorageAccess(cause) if is_absent(&*cause) => {
            VaultError::NoKeychain(cause.to_string())
        }
        KeyringError::NoStorageAccess(cause) => VaultError::Locked(cause.to_string()),
        other => VaultError::Keychain(other.to_string()),
    }
}

/// Returns whether a Secret Service runs without any keychain in it, as on a server. Nobody could ever unlock that.
#[cfg(all(unix, not(target_os = "macos")))]
fn is_absent(cause: &(dyn std::error::Error + 'static)) -> bool {
    matches!(cause.downcast_ref(), Some(secret_service::Error::NoResult))
}

#[cfg(any(target_os = "macos", windows))]
fn is_absent(_cause: &(dyn std::error::Error + 'static)) -> bool {
    false
}

#[cfg(all(unix, not(target_os = "macos")))]
fn platform_store() -> keyring_core::Result<Arc<CredentialStore>> {
    Ok(zbus_secret_service_keyring_store::Store::new()?)
}

#[cfg(target_os = "macos")]
fn platform_store() -> keyring_core::Result<Arc<CredentialStore>> {
    Ok(apple_native_keyring_store::keychain::Store::new()?)
}

#[cfg(windows)]
fn platform_store() -> keyring_core::Result<Arc<CredentialStore>> {
    Ok(windows_native_keyring_store::Store::new()?)
}

#[cfg(test)]
mod tests {
    use std::{any::Any, collections::HashMap};

    use keyring_core::api::CredentialStoreApi;

    use super::*;

    /// A keychain that shows a window which nobody looks at. It answers once the other end of the channel is dropped.
    struct Window(Mutex<mpsc::Receiver<()>>);

    impl CredentialStoreApi for Window {
        fn vendor(&self) -> String {
            "window".to_owned()
        }

        fn id(&self) -> String {
            "window".to_owned()
        }

        fn build(
            &self,
            _: &str,
            _: &str,
            _: Option<&HashMap<&str, &str>>,
        ) -> keyring_core::Result<keyring_core::Entry> {
            let _ = self.0.lock().unwrap().recv();
            Err(KeyringError::NoEntry)
        }

        fn as_any(&self) -> &dyn Any {
            self
        }
    }

    #[test]
    fn a_keychain_that_waits_for_somebody_is_not_waited_for() {
        let (open, closed) = mpsc::channel();
        let keychain = Keychain::default();
        *keychain.store.lock().unwrap() = Some(Arc::new(Window(Mutex::new(closed))));
        let limit = Duration::from_millis(20);
        for _ in 0..MOST_WAITING + 2 {
            let read = keychain.read(vec!["a".to_owned(), "b".to_owned()], limit);
            assert!(matches!(read[..], [Err(VaultError::Slow), Err(VaultError::Slow)]), "{read:?}");
        }
        assert_eq!(keychain.waiting.load(Ordering::SeqCst), MOST_WAITING);
        drop(open); // somebody closes the window
        while keychain.waiting.load(Ordering::SeqCst) > 0 {
            thread::yield_now();
        }
        let gone = keychain.read(vec!["a".to_owned()], Duration::from_secs(20));
        assert!(matches!(gone[..], [Err(VaultError::Missing(_))]), "{gone:?}");
    }
}
