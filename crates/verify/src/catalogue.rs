//! What is known about providers: the embedded files of `providers/`, parsed once into types.

use std::{collections::HashMap, sync::LazyLock};

use serde::{Deserialize, Serialize};

use crate::{
    challenge::Challenge,
    key_source::needed_settings,
    place::{Condition, Place},
    places::{FactPlaces, Plan},
    sample::SampleHead,
    scheme::{Algorithm, Scheme, Special},
    secret::Secret,
};

/// One sender of webhooks: how it is recognised, how it signs, and where its events say what they are.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Provider {
    /// The catalogue id, such as `github`: the name of its file.
    #[serde(skip)]
    pub id: String,
    /// The name for people, such as `GitHub`.
    pub name: String,
    /// The provider whose wire format it uses, where it is an adopter.
    pub family: Option<String>,
    /// How sure its signature schemes are.
    pub confidence: Confidence,
    /// Where the facts were read.
    pub evidence: Vec<String>,
    /// Which of the facts could not be confirmed.
    pub unconfirmed: Vec<String>,
    /// How its secrets look and where people find them.
    pub secret_hint: Option<String>,
    /// What trips people up.
    pub traps: Vec<String>,
    /// Providers whose headers it sends too.
    pub(crate) shadows: Vec<String>,
    /// Header names that give it away.
    pub detect: Vec<String>,
    /// What gives it away where no header does: all of one list.
    pub(crate) recognise: Vec<Vec<Condition>>,
    /// The status that it insists on where a signature does not hold.
    pub invalid_status: Option<u16>,
    /// Configuration that is not in its requests.
    pub params: Vec<Param>,
    /// How it tries again.
    pub retry: RetryFacts,
    pub(crate) facts: FactPlaces,
    /// How it signs, the default first.
    #[serde(rename = "scheme")]
    pub schemes: Vec<Scheme>,
    /// Set-up requests that it sends.
    pub(crate) handshake: Vec<Handshake>,
    pub(crate) sample: Option<SampleHead>,
    #[serde(skip)]
    pub(crate) plan: Plan,
}

/// How sure we are of a provider's signature schemes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// Confirmed by the provider's own code or documents.
    Confirmed,
    /// Independent third parties agree.
    #[default]
    Corroborated,
}

/// A setting that a provider's signatures or set-up requests depend on.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Param {
    /// Its name, such as `webhook_id`.
    pub name: String,
    /// What it is called for people.
    pub label: String,
    /// Where it is found.
    #[serde(default)]
    pub hint: String,
    /// Whether nothing can be judged without it.
    #[serde(default)]
    pub required: bool,
    /// How many capital letters and digits it always has, where that is known.
    #[serde(default)]
    pub(crate) length: Option<usize>,
}

impl Param {
    /// Whether a text can't be one.
    pub(crate) fn is_misshapen(&self, text: &str) -> bool {
        let fits = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
        self.length.is_some_and(|length| text.len() != length || !text.bytes().all(fits))
    }
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
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Handshake {
    pub(crate) name: String,
    /// All of these say that it is one.
    pub(crate) when: Vec<Condition>,
    /// It is answered only where its signature isn't invalid.
    pub(crate) signed: bool,
    /// Where a secret stands that it delivers.
    pub(crate) secret: Option<Place>,
    /// Where a URL stands that confirms it.
    pub(crate) confirm: Option<Place>,
    /// Two places that must say the same, where the second is configured.
    pub(crate) check: Option<[Place; 2]>,
    pub(crate) answer: Option<HandshakeAnswer>,
    /// What a text must look like that the answer signs.
    pub(crate) challenge: Challenge,
}

/// What a set-up request is answered.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct HandshakeAnswer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    /// A text with places.
    pub(crate) body: String,
}

struct Catalogue {
    /// In order of recognition.
    providers: Vec<Provider>,
    /// Lower-case header name → index of the provider; the lowest index wins.
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
        provider.inherit(family.ok_or_else(|| format!("{}: no such family", provider.id))?);
    }
    providers.sort_by_key(|provider| (provider.shadows.is_empty(), provider.family.is_some()));
    let mut detect = HashMap::new();
    for (index, provider) in providers.iter_mut().enumerate() {
        provider.plan = Plan::new(&provider.facts).map_err(|error| format!("{}: {error}", provider.id))?;
        for name in provider.detect.iter().filter(|_| provider.family.is_none()) {
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

/// The sample body in that file of a provider.
pub(crate) fn sample_file(provider: &str, name: &str) -> Option<&'static str> {
    let path = format!("{provider}/{name}");
    SAMPLE_FILES.iter().find(|(known, _)| *known == path).map(|(_, text)| *text)
}

/// Every host that a provider of the catalogue publishes keys on, as [`allowed`](crate::allowed) takes them.
pub fn key_hosts() -> Vec<String> {
    let schemes = providers().flat_map(|provider| &provider.schemes);
    let mut hosts: Vec<_> = schemes.flat_map(|scheme| scheme.key_hosts.iter().cloned()).collect();
    hosts.sort();
    hosts.dedup();
    hosts
}

impl Provider {
    /// Takes from its family what it doesn't say itself.
    fn inherit(&mut self, family: &Self) {
        if self.schemes.is_empty() {
            self.schemes.clone_from(&family.schemes);
        }
        let (own, other) = (&mut self.facts, &family.facts);
        for (own, other) in [
            (&mut own.id, &other.id),
            (&mut own.kind, &other.kind),
            (&mut own.time, &other.time),
            (&mut own.object, &other.object),
            (&mut own.title, &other.title),
        ] {
            if own.is_empty() {
                own.clone_from(other);
            }
        }
        if self.retry.policy.is_empty() && self.retry.timeout_s.is_none() {
            self.retry.clone_from(&family.retry);
        }
        self.secret_hint = self.secret_hint.take().or_else(|| family.secret_hint.clone());
        self.sample = self.sample.take().or_else(|| family.sample.clone());
    }

    /// The schemes that count unless a person chose another one.
    pub(crate) fn usual_schemes(&self) -> &[Scheme] {
        self.by_age().0
    }

    /// The schemes that count only where a person chose them.
    pub(crate) fn older_schemes(&self) -> &[Scheme] {
        self.by_age().1
    }

    /// A test sees to it that the older ones come last.
    fn by_age(&self) -> (&[Scheme], &[Scheme]) {
        let first_older = self.schemes.iter().position(|scheme| scheme.older);
        self.schemes.split_at(first_older.unwrap_or(self.schemes.len()))
    }

    /// The scheme with that id; the provider's own id stands for its default.
    pub fn scheme(&self, id: &str) -> Option<&Scheme> {
        let named = self.schemes.iter().find(|scheme| scheme.is_called(id));
        named.or_else(|| self.schemes.first().filter(|_| id == self.id))
    }

    /// Whether it signs the URL that it calls, or a part of it.
    pub fn signs_url(&self) -> bool {
        let contentful = |scheme: &Scheme| scheme.special == Some(Special::Contentful);
        self.schemes
            .iter()
            .any(|scheme| scheme.content.has_url() || scheme.content.has_path() || contentful(scheme))
    }

    /// Whether its bodies end with CR LF, as its samples do.
    pub(crate) fn ends_with_crlf(&self) -> bool {
        let mut events = self.sample.iter().flat_map(|sample| &sample.events);
        events.any(|event| sample_file(&self.id, &event.body).is_some_and(|body| body.ends_with("\r\n")))
    }

    /// Whether what it sends can be checked with the keys that it publishes: the settings that say whose events these
    /// are have to be known for that. `None`: it publishes no keys, or none that anybody may fetch. Else the settings
    /// that are missing.
    pub fn missing_for_published_keys(&self, is_set: impl Fn(&str) -> bool) -> Option<Vec<&str>> {
        self.schemes.iter().filter_map(|scheme| missing_of(scheme, &is_set)).min_by_key(Vec::len)
    }

    /// Whether any of its signatures can be checked with these secrets or with the keys that it publishes, where those
    /// settings are known.
    pub fn can_check(&self, secrets: &[Secret], is_set: impl Fn(&str) -> bool) -> bool {
        self.schemes.iter().filter(|scheme| scheme.algorithm != Algorithm::None).any(|scheme| {
            let missing = missing_of(scheme, &is_set);
            let is_supplied = || secrets.iter().any(|secret| secret.suits(scheme));
            missing.map_or_else(is_supplied, |missing| missing.is_empty())
        })
    }

    /// Whether it signs its events at all.
    pub fn signs(&self) -> bool {
        self.schemes.iter().any(|scheme| scheme.algorithm != Algorithm::None)
    }
}

fn missing_of<'s>(scheme: &'s Scheme, is_set: &impl Fn(&str) -> bool) -> Option<Vec<&'s str>> {
    scheme.key_url.as_ref().filter(|_| scheme.takes_public_key())?;
    let needed: Vec<_> = needed_settings(scheme).collect();
    (!needed.is_empty()).then(|| needed.into_iter().filter(|name| !is_set(name)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheme::KeyMode;

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
            // PayPal's SHA-1 is history: it can be asked for by `verify --scheme` alone.
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
