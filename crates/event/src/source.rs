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
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(transparent)]
pub struct Slug(String);

/// The error for a text that cannot be a slug.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a source name: use 1 to 63 of a-z, 0-9, - and _, starting with a letter or digit")]
pub struct SlugError;

impl Slug {
    /// Returns the slug's text.
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

/// What happens to an event that is not proved genuine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum OnInvalid {
    /// The event is answered as usual and forwarded with its verdict, because an inspector shows everything.
    #[default]
    Record,
    /// Unless the verdict is `valid`, the sender gets 401, and the event is stored and marked but not forwarded. An
    /// event whose verdict is `pending` is held back until its final verdict.
    Reject,
}

/// What happens to a duplicate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum OnDuplicate {
    /// The duplicate is not sent to a target where the first event, or another duplicate of it, waits, is being tried
    /// or is completed. A duplicate that was found by its content alone is always sent.
    #[default]
    Skip,
    /// The duplicate is forwarded like any other event.
    Forward,
}

/// A source's settings for the answers of the capture port.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct Answer {
    /// The status, 200 to 599. By default 200 if the source's provider is known, and 202 if it is not.
    pub status: Option<u16>,
    /// Header lines to add to the answer.
    #[cfg_attr(feature = "schema", schema(value_type = Vec<(String, String)>))]
    pub headers: HeaderLines,
    /// The body of the answer. By default `{"received":true,"id":…}`.
    pub body: Option<String>,
    /// How long to wait before answering, in milliseconds.
    pub delay_ms: u64,
    /// How many of the next requests are answered with 500. They are stored all the same.
    pub fail_next: u32,
    /// Who answers the sender; `stored` if not set.
    pub respond: Option<Respond>,
}

/// Who answers the sender once its request is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Respond {
    /// Hookmitt answers, as set for the source.
    Stored,
    /// The local server answers. If it does not answer within the time limit, Hookmitt does.
    App,
}

impl Answer {
    /// Returns how long to wait before answering.
    pub fn delay(&self) -> Duration {
        Duration::from_millis(self.delay_ms)
    }
}

/// How a source without a catalogue provider signs its requests, and where they carry id, type and title.
///
/// A place is `header:Name`, a JSON pointer (`/data/id`), `form:field` or `query:name`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct GenericScheme {
    /// The header that carries the signature, such as `X-Signature`.
    pub signature_header: Option<String>,
    /// The place of the signature, if it is not the whole value of a header.
    pub signature_at: Option<String>,
    /// `hmac-sha256` (default), `hmac-sha1`, `hmac-sha512`, `sha256` (a plain hash over content that contains
    /// `{secret}`), `ed25519`, `ecdsa-p256-sha256`, `rsa-sha256`, `rsa-sha1`, or `token` (the value equals the secret).
    pub algorithm: Option<String>,
    /// The encoding of the signature: `hex` (default), `base64` or `base64url`.
    pub encoding: Option<String>,
    /// The text before the signature, such as `sha256=`.
    pub prefix: Option<String>,
    /// The format of the signature's value: `plain` (default: prefix and signature), `fields` (`t=…,v1=…`) or `list`
    /// (`v1,… v1,…`).
    pub format: Option<String>,
    /// The field or tag that carries the signature, such as `v1`, if the format is not `plain`.
    pub version: Option<String>,
    /// The character between fields; a comma by default.
    pub separator: Option<String>,
    /// The signed content, as a template with `{body}`, `{timestamp}`, `{id}`, `{url}`, `{method}`, `{path_query}`,
    /// `{secret}` or any place in braces. The default is `{body}`.
    pub signed_content: Option<String>,
    /// How the secret becomes a key: `utf8` (default), `base64`, `hex` or `whsec` (base64 after `whsec_`).
    pub key: Option<String>,
    /// The header that carries the timestamp, if a timestamp is signed.
    pub timestamp_header: Option<String>,
    /// The place of the timestamp, or `field:t` for a field of the signature header.
    pub timestamp_at: Option<String>,
    /// The unit of the timestamp: `s` (Unix seconds, default), `ms` or `rfc3339`.
    pub timestamp_unit: Option<String>,
    /// The place of the event's id.
    pub id_at: Option<String>,
    /// The place of the event's type.
    pub type_at: Option<String>,
    /// The place of the event's time (RFC 3339 or Unix seconds).
    pub time_at: Option<String>,
    /// The place of the key of the object that the event is about.
    pub object_at: Option<String>,
    /// The place of a title for people.
    pub title_at: Option<String>,
}

/// How a source's missed events are fetched from its provider's own API. Off until the source has an API key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct SyncSettings {
    /// A connector of the user's own, as JSON in a text, if it isn't the provider's.
    pub connector: Option<String>,
    /// What the connector has to know besides the key, by name.
    pub params: BTreeMap<String, String>,
    /// What is done with an event that was missing.
    pub delivery: SyncDelivery,
    /// How many seconds pass between two syncs, by default an hour; 0 if it syncs only when it is asked to.
    pub every_s: Option<u32>,
    /// The hosts for which the API key was given. It goes to no others, whatever becomes of the connector.
    pub key_hosts: Vec<String>,
}

/// What is done with an event that was missing and was fetched from the provider's API.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum SyncDelivery {
    /// It is kept, and its delivery is offered.
    #[default]
    Ask,
    /// It is kept.
    Keep,
    /// It is delivered like any other, signed again. What the first sync finds is kept, and offered.
    Deliver,
}

/// Who settled which provider sends to a source, or that no provider should be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProviderFrom {
    /// A person settled it. Also used if nobody did, because events of several providers are valid here.
    Hand,
    /// This event settled it: the source's first valid event.
    Event(EventId),
}

/// One integration as the inbox stores it. The vault holds its secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The source's row in the inbox.
    pub row: i64,
    /// The source's name in URLs.
    pub slug: Slug,
    /// The catalogue id of the provider, if one is set.
    pub provider: Option<String>,
    /// Who settled the provider. `None` leaves it to the first valid event.
    pub provider_from: Option<ProviderFrom>,
    /// What happens to an event that is not proved genuine.
    pub on_invalid: OnInvalid,
    /// What happens to a duplicate.
    pub on_duplicate: OnDuplicate,
    /// The URL that the provider calls, if a proxy or another tunnel is in front of the capture port.
    pub public_url: Option<String>,
    /// Host names by which GET and HEAD requests may call the source, in addition to those of this machine. In lower
    /// case, without a port.
    pub allowed_hosts: BTreeSet<String>,
    /// The maximum age of a signed timestamp, in seconds, if it replaces the provider's own limit.
    pub tolerance_s: Option<u32>,
    /// The settings for the answers of the capture port.
    pub answer: Answer,
    /// How the source signs, if it has no catalogue provider.
    pub generic: Option<GenericScheme>,
    /// Values on which verdicts depend but that no request contains, such as a webhook id.
    pub params: BTreeMap<String, String>,
    /// Whether a genuine set-up request that asks for a URL to be called is confirmed without a click.
    pub confirm: bool,
    /// How missed events are fetched from the provider's own API.
    pub sync: SyncSettings,
    /// Whether a request for an unknown slug on the capture port created the source, rather than a person.
    pub auto_created: bool,
}
