//! Remembers which names were called that are no sources of their tunnels, so that devices can say so.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
};

use hookmitt_event::Slug;
use hookmitt_wire::MAX_UNSERVED;

/// For how many tunnels names are remembered. Beyond that all are forgotten; the counts in the store stay.
const MOST_TUNNELS: usize = 4_096;

/// The names of unknown sources that were called lately, for each tunnel. They are kept in memory alone.
#[derive(Debug, Default)]
pub(crate) struct Unserved(Mutex<HashMap<String, Names>>);

#[derive(Debug, Default)]
struct Names {
    newest_first: VecDeque<String>,
    /// How often the list has changed.
    version: u64,
}

impl Unserved {
    fn all(&self) -> MutexGuard<'_, HashMap<String, Names>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that a name was called. What can't be a source's name is left out: nobody could add such a source.
    pub(crate) fn called(&self, tunnel: &str, name: &str) {
        if name.parse::<Slug>().is_err() {
            return;
        }
        let mut all = self.all();
        if all.len() >= MOST_TUNNELS && !all.contains_key(tunnel) {
            all.clear();
        }
        let names = all.entry(tunnel.to_owned()).or_default();
        if names.newest_first.front().is_some_and(|newest| newest == name) {
            return;
        }
        names.newest_first.retain(|known| known != name);
        names.newest_first.push_front(name.to_owned());
        names.newest_first.truncate(MAX_UNSERVED);
        names.version += 1;
    }

    /// Returns the names that were called at this tunnel, newest first, with the version of the list; `None` if the list
    /// is the one of version `known`.
    pub(crate) fn since(&self, tunnel: &str, known: u64) -> Option<(u64, Vec<String>)> {
        let all = self.all();
        let names = all.get(tunnel).filter(|names| names.version != known)?;
        Some((names.version, names.newest_first.iter().cloned().collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_names_of_a_tunnel_are_told_once() {
        let unserved = Unserved::default();
        assert_eq!(unserved.since("acme", 0), None);
        for name in ["a", "b", "a", "a", "../etc", "A B"] {
            unserved.called("acme", name);
        }
        let (version, names) = unserved.since("acme", 0).unwrap();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(unserved.since("acme", version), None, "nothing new");
        assert_eq!(unserved.since("other", 0), None, "each tunnel hears of its own names");
        for number in 0..100 {
            unserved.called("acme", &format!("n{number}"));
        }
        assert_eq!(unserved.since("acme", version).unwrap().1.len(), MAX_UNSERVED);
    }
}
