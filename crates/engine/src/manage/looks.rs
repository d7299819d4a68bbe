//! Looks whether somebody listens at targets, when people look at them: a target may have died long after it answered.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures_util::future::join_all;
use hookmitt_event::{Silence, Target};
use hookmitt_forward::{TargetUrl, Unanswered, probe};
use tokio::time::Instant;

use crate::{Change, EngineError, delivery::Bells, host_name::is_local_name, settings::Settings};

/// How long what was seen at a place holds.
const HOLDS: Duration = Duration::from_secs(5);

/// How many places are looked at side by side.
const AT_ONCE: usize = 16;

/// A host and a port.
type Place = (String, u16);

/// Looks at targets, and knows when each place was looked at last.
#[derive(Debug)]
pub(super) struct Looks {
    settings: Arc<Settings>,
    bells: Arc<Bells>,
    last: Last,
}

impl Looks {
    pub(super) fn new(settings: Arc<Settings>, bells: Arc<Bells>) -> Self {
        Self { settings, bells, last: Last::default() }
    }

    /// See [`Targets::look`](super::Targets::look).
    pub(super) async fn look(&self, targets: &[Arc<Target>]) -> Result<(), EngineError> {
        let mut places: HashMap<Place, (TargetUrl, Vec<&Target>)> = HashMap::new();
        for target in targets {
            let Ok(url) = TargetUrl::parse(&target.url) else { continue };
            if is_near(&url.host()) {
                let place = (url.host(), url.port());
                places.entry(place).or_insert_with(|| (url, Vec::new())).1.push(target);
            }
        }
        places.retain(|place, _| self.last.is_due(place));
        let places: Vec<_> = places.into_values().collect();
        let mut found = Vec::new();
        for some in places.chunks(AT_ONCE) {
            let seen = join_all(some.iter().map(|(url, _)| self.find(url))).await;
            for ((_, there), what) in some.iter().zip(seen) {
                found.extend(
                    what.into_iter().flat_map(|what| there.iter().map(move |one| (*one, what.clone()))),
                );
            }
        }
        self.keep(found).await
    }

    /// Returns what is found at a place; `None` if it is our own or this machine can't look.
    async fn find(&self, url: &TargetUrl) -> Option<Result<(), Silence>> {
        if self.settings.own.hold(url).await {
            return None;
        }
        match probe(url).await {
            Ok(()) => Some(Ok(())),
            Err(Unanswered::Silent(silence)) => Some(Err(silence)),
            Err(Unanswered::Hindered(_)) => None,
        }
    }

    async fn keep(&self, found: Vec<(&Target, Result<(), Silence>)>) -> Result<(), EngineError> {
        for (target, _) in found.iter().filter(|(target, what)| what.is_ok() && target.down_since.is_some()) {
            self.bells.urge(target.id); // its courier asks there less and less often
        }
        let base = &self.settings.base;
        let found: Vec<_> = found.into_iter().map(|(target, what)| (target.id, what)).collect();
        if !found.is_empty() && base.inbox.found_at(found, base.now()).await? {
            base.announce(Change::Config);
        }
        Ok(())
    }
}

/// When each place was looked at last.
#[derive(Debug, Default)]
struct Last(Mutex<HashMap<Place, Instant>>);

impl Last {
    /// Returns whether a place is to be looked at now, and takes it that it will be.
    fn is_due(&self, place: &Place) -> bool {
        let mut looked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        looked.retain(|_, at| at.elapsed() < HOLDS);
        let is_due = !looked.contains_key(place);
        if is_due {
            looked.insert(place.clone(), Instant::now());
        }
        is_due
    }
}

/// Whether a host is on this machine or in its own network, as far as its name or address shows. No name is looked up.
fn is_near(host: &str) -> bool {
    let address = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    match address.parse::<IpAddr>().map(|address| address.to_canonical()) {
        Ok(IpAddr::V4(address)) => address.is_loopback() || address.is_private() || address.is_link_local(),
        Ok(IpAddr::V6(address)) => {
            address.is_loopback() || address.is_unique_local() || address.is_unicast_link_local()
        }
        Err(_) => is_local_name(host),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_near_is_looked_at() {
        for near in
            ["localhost", "127.0.0.1", "[::1]", "192.168.1.5", "10.0.0.1", "[fd00::1]", "[::ffff:127.0.0.1]"]
        {
            assert!(is_near(near), "{near}");
        }
        for near in ["app", "host.docker.internal", "shop.test", "app.localhost"] {
            assert!(is_near(near), "{near}");
        }
        for far in ["staging.example.com", "8.8.8.8", "[2606:4700::1111]", "localhost.example.com"] {
            assert!(!is_near(far), "{far}");
        }
    }

    #[test]
    fn a_place_is_looked_at_once_in_a_while() {
        let (last, place) = (Last::default(), ("localhost".to_owned(), 3000));
        assert!(last.is_due(&place));
        assert!(!last.is_due(&place));
        assert!(last.is_due(&("localhost".to_owned(), 3001)));
    }
}
