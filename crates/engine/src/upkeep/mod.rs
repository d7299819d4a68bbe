//! Upkeep of the inbox: chores of the process that delivers. Each is a loop of small steps, every one of which is complete
//! in itself, so that whoever delivers next can go on.

mod counting;
mod dictionaries;
mod indexing;
#[cfg(test)]
mod indexing_tests;
mod packing;
mod progress;
mod pruning;
#[cfg(test)]
mod ratio_tests;

use std::sync::Arc;

use tokio::sync::watch;

use crate::{base::Base, search::IndexSlot};

/// Begins the chores, each of which waits until this process delivers.
pub(crate) fn begin(base: &Arc<Base>, index: &Arc<IndexSlot>, owner: &watch::Receiver<bool>) {
    let inbox = base.inbox.clone();
    chore("counting earlier events", base, owner, {
        let inbox = inbox.clone();
        move || counting::count(inbox.clone())
    });
    chore("compressing events", base, owner, move || packing::pack(inbox.clone()));
    let kept = Arc::clone(base);
    chore("pruning events", base, owner, move || pruning::prune(Arc::clone(&kept)));
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

/// Runs a chore whenever this process delivers. The chore is dropped, at an await, when another process takes over.
async fn while_owner<F: Future<Output = ()>>(mut owner: watch::Receiver<bool>, chore: impl Fn() -> F) {
    let mut gone = owner.clone();
    while owner.wait_for(|owner| *owner).await.is_ok() {
        tokio::select! {
            () = chore() => return,
            taken_over = gone.wait_for(|owner| !*owner) => if taken_over.is_err() { return },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn a_chore_runs_only_while_this_process_delivers() {
        let (delivers, owner) = watch::channel(false);
        let (begun, running) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let chore = || async {
            struct Runs<'a>(&'a AtomicUsize);
            impl Drop for Runs<'_> {
                fn drop(&mut self) {
                    self.0.fetch_sub(1, Ordering::SeqCst);
                }
            }
            begun.fetch_add(1, Ordering::SeqCst);
            running.fetch_add(1, Ordering::SeqCst);
            let _runs = Runs(&running);
            std::future::pending().await
        };
        let counts = || (begun.load(Ordering::SeqCst), running.load(Ordering::SeqCst));
        let story = async {
            for (owns, expected) in [(false, (0, 0)), (true, (1, 1)), (false, (1, 0)), (true, (2, 1))] {
                delivers.send_replace(owns);
                for _ in 0..10 {
                    tokio::task::yield_now().await;
                }
                assert_eq!(counts(), expected, "{owns}");
            }
            drop(delivers);
        };
        tokio::join!(while_owner(owner, chore), story);
        assert_eq!(counts(), (2, 0), "it ends with the engine");
    }
}
