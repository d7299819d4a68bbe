//! The provider catalogue: the embedded files of `providers/`, parsed once.

use std::{collections::HashMap, sync::LazyLock};

use crate::{fact_plan::FactPlan, provider::Provider};

struct Catalogue {
    /// In order of recognition priority.
    providers: Vec<Provider>,
    /// Maps a lower-case header name to an index in `providers`. If several providers send the header, the lowest index
    /// is kept.
    detect: HashMap<Box<[u8]>, usize>,
}

include!(concat!(env!("OUT_DIR"), "/catalogue_files.rs"));

static CATALOGUE: LazyLock<Catalogue> =
    LazyLock::new(|| read(PROVIDER_FILES).expect("a test reads the embedded catalogue"));

fn read(files: &[(&str, &str)]) -> Result<Catalogue, String> {
    let mut providers = Vec::new();
    for (id, text) in files {
        let mut provider: Provider = toml::from_str(text).map_err(|error| format!("{id}: {error}"))?;
        (*id).clone_into(&mut provider.id);
        providers.push(provider);
    }
    let families = providers.clone();
    for provider in &mut providers {
        let Some(family) = &provider.family else { continue };
        let family = families.iter().find(|known| known.id == *family);
        provider.inherit(family.ok_or_else(|| format!("{}: unknown family", provider.id))?);
    }
    providers.sort_by_key(|provider| (provider.shadows.is_empty(), provider.family.is_some()));
    let mut detect = HashMap::new();
    for (index, provider) in providers.iter_mut().enumerate() {
        provider.plan = FactPlan::new(&provider.facts, &provider.subject)
            .map_err(|error| format!("{}: {error}", provider.id))?;
        for name in provider.detect.iter().filter(|_| provider.family.is_none()) {
            detect.entry(name.to_ascii_lowercase().into_bytes().into()).or_insert(index);
        }
    }
    Ok(Catalogue { providers, detect })
}

/// Returns the provider or adopter with that catalogue id.
pub fn provider(id: &str) -> Option<&'static Provider> {
    CATALOGUE.providers.iter().find(|provider| provider.id == id)
}

/// Iterates over every provider, then every adopter.
pub fn providers() -> impl Iterator<Item = &'static Provider> {
    CATALOGUE.providers.iter()
}

/// Returns the rank of the provider that is recognised by a header of this lower-case name. If several providers are
/// recognised, the lowest rank wins.
pub(crate) fn given_away_by(name: &[u8]) -> Option<usize> {
    CATALOGUE.detect.get(name).copied()
}

/// Returns the provider of that rank.
pub(crate) fn ranked(rank: usize) -> Option<&'static Provider> {
    CATALOGUE.providers.get(rank)
}

/// Returns a provider's sample body from the file of that name.
pub(crate) fn sample_file(provider: &str, name: &str) -> Option<&'static str> {
    let path = format!("{provider}/{name}");
    SAMPLE_FILES.iter().find(|(known, _)| *known == path).map(|(_, text)| *text)
}

/// Returns every host where a provider of the catalogue publishes keys, in the form that [`allowed`](crate::allowed)
/// takes.
pub fn key_hosts() -> Vec<String> {
    let schemes = providers().flat_map(|provider| &provider.schemes);
    let mut hosts: Vec<_> = schemes.flat_map(|scheme| scheme.key_hosts.iter().cloned()).collect();
    hosts.sort();
    hosts.dedup();
    hosts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{algorithm::Algorithm, scheme::KeyMode};

    #[test]
    fn the_embedded_catalogue_reads() {
        let catalogue = read(PROVIDER_FILES).unwrap();
        let mut ids: Vec<_> = catalogue.providers.iter().map(|provider| provider.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), catalogue.providers.len(), "an id is there twice");
        for provider in &catalogue.providers {
            assert!(!provider.schemes.is_empty(), "{} has no scheme", provider.id);
            let first = &provider.schemes[0];
            let reads = first.algorithm == Algorithm::None || !first.signature.is_empty();
            assert!(reads, "{}: {} reads no place", provider.id, first.id);
            assert!(!first.older, "{}: an older scheme can't be the default", provider.id);
            let misplaced = provider.usual_schemes().len()
                + provider.older_schemes().iter().filter(|it| it.older).count();
            assert_eq!(misplaced, provider.schemes.len(), "{}: its older schemes come last", provider.id);
            let asks = provider.params.iter().any(|param| param.name == "scheme");
            // PayPal's SHA-1 scheme is obsolete: only `verify --scheme` can choose it.
            let offered = provider.older_schemes().iter().any(|scheme| !scheme.takes_public_key());
            assert_eq!(asks, offered, "{}: who may choose needs the setting", provider.id);
            for event in provider.sample.iter().flat_map(|sample| &sample.events) {
                let there = event.body.is_empty() || sample_file(&provider.id, &event.body).is_some();
                assert!(there, "{}: {}", provider.id, event.body);
            }
        }
    }

    #[test]
    fn an_adopter_is_its_family_with_differences() {
        let polar = provider("polar").unwrap();
        assert_eq!(polar.family.as_deref(), Some("standardwebhooks"));
        assert_eq!(polar.scheme("standard-webhooks-raw-secret").unwrap().key, KeyMode::Utf8);
        assert_eq!(provider("clerk").unwrap().schemes[0].signature[0].header(), Some("svix-signature"));
        assert!(provider("replicate").unwrap().schemes[0].clock.is_none());
    }

    #[test]
    fn a_provider_id_names_its_default_scheme() {
        let github = provider("github").unwrap();
        assert_eq!(github.scheme("github").unwrap().id, "github-hmac-sha256");
        assert_eq!(github.scheme("github-hmac-sha1-legacy").unwrap().id, "github-hmac-sha1-legacy");
        assert!(github.scheme("nothing").is_none());
    }
}
