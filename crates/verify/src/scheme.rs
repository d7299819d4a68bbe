//! How a provider signs, as data.

use std::time::Duration;

use serde::Deserialize;

use crate::{
    algorithm::{Algorithm, Encoding},
    algorithm_name::AlgorithmName,
    content::SignedContent,
    jwt::JwtRules,
    place::{Condition, Place},
    uncovered::Uncovered,
};

/// One way to sign a request.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Scheme {
    /// The id used by `--scheme`, such as `github-hmac-sha256`.
    pub id: String,
    /// Other ids for it.
    pub(crate) aliases: Vec<String>,
    /// What the signature is made with.
    pub algorithm: Algorithm,
    pub(crate) encoding: Encoding,
    /// Upper-case hex counts too.
    pub(crate) upper: bool,
    /// Where the signature stands: the first place that is not empty counts.
    pub(crate) signature: Vec<Place>,
    /// All of the places count, the n-th with the n-th secret.
    pub(crate) every: bool,
    pub(crate) format: Format,
    /// What stands before a plain signature.
    pub(crate) prefix: String,
    /// What else may stand there.
    pub(crate) prefixes: Vec<String>,
    /// The field or version tag that carries the signature, where the format is not plain.
    pub(crate) version: String,
    /// What stands between fields; a comma without.
    pub(crate) separator: Option<char>,
    /// White space around fields is passed over.
    pub(crate) trim: bool,
    pub(crate) tag: TagMode,
    /// Where the signed id is; the n-th place belongs to the n-th signature.
    pub(crate) message_id: Vec<Place>,
    /// Where the signed timestamp is, likewise.
    pub(crate) timestamp: Vec<Place>,
    pub(crate) content: SignedContent,
    pub(crate) special: Option<Special>,
    pub(crate) url_forms: Option<UrlForms>,
    pub(crate) body_forms: Option<BodyForms>,
    /// Where the hex SHA-256 of the body stands, if what is signed covers only that.
    pub(crate) body_hash: Option<Place>,
    pub(crate) key: KeyMode,
    pub(crate) clock: Option<TimestampRules>,
    /// When it is this scheme.
    pub(crate) when: Vec<Condition>,
    /// What must not be announced otherwise, such as `header:BOX-SIGNATURE-ALGORITHM=HmacSHA256`.
    pub(crate) announced: Vec<Condition>,
    /// Where the request itself names the algorithm, and the one name that is taken.
    pub(crate) named: Option<AlgorithmName>,
    /// The provider has a stronger scheme: this one is judged only where a person chose it.
    pub(crate) older: bool,
    /// A secret that begins so signs in a stronger way: beside one this scheme is not judged.
    pub(crate) outdone_by: Option<String>,
    /// What of the body a genuine signature leaves open.
    pub(crate) uncovered: Option<Uncovered>,
    /// The signed id is never used for two bodies, though the signature would let it.
    pub(crate) single_use: bool,
    /// Where the provider publishes its key: a place, or an `https` URL.
    pub(crate) key_url: Option<String>,
    /// The hosts that may be asked for it; `*` stands for one or more labels.
    pub(crate) key_hosts: Vec<String>,
    /// The names that the key's certificate may have.
    pub(crate) cert_names: Vec<String>,
    pub(crate) jwt: Option<JwtRules>,
}

/// How the signature stands in its header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Format {
    /// A prefix and the signature.
    #[default]
    Plain,
    /// `t=…,v1=…,v1=…`
    Fields,
    /// `v1,… v1,…`
    List,
}

/// How strictly the version tag of a signature in a list is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TagMode {
    /// Only signatures with the scheme's tag count.
    #[default]
    Strict,
    /// Bare signatures count too.
    Optional,
    /// The tag is not looked at.
    Any,
}

/// Content that no template can say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Special {
    /// Eight fields of each item, each item with a signature of its own.
    Adyen,
    /// Pairs of public key and signature over a field of the form.
    Braintree,
    /// Method, path, listed headers and body.
    Contentful,
    /// The fields of an SNS message, each on two lines.
    Sns,
}

/// Which writings of the URL are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum UrlForms {
    /// With and without its default port.
    Ports,
    /// With some percent escapes decoded.
    Decoded,
}

/// Which writings of the body are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum BodyForms {
    /// Also with slashes and what is not ASCII escaped, as PHP writes JSON.
    Escaped,
}

/// How a secret becomes a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum KeyMode {
    /// The text as it is.
    #[default]
    Utf8,
    /// Base64 after an optional `whsec_`.
    Whsec,
    /// Base64 after `whsec_`, which must be there.
    WhsecRequired,
    /// Base64 after `whsec_`; without it the text as it is.
    WhsecOrUtf8,
    /// Base64.
    Base64,
    /// Hex.
    Hex,
    /// The SHA-1 of the text.
    Sha1,
    /// The text with HTML entities decoded.
    Html,
    /// `user:password`, compared in base64.
    Basic,
    /// A public key.
    Public,
    /// Compared as it is.
    Compare,
}

/// How a timestamp is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TimeUnit {
    /// Unix seconds.
    #[default]
    S,
    /// Unix milliseconds.
    Ms,
    /// RFC 3339.
    Rfc3339,
}

/// How a signed timestamp is written, and how old it may be.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TimestampRules {
    #[serde(default)]
    pub(crate) unit: TimeUnit,
    /// How far it may be off, in seconds; 0: the provider's own code never looks.
    #[serde(default)]
    pub(crate) tolerance_s: u32,
    /// Whether a timestamp from the future is refused too.
    #[serde(default)]
    pub(crate) future_checked: bool,
    /// Whether one that is off by exactly that much is refused too.
    #[serde(default)]
    pub(crate) exclusive: bool,
}

impl Scheme {
    /// Whether it is checked with a public key rather than a shared secret.
    pub fn takes_public_key(&self) -> bool {
        self.algorithm.is_asymmetric()
    }

    /// How old a signed timestamp may be, where one is checked.
    pub fn tolerance(&self) -> Option<Duration> {
        let clock = self.clock.as_ref().filter(|clock| clock.tolerance_s > 0);
        clock.map(|clock| Duration::from_secs(clock.tolerance_s.into()))
    }

    /// The field of the signature header that carries the timestamp.
    pub(crate) fn timestamp_field(&self) -> Option<&str> {
        self.timestamp.iter().find_map(|place| match place {
            Place::Field(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// Whether it signs the URL, or path and query.
    pub(crate) fn signs_url(&self) -> bool {
        self.content.has_url() || self.content.has_path() || self.special == Some(Special::Contentful)
    }

    /// The settings without which a published key proves nothing: a webhook id, a topic, an audience.
    pub(crate) fn needed_settings(&self) -> impl Iterator<Item = &str> {
        let in_content = self.content.places().filter_map(|place| match place {
            Place::Param(name) => Some(name.as_str()),
            _ => None,
        });
        let in_token = self.jwt.iter().flat_map(|rules| rules.audience.iter().chain(&rules.email));
        in_content.chain(in_token.map(String::as_str)).chain(self.topic_setting())
    }

    /// The setting that says which topic is subscribed to, where one key signs for all topics.
    pub(crate) fn topic_setting(&self) -> Option<&'static str> {
        (self.special == Some(Special::Sns)).then_some("topic_arn")
    }

    /// What separates fields.
    pub(crate) fn field_separator(&self) -> u8 {
        self.separator.and_then(|letter| u8::try_from(letter).ok()).unwrap_or(b',')
    }

    /// Every prefix that a plain signature may have, the usual one first.
    pub(crate) fn all_prefixes(&self) -> impl Iterator<Item = &str> {
        let own = (self.prefixes.is_empty() || !self.prefix.is_empty()).then_some(self.prefix.as_str());
        own.into_iter().chain(self.prefixes.iter().map(String::as_str))
    }

    /// Whether it goes by that id.
    pub(crate) fn is_called(&self, id: &str) -> bool {
        self.id == id || self.aliases.iter().any(|alias| alias == id)
    }
}
