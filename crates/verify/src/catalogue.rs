//! What is known about providers: the embedded `catalogue.toml`, parsed once into types.

use std::{collections::HashMap, sync::LazyLock};

use serde::Deserialize;

use crate::{
    places::{FactPlaces, Plan},
    sample::SampleHead,
    scheme::{KeyMode, Scheme, TagMode},
};

/// One sender of webhooks: how it is recognised, how it signs, and where its events say what they are.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provider {
    /// The catalogue id, such as `github`.
    pub id: String,
    /// The name for people, such as `GitHub`.
    pub name: String,
    /// Header names that give it away; none for adopters.
    #[serde(default)]
    pub detect: Vec<String>,
    /// The provider whose wire format it uses, where it is an adopter.
    #[serde(skip)]
    pub family: Option<String>,
    /// How its secrets look and where people find them.
    pub secret_hint: Option<String>,
    /// How it signs, the default first.
    #[serde(rename = "scheme")]
    pub schemes: Vec<Scheme>,
    /// How it tries again.
    #[serde(default)]
    pub retry: RetryFacts,
    /// Set-up requests that it sends.
    #[serde(default)]
    pub(crate) handshake: Vec<Handshake>,
    pub(crate) facts: FactPlaces,
    pub(crate) sample: Option<SampleHead>,
    #[serde(skip)]
    pub(crate) plan: Plan,
}

/// How a provider tries again.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetryFacts {
    /// How long it waits for an answer, in seconds, where that is known.
    pub timeout_s: Option<u32>,
    /// When it tries again, in words.
    #[serde(default)]
    pub policy: String,
    /// Whether a repeat carries the same event id, where that is known.
    pub same_id: Option<bool>,
}

/// A set-up request and the answer that it expects.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Handshake {
    pub(crate) name: String,
    /// Where it says so: `/json/pointer` or `header:Name`.
    pub(crate) at: String,
    pub(crate) is: String,
    /// Where the text to answer with is.
    pub(crate) answer: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    provider: Vec<Provider>,
    adopter: Vec<Adopter>,
}

/// A sender that uses another one's wire format, with what it does otherwise.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Adopter {
    id: String,
    name: String,
    family: String,
    /// The start of its header names: `webhook` or `svix`.
    headers: String,
    scheme: Option<String>,
    key: Option<KeyMode>,
    tag: Option<TagMode>,
    checks_clock: Option<bool>,
    #[serde(rename = "type")]
    kind: Option<Vec<String>>,
    object: Option<Vec<String>>,
    time: Option<Vec<String>>,
    title: Option<Vec<String>>,
    secret_hint: Option<String>,
    sample_type: String,
}

impl Adopter {
    fn into_provider(self, family: &Provider) -> Provider {
        let mut own = family.clone();
        (own.id, own.name, own.detect) = (self.id, self.name, Vec::new());
        own.family = Some(self.family);
        own.secret_hint = self.secret_hint.or(own.secret_hint);
        for scheme in own.schemes.iter_mut().filter(|scheme| scheme.key != KeyMode::Public) {
            scheme.id = self.scheme.clone().unwrap_or_else(|| scheme.id.clone());
            scheme.key = self.key.unwrap_or(scheme.key);
            scheme.tag = self.tag.unwrap_or(scheme.tag);
        }
        for scheme in &mut own.schemes {
            scheme.headers.keep_prefix(&self.headers);
            scheme.clock = scheme.clock.take().filter(|_| self.checks_clock.unwrap_or(true));
        }
        let facts = &mut own.facts;
        replace(&mut facts.kind, self.kind);
        replace(&mut facts.object, self.object);
        replace(&mut facts.time, self.time);
        replace(&mut facts.title, self.title);
        if let Some(sample) = &mut own.sample {
            sample.kind = self.sample_type;
        }
        own
    }
}

fn replace(places: &mut Vec<String>, own: Option<Vec<String>>) {
    if let Some(own) = own {
        *places = own;
    }
}

struct Catalogue {
    providers: Vec<Provider>,
    /// Lower-case header name → index of the provider; the lowest index wins.
    detect: HashMap<Box<[u8]>, usize>,
}

static CATALOGUE: LazyLock<Catalogue> =
    LazyLock::new(|| read(include_str!("catalogue.toml")).expect("a test reads the embedded catalogue"));

fn read(text: &str) -> Result<Catalogue, String> {
    let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
    let mut providers = file.provider;
    for adopter in file.adopter {
        let family = providers.iter().find(|provider| provider.id == adopter.family);
        let family = family.ok_or_else(|| format!("{}: no family {}", adopter.id, adopter.family))?;
        providers.push(adopter.into_provider(family));
    }
    let mut detect = HashMap::new();
    for (index, provider) in providers.iter_mut().enumerate() {
        provider.plan = Plan::new(&provider.facts, &provider.handshake)
            .map_err(|error| format!("{}: {error}", provider.id))?;
        for name in &provider.detect {
            detect.entry(name.to_ascii_lowercase().into_bytes().into()).or_insert(index);
        }
    }
    Ok(Catalogue { providers, detect })
}

/// The provider or adopter with that catalogue id.
pub fn provider(id: &str) -> Option<&'static Provider> {
    CATALOGUE.providers.iter().find(|provider| provider.id == id)
}

/// Every provider, then every adopter.
pub fn providers() -> impl Iterator<Item = &'static Provider> {
    CATALOGUE.providers.iter()
}

/// The provider that a header of this lower-case name gives away, with its rank (the lowest wins).
pub(crate) fn given_away_by(name: &[u8]) -> Option<usize> {
    CATALOGUE.detect.get(name).copied()
}

/// The provider of that rank.
pub(crate) fn ranked(rank: usize) -> Option<&'static Provider> {
    CATALOGUE.providers.get(rank)
}

impl Provider {
    /// The scheme with that id; the provider's own id stands for its default.
    pub fn scheme(&self, id: &str) -> Option<&Scheme> {
        let named = self.schemes.iter().find(|scheme| scheme.id == id);
        named.or_else(|| self.schemes.first().filter(|_| id == self.id))
    }

    /// Whether any of its schemes can be verified.
    pub fn is_supported(&self) -> bool {
        self.schemes.iter().any(Scheme::is_supported)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_catalogue_reads() {
        let catalogue = read(include_str!("catalogue.toml")).unwrap();
        let mut ids: Vec<_> = catalogue.providers.iter().map(|provider| provider.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), catalogue.providers.len(), "an id is there twice");
        for provider in &catalogue.providers {
            assert!(!provider.schemes.is_empty(), "{} has no scheme", provider.id);
            for scheme in &provider.schemes {
                assert!(
                    !scheme.headers.signature.is_empty(),
                    "{}: {} reads no header",
                    provider.id,
                    scheme.id
                );
            }
        }
    }

    #[test]
    fn an_adopter_is_its_family_with_differences() {
        let polar = provider("polar").unwrap();
        assert_eq!(polar.family.as_deref(), Some("standardwebhooks"));
        assert_eq!(polar.scheme("standard-webhooks-raw-secret").unwrap().key, KeyMode::Utf8);
        assert_eq!(provider("clerk").unwrap().schemes[0].headers.signature, ["svix-signature"]);
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
