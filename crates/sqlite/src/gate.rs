//! Keeps those who read at length from the file while the writer's log is to start over.

use std::{
    cell::RefCell,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// How long the writer leaves the gate shut before it no longer waits for those who are inside. They usually leave much
/// sooner, even on a busy machine.
const SHUT_FOR: Duration = Duration::from_millis(500);

/// A gate between a writer and those who read one snapshot after the other, for example a search through everything.
///
/// The log can only start over in a moment in which nobody reads from it. Such readers hardly leave one, and they may
/// have to wait for a core while they hold a snapshot; the writer, and every capture with it, would wait for them. Clones
/// are the same gate.
#[derive(Clone, Debug, Default)]
pub struct Gate(Arc<(Mutex<State>, Condvar)>);

#[derive(Debug, Default)]
struct State {
    /// Since when the gate is shut; `None` while it is open.
    shut: Option<Instant>,
    /// How many read.
    inside: usize,
}

impl Gate {
    /// Shuts the gate. Returns whether nobody is inside any more, or whoever is has been waited for long enough.
    pub(crate) fn is_cleared(&self) -> bool {
        let mut state = self.state();
        let shut = *state.shut.get_or_insert_with(Instant::now);
        state.inside == 0 || shut.elapsed() >= SHUT_FOR
    }

    /// Opens the gate.
    pub(crate) fn open(&self) {
        self.state().shut = None;
        self.0.1.notify_all();
    }

    /// Goes in, whether the gate is open or not: for those who don't stay for long, and don't come back at once.
    pub(crate) fn pass(&self) -> Inside<'_> {
        self.state().inside += 1;
        Inside(self)
    }

    /// Waits until the gate is open, and goes in; this thread hears from then on when it [is called
    /// out](is_called_out). If the writer forgets the gate, it is opened.
    pub(crate) fn wait(&self) -> Inside<'_> {
        let waited = self.0.1.wait_timeout_while(self.state(), SHUT_FOR, |state| state.shut.is_some());
        waited.unwrap_or_else(PoisonError::into_inner).0.shut = None;
        HEARS.replace(Some(self.clone()));
        self.pass()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Being inside, until it is dropped.
pub(crate) struct Inside<'a>(&'a Gate);

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        HEARS.take();
        self.0.state().inside -= 1;
    }
}

thread_local! {
    /// The gate that this thread waited at, while it is inside.
    static HEARS: RefCell<Option<Gate>> = const { RefCell::new(None) };
}

/// Whether this thread reads at length, and the writer waits for it. It should leave with what it has: on a busy machine
/// it would keep its snapshot for long, because every other thread goes first.
pub fn is_called_out() -> bool {
    HEARS.with_borrow(|gate| gate.as_ref().is_some_and(|gate| gate.state().shut.is_some()))
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn nobody_goes_in_until_the_log_has_started_over() {
        let gate = Gate::default();
        let inside = gate.wait();
        assert!(!is_called_out());
        assert!(!gate.is_cleared());
        assert!(is_called_out());
        let next = thread::spawn({
            let gate = gate.clone();
            move || drop(gate.wait())
        });
        drop(inside);
        assert!(!is_called_out());
        assert!(gate.is_cleared(), "the next one waits outside");
        gate.open();
        next.join().unwrap();
        assert!(gate.state().shut.is_none());
    }

    #[test]
    fn a_gate_that_is_forgotten_opens() {
        let gate = Gate::default();
        let inside = gate.wait();
        assert!(!gate.is_cleared());
        let second = gate.wait();
        assert!(!gate.is_cleared(), "it is shut anew");
        drop((inside, second));
        assert!(gate.is_cleared());
    }
}
