//! What a relay is told of the sources, so that it can answer while no device is connected.

use std::sync::Arc;

use bytes::Bytes;
use hookmitt_event::{OnInvalid, Respond, Source};
use hookmitt_verify::provider;
use hookmitt_wire::{Hold, SourceOffer};

use super::addressee::UNASSIGNED;
use crate::settings::Config;

/// Returns the chosen sources that exist, sorted by name, or every source if none was chosen. [`UNASSIGNED`] is never
/// offered, so that nobody can call it.
pub(super) fn offers(config: &Config, chosen: &[String]) -> Arc<Vec<SourceOffer>> {
    let is_served = |slug: &str| chosen.is_empty() || chosen.iter().any(|one| one == slug);
    let sources = config.sources.values().map(|known| &known.source);
    let sources =
        sources.filter(|source| source.slug.as_str() != UNASSIGNED && is_served(source.slug.as_str()));
    let mut offers: Vec<_> = sources.map(offer).collect();
    offers.sort_by(|one, other| one.slug.cmp(&other.slug));
    Arc::new(offers)
}

fn offer(source: &Source) -> SourceOffer {
    let answer = &source.answer;
    let line = |name: &str, value: &[u8]| (name.to_owned(), Bytes::copy_from_slice(value));
    SourceOffer {
        slug: source.slug.to_string(),
        provider: source.provider.clone(),
        hold: hold(source),
        status: answer.status,
        headers: answer.headers.iter().map(|header| line(header.name, header.value)).collect(),
        body: answer.body.clone(),
        delay_ms: answer.delay_ms,
    }
}

/// Returns whether every sender must wait for the app's answer, because only the app knows it: that a signature does
/// not hold, what the local server answers, or that the source is told to fail.
fn hold(source: &Source) -> Hold {
    let insists =
        source.provider.as_deref().and_then(provider).is_some_and(|one| one.invalid_status.is_some());
    let always = insists
        || source.on_invalid == OnInvalid::Reject
        || source.answer.respond == Some(Respond::App)
        || source.answer.fail_next > 0;
    if always { Hold::Always } else { Hold::Handshakes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::ConfiguredSource;
    use hookmitt_event::Answer;

    fn source(slug: &str, change: impl FnOnce(&mut Source)) -> Arc<ConfiguredSource> {
        let mut source = Source {
            row: 1,
            slug: slug.parse().unwrap(),
            provider: None,
            provider_from: None,
            on_invalid: OnInvalid::Record,
            on_duplicate: hookmitt_event::OnDuplicate::Skip,
            public_url: None,
            allowed_hosts: Default::default(),
            tolerance_s: None,
            answer: Answer::default(),
            generic: None,
            params: std::collections::BTreeMap::new(),
            confirm: false,
            sync: hookmitt_event::SyncSettings::default(),
            auto_created: false,
        };
        change(&mut source);
        Arc::new(ConfiguredSource::new(source, Vec::new(), false))
    }

    fn held(change: impl FnOnce(&mut Source)) -> Hold {
        hold(&source("a", change).source)
    }

    #[test]
    fn senders_are_held_where_only_the_app_knows_the_answer() {
        assert_eq!(held(|_| ()), Hold::Handshakes);
        assert_eq!(held(|source| source.provider = Some("github".to_owned())), Hold::Handshakes);
        assert_eq!(held(|source| source.provider = Some("discord".to_owned())), Hold::Always);
        assert_eq!(held(|source| source.provider = Some("xero".to_owned())), Hold::Always);
        assert_eq!(held(|source| source.on_invalid = OnInvalid::Reject), Hold::Always);
        assert_eq!(held(|source| source.answer.respond = Some(Respond::App)), Hold::Always);
        assert_eq!(held(|source| source.answer.respond = Some(Respond::Stored)), Hold::Handshakes);
        assert_eq!(held(|source| source.answer.fail_next = 1), Hold::Always);
    }

    #[test]
    fn threat_12_a_relay_is_told_of_the_chosen_sources_alone_or_of_all_but_the_one_for_what_belongs_to_none()
    {
        let mut config = Config::default();
        for slug in ["b", UNASSIGNED, "a"] {
            config.sources.insert(slug.to_owned(), source(slug, |_| ()));
        }
        let slugs = |chosen: &[&str]| {
            let chosen: Vec<_> = chosen.iter().map(|slug| (*slug).to_owned()).collect();
            offers(&config, &chosen).iter().map(|offer| offer.slug.clone()).collect::<Vec<_>>()
        };
        assert_eq!(slugs(&[]), ["a", "b"]);
        assert_eq!(slugs(&["b"]), ["b"]);
        assert_eq!(slugs(&["b", UNASSIGNED]), ["b"]);
        assert_eq!(slugs(&["gone"]), [""; 0], "a chosen source that was removed doesn't make it all");
    }
}
