//! How a provider signs, as data.

use std::time::Duration;

use serde::Deserialize;

use crate::content::SignedContent;

/// One way to sign a request.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scheme {
    /// The id used by `--scheme`, such as `github-hmac-sha256`.
    pub id: String,
    pub(crate) headers: HeaderNames,
    /// What the signature is made with.
    pub algorithm: Algorithm,
    #[serde(default)]
    pub(crate) encoding: Encoding,
    #[serde(default)]
    pub(crate) format: Format,
    /// What stands before a plain signature.
    #[serde(default)]
    pub(crate) prefix: String,
    /// The field or version tag that carries the signature, where the format is not plain.
    #[serde(default)]
    pub(crate) version: String,
    #[serde(default)]
    pub(crate) tag: TagMode,
    #[serde(default)]
    pub(crate) content: SignedContent,
    #[serde(default)]
    pub(crate) key: KeyMode,
    pub(crate) clock: Option<Clock>,
}

/// The headers that carry the parts of a signature; the n-th of each list belong together.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HeaderNames {
    pub(crate) signature: Vec<String>,
    #[serde(default)]
    pub(crate) id: Vec<String>,
    #[serde(default)]
    pub(crate) timestamp: Vec<String>,
}

impl HeaderNames {
    /// Forgets the names that don't start with `prefix`.
    pub(crate) fn keep_prefix(&mut self, prefix: &str) {
        for names in [&mut self.signature, &mut self.id, &mut self.timestamp] {
            names.retain(|name| name.starts_with(prefix));
        }
    }
}

/// What a signature is made with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// HMAC with SHA-1.
    HmacSha1,
    /// HMAC with SHA-256.
    #[default]
    HmacSha256,
    /// HMAC with SHA-512.
    HmacSha512,
    /// An Ed25519 signature, checked with a public key.
    Ed25519,
    /// The secret itself, compared as it is.
    Token,
    /// A scheme that is recognised and can't be verified yet.
    Unsupported,
}

/// How signature bytes are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Encoding {
    /// Lower-case hex.
    #[default]
    Hex,
    /// Standard base64 with padding.
    Base64,
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
    /// A public key.
    Public,
    /// Compared as it is.
    Compare,
}

/// The timestamp that is signed, in Unix seconds.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Clock {
    /// The field of the signature header that carries it; else the timestamp header does.
    pub(crate) field: Option<String>,
    /// How far it may be off, in seconds.
    pub(crate) tolerance_s: u32,
    /// Whether a timestamp from the future is refused too.
    pub(crate) future_checked: bool,
}

impl Scheme {
    /// Whether it can be verified.
    pub fn is_supported(&self) -> bool {
        self.algorithm != Algorithm::Unsupported
    }

    /// Whether it is checked with a public key rather than a shared secret.
    pub fn takes_public_key(&self) -> bool {
        self.key == KeyMode::Public
    }

    /// How old a signed timestamp may be, where one is checked.
    pub fn tolerance(&self) -> Option<Duration> {
        self.clock.as_ref().map(|clock| Duration::from_secs(clock.tolerance_s.into()))
    }

    /// The header that carries the signature, as it is written when signing.
    pub fn signature_header(&self) -> &str {
        self.headers.signature.first().map_or("", String::as_str)
    }
}
