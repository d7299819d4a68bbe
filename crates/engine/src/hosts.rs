//! Host names that a source allows beside those of this machine, and what was withheld for want of them (Threat 1).

use std::collections::{BTreeMap, BTreeSet};

use hookmitt_event::Slug;
use serde::Serialize;

use crate::{Edit, Engine, EngineError, Replayed};

/// A name by which events were called that were withheld for that.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct WithheldHost {
    /// The name.
    pub host: String,
    /// How many events wait to be sent.
    pub events: u64,
    /// Whether the source allows it by now.
    pub allowed: bool,
    /// Whether it is a name that can be allowed.
    pub can_be_allowed: bool,
}

/// So many names may be allowed for a source.
const MOST_HOSTS: usize = 64;

/// Allows names and takes others back.
pub(crate) fn allow_hosts(
    hosts: &mut BTreeSet<String>,
    change: BTreeMap<String, bool>,
) -> Result<(), EngineError> {
    for (text, allowed) in change {
        let name = allowed_name(&text).ok_or_else(|| {
            let words =
                "give the name of one host alone, such as abc.ngrok.app: no URL, no address, no wildcard";
            EngineError::BadInput(format!("{text:?} can't be allowed: {words}"))
        })?;
        if allowed {
            hosts.insert(name)
        } else {
            hosts.remove(&name)
        };
    }
    match hosts.len() {
        0..=MOST_HOSTS => Ok(()),
        _ => Err(EngineError::BadInput(format!("a source can allow {MOST_HOSTS} hosts at most"))),
    }
}

/// A name as a person gives it to be allowed; with a port, with capitals, in any script.
fn allowed_name(text: &str) -> Option<String> {
    let host = text.trim().rsplit_once(':').map_or(text.trim(), |(host, port)| {
        if port.bytes().all(|byte| byte.is_ascii_digit()) { host } else { text.trim() }
    });
    match url::Host::parse(host).ok()? {
        url::Host::Domain(name) => {
            let name = name.strip_suffix('.').unwrap_or(&name).to_owned();
            hookmitt_event::is_host_name(&name).then_some(name)
        }
        _ => None,
    }
}

impl Engine {
    /// The names by which events of a source were called that were withheld for that and wait to be sent, the one with
    /// most events first.
    ///
    /// # Errors
    /// An unknown source.
    pub async fn withheld_hosts(&self, slug: &Slug) -> Result<Vec<WithheldHost>, EngineError> {
        let known = self.known(slug)?;
        let found = self.inbox.withheld_hosts(known.source.row).await?;
        let view = |(host, events): (String, u64)| WithheldHost {
            allowed: self.is_our_name(&host, Some(&known)),
            can_be_allowed: hookmitt_event::is_host_name(&host),
            host,
            events,
        };
        Ok(found.into_iter().map(view).collect())
    }

    /// Sends what was withheld because it was called by that name, oldest first, as far as the name is allowed by now.
    ///
    /// # Errors
    /// An unknown source, a name that it doesn't allow, no target.
    pub async fn send_withheld(&self, source: &Slug, host: &str) -> Result<Vec<Replayed>, EngineError> {
        let known = self.known(source)?;
        let host =
            allowed_name(host).filter(|host| self.is_our_name(host, Some(&known))).ok_or_else(|| {
                let allow = format!("`hookmitt source edit {source} --allow-host NAME`");
                EngineError::BadInput(format!("{source} doesn't allow the host {host:?}: {allow} does"))
            })?;
        if self.config().targets_of(source.as_str()).is_empty() {
            return Err(EngineError::NoTargets(format!("the source {source}")));
        }
        let (mut all, mut after) = (Vec::new(), 0);
        loop {
            let found = self.inbox.withheld_events(known.source.row, host.clone(), after, 100).await?;
            let Some((last, _)) = found.last() else { return Ok(all) };
            after = *last;
            for (_, id) in found {
                let event = self.inbox.event(id).await?;
                if known.withholds(event.verdict, event.via).is_some() {
                    continue; // the source rejects it, by whatever name it was called
                }
                // One that came before there was a target has no delivery that could be taken up.
                let again = match self.inbox.deliveries(id).await?.is_empty() {
                    true => self.replay(id, Edit::default()).await.map(|(replayed, _)| replayed),
                    false => self.retry(id).await,
                };
                match again {
                    Ok(again) => all.extend(again),
                    Err(EngineError::NoTargets(_)) => {} // the others can go on
                    Err(error) => return Err(error),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_host_name_can_be_allowed() {
        for (text, name) in [
            ("abc.ngrok-free.app", "abc.ngrok-free.app"),
            (" ABC.example.:4400 ", "abc.example"),
            ("b\u{fc}cher.example", "xn--bcher-kva.example"),
        ] {
            assert_eq!(allowed_name(text).as_deref(), Some(name), "{text}");
        }
        for text in [
            "",
            ".",
            "*.example",
            "https://a.example",
            "a.example/x",
            "a b",
            "10.0.0.1",
            "[::1]",
            "a;b.example",
            "-a.example",
            "a..example",
        ] {
            assert_eq!(allowed_name(text), None, "{text}");
        }
    }
}
