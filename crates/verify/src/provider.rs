//! One provider as the catalogue describes it.

use serde::{Deserialize, Serialize};

use crate::{
    algorithm::Algorithm,
    challenge::Challenge,
    fact_plan::{FactPlan, FactTemplates},
    place::{Condition, Place},
    scheme::Scheme,
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
    pub(crate) facts: FactTemplates,
    /// How it signs, the default first.
    #[serde(rename = "scheme")]
    pub schemes: Vec<Scheme>,
    /// Set-up requests that it sends.
    pub(crate) handshake: Vec<HandshakeRule>,
    pub(crate) sample: Option<Samples>,
    #[serde(skip)]
    pub(crate) plan: FactPlan,
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
pub(crate) struct HandshakeRule {
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

/// The samples of a provider, and the header lines that they share.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Samples {
    /// The type that is sent where none is asked for.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// The header that carries the event's id; empty where the body does.
    #[serde(default)]
    pub(crate) id_header: String,
    #[serde(default)]
    pub(crate) id_prefix: String,
    pub(crate) headers: Vec<(String, String)>,
    /// What there is.
    #[serde(default)]
    pub(crate) events: Vec<SampleEvent>,
}

/// One type of event that there is a sample of.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SampleEvent {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// The file of its body; empty where it has none.
    #[serde(default)]
    pub(crate) body: String,
    #[serde(default = "post")]
    pub(crate) method: String,
    #[serde(default)]
    pub(crate) query: Option<String>,
    /// The form field that carries the body in base64, as Braintree sends it.
    #[serde(default)]
    pub(crate) packed: Option<String>,
    /// Header lines instead of the provider's usual ones of those names.
    #[serde(default)]
    pub(crate) headers: Vec<(String, String)>,
}

impl Samples {
    /// What the provider calls itself in its requests.
    pub(crate) fn user_agent(&self) -> Option<&str> {
        let line = self.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("User-Agent"));
        line.map(|(_, value)| value.as_str())
    }
}

fn post() -> String {
    "POST".to_owned()
}

impl Provider {
    /// Takes from its family what it doesn't say itself.
    pub(crate) fn inherit(&mut self, family: &Self) {
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
        self.schemes.iter().any(Scheme::signs_url)
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
    let needed: Vec<_> = scheme.needed_settings().collect();
    (!needed.is_empty()).then(|| needed.into_iter().filter(|name| !is_set(name)).collect())
}
