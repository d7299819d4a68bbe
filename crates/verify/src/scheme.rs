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
    /// Other ids of the scheme.
    pub(crate) aliases: Vec<String>,
    /// The algorithm that makes the signature.
    pub algorithm: Algorithm,
    pub(crate) encoding: Encoding,
    /// Whether upper-case hex is accepted too.
    pub(crate) upper: bool,
    /// The places of the signature. The first one that is not empty counts.
    pub(crate) signature: Vec<Place>,
    /// Whether all places count: the n-th with the n-th secret.
    pub(crate) every: bool,
    pub(crate) format: Format,
    /// The text before a plain signature.
    pub(crate) prefix: String,
    /// Other texts that may stand before it.
    pub(crate) prefixes: Vec<String>,
    /// The name of the field, or the version tag, that carries the signature, unless the format is plain.
    pub(crate) version: String,
    /// The character between fields; a comma if `None`.
    pub(crate) separator: Option<char>,
    /// Whether white space around fields is ignored.
    pub(crate) trim: bool,
    pub(crate) tag: TagMode,
    /// The places of the signed id. The n-th place belongs to the n-th place of the signature.
    pub(crate) message_id: Vec<Place>,
    /// The places of the signed timestamp, in the same order.
    pub(crate) timestamp: Vec<Place>,
    pub(crate) content: SignedContent,
    pub(crate) special: Option<Special>,
    pub(crate) url_forms: Option<UrlForms>,
    pub(crate) body_forms: Option<BodyForms>,
    /// The place of the body's SHA-256 in hex, for schemes that sign only this hash of the body.
    pub(crate) body_hash: Option<Place>,
    pub(crate) key: KeyMode,
    pub(crate) clock: Option<TimestampRules>,
    /// The conditions under which the scheme applies.
    pub(crate) when: Vec<Condition>,
    /// Conditions on companion headers, such as `header:BOX-SIGNATURE-ALGORITHM=HmacSHA256`. If the header is there,
    /// its value must match.
    pub(crate) announced: Vec<Condition>,
    /// Where the request itself names the algorithm, and the only name that is accepted.
    pub(crate) named: Option<AlgorithmName>,
    /// Whether the provider has a stronger scheme, so that this one counts only if a person chose it.
    pub(crate) older: bool,
    /// The start of secrets that sign in a stronger way. If the source has such a secret, this scheme is accepted only if
    /// a person chose it.
    pub(crate) outdone_by: Option<String>,
    /// What part of the body a genuine signature doesn't cover.
    pub(crate) uncovered: Option<Uncovered>,
    /// Whether the provider never uses a signed id for two bodies, although the signature would allow it.
    pub(crate) single_use: bool,
    /// Where the provider publishes its key: a place in the request, or an `https` URL.
    pub(crate) key_url: Option<String>,
    /// The hosts that the key may be fetched from. A `*` at the start stands for one or more labels, elsewhere for an
    /// Amazon region.
    pub(crate) key_hosts: Vec<String>,
    /// The names that the key's certificate may have. No check reads them: certificates are checked against
    /// `key_hosts`.
    pub(crate) cert_names: Vec<String>,
    pub(crate) jwt: Option<JwtRules>,
}

/// The layout of the signature's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Format {
    /// A prefix, then the signature.
    #[default]
    Plain,
    /// `t=…,v1=…,v1=…`
    Fields,
    /// `v1,… v1,…`
    List,
}

/// How strictly the version tag of a signature in a list is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TagMode {
    /// Only signatures with the scheme's tag count.
    #[default]
    Strict,
    /// Signatures without a tag count too.
    Optional,
    /// Any tag counts, except that of an Ed25519 signature.
    Any,
}

/// Signed content that no template can describe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Special {
    /// Eight fields of each item. Each item has a signature of its own.
    Adyen,
    /// Pairs of public key and signature, over a field of the form.
    Braintree,
    /// Method, path, listed headers and body.
    Contentful,
    /// The fields of an SNS message, each as two lines.
    Sns,
}

/// Other forms of the URL that are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum UrlForms {
    /// Without its port, or with the default port if it has none.
    Ports,
    /// With some percent escapes decoded.
    Decoded,
}

/// Other forms of the body that are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum BodyForms {
    /// With slashes and non-ASCII characters escaped, as PHP writes JSON.
    Escaped,
}

/// How the text of a secret becomes a key.
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
    /// Base64 after `whsec_`. Without `whsec_`, the text as it is.
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
    /// The text as it is, for comparing.
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

/// How a signed timestamp is written, and how far it may be off.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TimestampRules {
    #[serde(default)]
    pub(crate) unit: TimeUnit,
    /// How far the timestamp may be off, in seconds. 0 means that the provider's own code never checks.
    #[serde(default)]
    pub(crate) tolerance_s: u32,
    /// Whether a timestamp from the future is rejected too.
    #[serde(default)]
    pub(crate) future_checked: bool,
    /// Whether a timestamp whose age is exactly the tolerance is rejected too.
    #[serde(default)]
    pub(crate) exclusive: bool,
}

impl Scheme {
    /// Whether a public key verifies this scheme, rather than a shared secret.
    pub fn takes_public_key(&self) -> bool {
        self.algorithm.is_asymmetric()
    }

    /// Returns how far a signed timestamp may be off, if it is checked.
    pub fn tolerance(&self) -> Option<Duration> {
        let clock = self.clock.as_ref().filter(|clock| clock.tolerance_s > 0);
        clock.map(|clock| Duration::from_secs(clock.tolerance_s.into()))
    }

    /// Returns the name of the field in the signature header that carries the timestamp.
    pub(crate) fn timestamp_field(&self) -> Option<&str> {
        self.timestamp.iter().find_map(|place| match place {
            Place::Field(name) => Some(name.as_str()),
            _ => None,
        })
    }

    /// Whether the scheme signs the URL, or the path and query.
    pub(crate) fn signs_url(&self) -> bool {
        self.content.has_url() || self.content.has_path() || self.special == Some(Special::Contentful)
    }

    /// Returns the settings without which a published key proves nothing: a webhook id, a topic, an audience.
    pub(crate) fn needed_settings(&self) -> impl Iterator<Item = &str> {
        let in_content = self.content.places().filter_map(|place| match place {
            Place::Param(name) => Some(name.as_str()),
            _ => None,
        });
        let in_token = self.jwt.iter().flat_map(|rules| rules.audience.iter().chain(&rules.email));
        in_content.chain(in_token.map(String::as_str)).chain(self.topic_setting())
    }

    /// Returns the setting for the subscribed topic, if one key signs for all topics.
    pub(crate) fn topic_setting(&self) -> Option<&'static str> {
        (self.special == Some(Special::Sns)).then_some("topic_arn")
    }

    /// Returns the separator between fields.
    pub(crate) fn field_separator(&self) -> u8 {
        self.separator.and_then(|letter| u8::try_from(letter).ok()).unwrap_or(b',')
    }

    /// Returns every prefix that a plain signature may have, the usual one first.
    pub(crate) fn all_prefixes(&self) -> impl Iterator<Item = &str> {
        let own = (self.prefixes.is_empty() || !self.prefix.is_empty()).then_some(self.prefix.as_str());
        own.into_iter().chain(self.prefixes.iter().map(String::as_str))
    }

    /// Whether the scheme has that id or alias.
    pub(crate) fn is_called(&self, id: &str) -> bool {
        self.id == id || self.aliases.iter().any(|alias| alias == id)
    }
}
