//! One integration: its slug, provider and capture settings.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    str::FromStr,
    time::Duration,
};

use serde::{Deserialize, Serialize};

use crate::{EventId, HeaderLines};

/// The name of a source in URLs: `[a-z0-9][a-z0-9_-]{0,62}`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, utoipa::ToSchema)]
#[serde(transparent)]
pub struct Slug(String);

/// A text that can't be a slug.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a source name: use 1 to 63 of a-z, 0-9, - and _, starting with a letter or digit")]
pub struct SlugError;

impl Slug {
    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Slug {
    type Err = SlugError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let plain = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let bytes = text.as_bytes();
        let fits = (1..=63).contains(&bytes.len())
            && plain(&bytes[0])
            && bytes.iter().all(|byte| plain(byte) || matches!(byte, b'-' | b'_'));
        if fits { Ok(Self(text.to_owned())) } else { Err(SlugError) }
    }
}

impl fmt::Display for Slug {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(&self.0)
    }
}

impl<'de> Deserialize<'de> for Slug {
    fn deserialize<D: serde::Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        String::deserialize(input)?.parse().map_err(serde::de::Error::custom)
    }
}

/// What is done with an event whose signature does not hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnInvalid {
    /// Answered as usual and forwarded with its verdict: an inspector shows everything.
    #[default]
    Record,
    /// Answered 401, kept and marked, never forwarded.
    Reject,
}

/// What is done with a repeat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnDuplicate {
    /// Not forwarded where its first is waiting, running or completed.
    #[default]
    Skip,
    /// Forwarded like any other.
    Forward,
}

/// What the capture port answers, where a source sets it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Answer {
    /// The status, 200 to 599; else 200 where the provider is known and 202 where it isn't.
    pub status: Option<u16>,
    /// Header lines to add.
    #[schema(value_type = Vec<(String, String)>)]
    pub headers: HeaderLines,
    /// The body instead of `{"received":true,"id":…}`.
    pub body: Option<String>,
    /// How long to wait before answering, in milliseconds.
    pub delay_ms: u64,
    /// How many of the next requests are answered 500 (they are stored all the same).
    pub fail_next: u32,
    /// Who answers; `stored` without.
    pub respond: Option<Respond>,
}

/// Who answers a sender, once its request is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Respond {
    /// Hookmitt does, as the source has it.
    Stored,
    /// The local server, within a limit; after it, or where none answers, Hookmitt does.
    App,
}

impl Answer {
    /// How long to wait before answering.
    pub fn delay(&self) -> Duration {
        Duration::from_millis(self.delay_ms)
    }
}

/// How a source without a catalogue provider signs and names its events.
///
/// A place is `header:Name`, a JSON pointer (`/data/id`), `form:field` or `query:name`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GenericScheme {
    /// The header that carries the signature, such as `X-Signature`.
    pub signature_header: Option<String>,
    /// The place of the signature, where it is not a header's whole value.
    pub signature_at: Option<String>,
    /// `hmac-sha256` (default), `hmac-sha1`, `hmac-sha512`, `sha256` (a plain hash over content with `{secret}` in it),
    /// `ed25519`, `ecdsa-p256-sha256`, `rsa-sha256`, `rsa-sha1`, or `token` for plain equality.
    pub algorithm: Option<String>,
    /// `hex` (default), `base64` or `base64url`.
    pub encoding: Option<String>,
    /// Text before the signature, such as `sha256=`.
    pub prefix: Option<String>,
    /// `plain` (default): prefix and signature; `fields`: `t=…,v1=…`; `list`: `v1,… v1,…`.
    pub format: Option<String>,
    /// The field or tag that carries the signature, such as `v1`, where the format is not plain.
    pub version: Option<String>,
    /// The letter between fields; a comma without.
    pub separator: Option<String>,
    /// What is signed, with `{body}`, `{timestamp}`, `{id}`, `{url}`, `{method}`, `{path_query}`, `{secret}` or any
    /// place in braces; default `{body}`.
    pub signed_content: Option<String>,
    /// How the secret becomes a key: `utf8` (default), `base64`, `hex` or `whsec` (base64 after `whsec_`).
    pub key: Option<String>,
    /// The header that carries the timestamp, where one is signed.
    pub timestamp_header: Option<String>,
    /// The place of the timestamp, or `field:t` for a field of the signature header.
    pub timestamp_at: Option<String>,
    /// `s` (Unix seconds, default), `ms` or `rfc3339`.
    pub timestamp_unit: Option<String>,
    /// Where the event's id is.
    pub id_at: Option<String>,
    /// Where its type is.
    pub type_at: Option<String>,
    /// Where its time is (RFC 3339 or Unix seconds).
    pub time_at: Option<String>,
    /// Where the key of its object is.
    pub object_at: Option<String>,
    /// Where a title for people is.
    pub title_at: Option<String>,
}

/// Who said which provider sends to a source, or that none is to be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProviderFrom {
    /// A person; or nobody, because events of several providers are valid.
    Hand,
    /// Its first valid event.
    Event(EventId),
}

/// One integration as the inbox holds it. Its secrets live in the vault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its row in the inbox.
    pub row: i64,
    /// Its name in URLs.
    pub slug: Slug,
    /// The catalogue id of the provider, where it was set.
    pub provider: Option<String>,
    /// Who settled that; `None` leaves it to the first valid event.
    pub provider_from: Option<ProviderFrom>,
    /// What is done with a bad signature.
    pub on_invalid: OnInvalid,
    /// What is done with a repeat.
    pub on_duplicate: OnDuplicate,
    /// The URL that the provider calls, where something else stands before us.
    pub public_url: Option<String>,
    /// Names that its GET and HEAD requests may be called by, beside those of this machine; in lower case, no port.
    pub allowed_hosts: BTreeSet<String>,
    /// How old a signed timestamp may be, in seconds, where the provider's own limit is not wanted.
    pub tolerance_s: Option<u32>,
    /// What the capture port answers.
    pub answer: Answer,
    /// How a source without a catalogue provider signs.
    pub generic: Option<GenericScheme>,
    /// What its verdicts depend on and no request says, such as a webhook id.
    pub params: BTreeMap<String, String>,
    /// A genuine set-up request that wants a URL called is confirmed without a click.
    pub confirm: bool,
    /// Made by an unknown slug on the capture port rather than by hand.
    pub auto_created: bool,
}
