//! Names of tunnels of which nothing was heard.

use std::{
    collections::HashSet,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// How long the servers are not asked again for the same name.
const AGAIN: Duration = Duration::from_secs(1);

/// How many names are asked for meanwhile; others are answered from memory alone.
const MOST: usize = 1_000;

/// Names that were asked for just now: a tunnel that another relay opened this moment is found, and a flood of made-up
/// names costs the servers little.
#[derive(Debug, Default)]
pub(super) struct Unheard(Mutex<Asked>);

#[derive(Debug, Default)]
struct Asked {
    names: HashSet<String>,
    since: Option<Instant>,
}

impl Unheard {
    /// Whether the servers are to be asked for a name.
    pub(super) fn ask(&self, name: &str, now: Instant) -> bool {
        let mut asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if asked.since.is_none_or(|since| now.duration_since(since) >= AGAIN) {
            asked.names.clear();
            asked.since = Some(now);
        }
        asked.names.len() < MOST && asked.names.insert(name.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_names_is_not_passed_on() {
        let (unheard, now) = (Unheard::default(), Instant::now());
        assert!(unheard.ask("acme", now));
        assert!(!unheard.ask("acme", now));
        let passed = (0..3 * MOST).filter(|number| unheard.ask(&number.to_string(), now)).count();
        assert_eq!(passed, MOST - 1);
        assert!(unheard.ask("acme", now + AGAIN));
    }
}
