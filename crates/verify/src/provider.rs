//! One provider as the catalogue describes it.

use serde::{Deserialize, Serialize};

use crate::{
    algorithm::Algorithm,
    challenge::Challenge,
    fact_plan::{FactPlan, FactTemplates},
    fresh,
    place::{Condition, Place},
    scheme::Scheme,
    secret::Secret,
    subject::SubjectTemplates,
};

/// A sender of webhooks: how to recognise it, how it signs, and where its events contain their facts.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Provider {
    /// The catalogue id, such as `github`. It is also the name of the provider's file.
    #[serde(skip)]
    pub id: String,
    /// The name for people, such as `GitHub`.
    pub name: String,
    /// The provider whose wire format this one uses, if this one is an adopter.
    pub family: Option<String>,
    /// How well its signature schemes are confirmed.
    pub confidence: Confidence,
    /// The sources of these facts.
    pub evidence: Vec<String>,
    /// The facts that could not be confirmed.
    pub unconfirmed: Vec<String>,
    /// What its secrets look like and where people find them.
    pub secret_hint: Option<String>,
    /// Common mistakes.
    pub traps: Vec<String>,
    /// Providers whose headers it also sends.
    pub(crate) shadows: Vec<String>,
    /// Header names that identify it.
    pub detect: Vec<String>,
    /// Conditions that identify it if no header does. All conditions of one list have to hold.
    pub(crate) recognise: Vec<Vec<Condition>>,
    /// The status that it requires as the answer to a request with a bad signature.
    pub invalid_status: Option<u16>,
    /// Whether its users would read the body of an answer, so that the default answer has none.
    pub empty_answer: bool,
    /// The settings that checking its requests needs and that the requests don't contain.
    pub params: Vec<Param>,
    /// How it retries.
    pub retry: RetryFacts,
    pub(crate) facts: FactTemplates,
    pub(crate) subject: SubjectTemplates,
    /// Its signature schemes, the default first.
    #[serde(rename = "scheme")]
    pub schemes: Vec<Scheme>,
    /// The set-up requests that it sends.
    pub(crate) handshake: Vec<HandshakeRule>,
    pub(crate) sample: Option<Samples>,
    #[serde(skip)]
    pub(crate) plan: FactPlan,
}

/// How well a provider's signature schemes are confirmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// By the provider's own code or documents.
    Confirmed,
    /// By independent third parties that agree.
    #[default]
    Corroborated,
}

/// A setting that a provider's signatures or set-up requests depend on.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Param {
    /// Its name, such as `webhook_id`.
    pub name: String,
    /// Its name for people.
    pub label: String,
    /// Where people find its value.
    #[serde(default)]
    pub hint: String,
    /// Whether no signature can be judged without it.
    #[serde(default)]
    pub required: bool,
    /// The exact length of its values, which are capital letters and digits, if that is known.
    #[serde(default)]
    pub(crate) length: Option<usize>,
}

impl Param {
    /// Whether a text can't be a value of this setting.
    pub(crate) fn is_misshapen(&self, text: &str) -> bool {
        let fits = |byte: u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
        self.length.is_some_and(|length| text.len() != length || !text.bytes().all(fits))
    }
}

/// How a provider retries.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RetryFacts {
    /// How long it waits for an answer, in seconds, if that is known.
    pub timeout_s: Option<u32>,
    /// When it retries, in words.
    #[serde(default)]
    pub policy: String,
    /// Whether a retry carries the same event id, if that is known.
    pub same_id: Option<bool>,
}

/// A set-up request and the answer that it expects.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct HandshakeRule {
    pub(crate) name: String,
    /// What it is in its event's subject, such as `challenge`; if absent, its subject is written as that of any event.
    pub(crate) subject: Option<String>,
    /// The conditions that identify the request. All have to hold.
    pub(crate) when: Vec<Condition>,
    /// Whether the provider signs this request. If so, the request is not answered when its signature is invalid.
    pub(crate) signed: bool,
    /// The place of a secret that it delivers.
    pub(crate) secret: Option<Place>,
    /// The place of a URL that confirms it.
    pub(crate) confirm: Option<Place>,
    /// Two places whose values must be equal if the second one, a setting, is configured.
    pub(crate) check: Option<[Place; 2]>,
    pub(crate) answer: Option<HandshakeAnswer>,
    /// The form that a text must have before the answer signs it.
    pub(crate) challenge: Challenge,
}

/// The answer to a set-up request.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct HandshakeAnswer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    /// A template with placeholders.
    pub(crate) body: String,
}

/// A provider's samples, and the header lines that they share.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Samples {
    /// The type that is sent by default.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// The header that carries the event's id; empty if the id is in the body.
    #[serde(default)]
    pub(crate) id_header: String,
    /// The form of the event's id, with a placeholder for its random part: `evt_@base62:24@`.
    #[serde(default = "uuid")]
    pub(crate) id: String,
    pub(crate) headers: Vec<(String, String)>,
    /// The samples, one for each type.
    #[serde(default)]
    pub(crate) events: Vec<SampleEvent>,
}

/// A sample of one event type.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SampleEvent {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// The file name of its body; empty if it has no body.
    #[serde(default)]
    pub(crate) body: String,
    #[serde(default = "post")]
    pub(crate) method: String,
    #[serde(default)]
    pub(crate) query: Option<String>,
    /// The form field that carries the body in base64, as Braintree sends it.
    #[serde(default)]
    pub(crate) packed: Option<String>,
    /// Header lines that replace the shared lines of the same names.
    #[serde(default)]
    pub(crate) headers: Vec<(String, String)>,
}

impl Samples {
    /// Returns the `User-Agent` of the provider's requests.
    pub(crate) fn user_agent(&self) -> Option<&str> {
        let line = self.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("User-Agent"));
        line.map(|(_, value)| value.as_str())
    }
}

fn post() -> String {
    "POST".to_owned()
}

fn uuid() -> String {
    "@uuid@".to_owned()
}

impl Provider {
    /// Copies from the family what this provider doesn't define itself.
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
        ] {
            if own.is_empty() {
                own.clone_from(other);
            }
        }
        if self.subject == SubjectTemplates::default() {
            self.subject.clone_from(&family.subject);
        }
        if self.retry.policy.is_empty() && self.retry.timeout_s.is_none() {
            self.retry.clone_from(&family.retry);
        }
        self.secret_hint = self.secret_hint.take().or_else(|| family.secret_hint.clone());
        self.sample = self.sample.take().or_else(|| family.sample.clone());
    }

    /// Returns an id in the form of the provider's own, derived from a seed. Without a sample its form is unknown; then
    /// the id is a UUID.
    pub(crate) fn fresh_id(&self, seed: &str) -> String {
        let form = self.sample.as_ref().map_or_else(uuid, |sample| sample.id.clone());
        fresh::fill(&form, seed)
    }

    /// Returns the schemes that count unless a person chose another one.
    pub(crate) fn usual_schemes(&self) -> &[Scheme] {
        self.by_age().0
    }

    /// Returns the schemes that count only if a person chose them.
    pub(crate) fn older_schemes(&self) -> &[Scheme] {
        self.by_age().1
    }

    /// Splits the schemes at the first older one. A test makes sure that the older ones come last.
    fn by_age(&self) -> (&[Scheme], &[Scheme]) {
        let first_older = self.schemes.iter().position(|scheme| scheme.older);
        self.schemes.split_at(first_older.unwrap_or(self.schemes.len()))
    }

    /// Returns the scheme with that id. The provider's own id stands for its default scheme.
    pub fn scheme(&self, id: &str) -> Option<&Scheme> {
        let named = self.schemes.iter().find(|scheme| scheme.is_called(id));
        named.or_else(|| self.schemes.first().filter(|_| id == self.id))
    }

    /// Whether it signs the URL that it calls, or a part of that URL.
    pub fn signs_url(&self) -> bool {
        self.schemes.iter().any(Scheme::signs_url)
    }

    /// Returns the settings that are missing before this provider's requests can be verified with the keys that it
    /// publishes. These settings say whose events the requests are. Returns `None` if it publishes no keys, or if such
    /// settings don't exist for them.
    pub fn missing_for_published_keys(&self, is_set: impl Fn(&str) -> bool) -> Option<Vec<&str>> {
        self.schemes.iter().filter_map(|scheme| missing_of(scheme, &is_set)).min_by_key(Vec::len)
    }

    /// Whether any of its signatures can be verified with these secrets, or with the keys that it publishes if the
    /// settings for those are set.
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
