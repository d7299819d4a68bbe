//! Upkeep of the inbox: chores of the process that delivers. Each is a loop of small steps, every one of which is complete
//! in itself, so that whoever delivers next can go on.

mod dictionaries;
mod indexing;
mod packing;
#[cfg(test)]
mod ratio_tests;

use std::{fmt::Display, sync::Arc, time::Duration};

use tokio::sync::watch;

use crate::{base::Base, search::IndexSlot};

/// How long a chore waits after a step that failed, for example on a full disk.
const AGAIN: Duration = Duration::from_secs(10);

/// Begins the chores, each of which waits until this process delivers.
pub(crate) fn begin(base: &Arc<Base>, index: &Arc<IndexSlot>, owner: &watch::Receiver<bool>) {
    let inbox = base.inbox.clone();
    chore("compressing events", base, owner, move || packing::pack(inbox.clone()));
    let (inner, index) = (Arc::clone(base), Arc::clone(index));
    chore("indexing events", base, owner, move || indexing::index(Arc::clone(&inner), Arc::clone(&index)));
}

fn chore<F: Future<Output = ()> + Send + 'static>(
    what: &'static str,
    base: &Base,
    owner: &watch::Receiver<bool>,
    work: impl Fn() -> F + Clone + Send + Sync + 'static,
) {
    let (stop, owner) = (base.tasks.stop.clone(), owner.clone());
    base.tasks.keep_going(what, move || {
        let (stop, owner, work) = (stop.clone(), owner.clone(), work.clone());
        async move {
            let _stopped = stop.run_until_cancelled(while_owner(owner, work)).await;
        }
    });
}

/// Runs a chore whenever this process delivers. It is dropped between two of its awaits when another process takes over.
async fn while_owner<F: Future<Output = ()>>(mut owner: watch::Receiver<bool>, chore: impl Fn() -> F) {
    let mut gone = owner.clone();
    while owner.wait_for(|owner| *owner).await.is_ok() {
        tokio::select! {
            () = chore() => return,
            _ = gone.wait_for(|owner| !*owner) => {}
        }
    }
}

/// What a chore has to say about its steps. It says each hindrance once.
#[derive(Debug)]
struct Progress {
    what: &'static str,
    hindrance: Option<String>,
}

impl Progress {
    const fn of(what: &'static str) -> Self {
        Self { what, hindrance: None }
    }

    /// Takes the outcome of a step. After one that failed it waits, and returns `None`.
    async fn after<T, E: Display>(&mut self, step: Result<T, E>) -> Option<T> {
        match step {
            Ok(done) => {
                if self.hindrance.take().is_some() {
                    tracing::info!("{} goes on", self.what);
                }
                Some(done)
            }
            Err(error) => {
                let said = error.to_string();
                if self.hindrance.as_ref() != Some(&said) {
                    tracing::warn!(%error, "{} failed and is tried again", self.what);
                    self.hindrance = Some(said);
                }
                tokio::time::sleep(AGAIN).await;
                None
            }
        }
    }
}
