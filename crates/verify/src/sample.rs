//! Sample events: realistic bodies and header lines, unsigned.

use hookmitt_event::{Explain, HeaderError, HeaderLines, HttpVersion, Request, Timestamp};
use serde::Deserialize;

use crate::Provider;

/// The header lines of a provider's samples.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SampleHead {
    /// The type that is sent where none is asked for.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// The header that carries the event's id; empty where the body does.
    #[serde(default)]
    pub(crate) id_header: String,
    #[serde(default)]
    pub(crate) id_prefix: String,
    headers: Vec<(String, String)>,
}

/// A sample that can't be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SampleError {
    /// There are none of this provider.
    #[error("there are no samples of {0}")]
    None(String),
    /// No sample is of that type.
    #[error("there is no sample {kind:?} of {provider}")]
    Type {
        /// The provider's name.
        provider: String,
        /// What was asked for.
        kind: String,
        /// What there is.
        types: Vec<&'static str>,
    },
    /// A type or id with letters that would not stay where they are put.
    #[error("{0:?} can't be put into a sample")]
    Text(String),
    /// A line that could not be written.
    #[error(transparent)]
    Header(#[from] HeaderError),
}

impl Explain for SampleError {
    fn code(&self) -> &'static str {
        match self {
            Self::None(_) => "no-sample",
            Self::Type { .. } => "unknown-sample-type",
            Self::Text(_) => "bad-event-type",
            Self::Header(_) => "bad-header",
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::None(_) => Some("send a body of your own with --data FILE".to_owned()),
            Self::Type { types, .. } => {
                Some(format!("one of {}, or a body of your own with --data FILE", types.join(", ")))
            }
            Self::Text(_) => Some("use letters, digits, and . _ / : -".to_owned()),
            Self::Header(_) => None,
        }
    }
}

/// One embedded body.
struct Body {
    family: &'static str,
    kind: &'static str,
    text: &'static str,
}

macro_rules! bodies {
    ($($family:literal: $($kind:literal = $file:literal),+;)+) => {
        &[$($(Body { family: $family, kind: $kind, text: include_str!(concat!("samples/", $file, ".json")) }),+),+]
    };
}

/// The last one of a provider serves types that have none of their own.
const BODIES: &[Body] = bodies! {
    "github": "push" = "github.push", "pull_request.opened" = "github.pull_request.opened", "ping" = "github.ping",
        "issues.opened" = "github.issues.opened";
    "stripe": "invoice.paid" = "stripe.invoice.paid", "checkout.session.completed" = "stripe.checkout.session.completed",
        "payment_intent.succeeded" = "stripe.payment_intent.succeeded";
    "slack": "app_mention" = "slack.app_mention", "url_verification" = "slack.url_verification",
        "message" = "slack.message";
    "shopify": "orders/create" = "shopify.orders.create", "app/uninstalled" = "shopify.app.uninstalled",
        "products/update" = "shopify.products.update";
    "telegram": "callback_query" = "telegram.callback_query", "message" = "telegram.message";
    "standardwebhooks": "user.created" = "standardwebhooks.user.created",
        "invoice.paid" = "standardwebhooks.invoice.paid";
    "svix": "user.created" = "standardwebhooks.user.created", "invoice.paid" = "standardwebhooks.invoice.paid";
    "openai": "response.completed" = "openai.response.completed";
    "anthropic": "session.status_idled" = "anthropic.session.status_idled";
    "resend": "email.delivered" = "resend.email.delivered";
    "clerk": "user.created" = "clerk.user.created";
    "replicate": "prediction.succeeded" = "replicate.prediction.succeeded";
    "polar": "order.paid" = "polar.order.paid";
    "liveblocks": "storageUpdated" = "liveblocks.storageUpdated";
};

fn bodies(provider: &Provider) -> impl Iterator<Item = &'static Body> {
    BODIES.iter().filter(|body| body.family == provider.id)
}

/// The types that a provider's samples have, the default first.
pub fn sample_types(provider: &Provider) -> Vec<&'static str> {
    let default = provider.sample.as_ref().map(|head| head.kind.as_str()).unwrap_or_default();
    let mut types: Vec<_> = bodies(provider).map(|body| body.kind).collect();
    types.sort_by_key(|kind| *kind != default);
    types
}

/// A realistic, unsigned event of that type, the provider's usual one without. A type that has no sample of its own is
/// put into the last one.
///
/// # Errors
/// [`SampleError`] where there is none, or for a type or id that can't be put into one.
pub fn sample(
    provider: &'static Provider,
    event_type: Option<&str>,
    fresh_id: &str,
    at: Timestamp,
) -> Result<Request, SampleError> {
    let none = || SampleError::None(provider.name.clone());
    let head = provider.sample.as_ref().ok_or_else(none)?;
    let kind = event_type.unwrap_or(&head.kind);
    let own = bodies(provider).find(|body| body.kind == kind);
    let body = own.or_else(|| bodies(provider).last()).ok_or_else(none)?;
    let fill = Filling::new(kind, fresh_id, at)?;
    let pairs = head.headers.iter().map(|(name, value)| (name, fill.fill(value)));
    Ok(Request {
        method: "POST".to_owned(),
        path: String::new(),
        query: None,
        version: HttpVersion::Http11,
        headers: HeaderLines::from_pairs(pairs)?,
        body: fill.fill(body.text.trim_end()).into_bytes().into(),
    })
}

/// What a sample's places are filled with.
struct Filling<'a> {
    kind: &'a str,
    id: &'a str,
    at: Timestamp,
}

impl<'a> Filling<'a> {
    fn new(kind: &'a str, id: &'a str, at: Timestamp) -> Result<Self, SampleError> {
        let fits = |text: &str| {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._/:-".contains(&byte);
            (1..=128).contains(&text.len()) && text.bytes().all(plain)
        };
        match [kind, id].into_iter().find(|text| !fits(text)) {
            Some(text) => Err(SampleError::Text(text.to_owned())),
            None => Ok(Self { kind, id, at }),
        }
    }

    fn fill(&self, text: &str) -> String {
        let (event, action) = self.kind.split_once('.').unwrap_or((self.kind, "created"));
        let number = self.number().to_string();
        let unix = self.at.as_seconds().to_string();
        let time = self.at.to_string();
        let places = [
            ("@id@", self.id),
            ("@number@", &number),
            ("@type@", self.kind),
            ("@event@", event),
            ("@action@", action),
            ("@unix@", &unix),
            ("@rfc3339@", &time),
        ];
        places.iter().fold(text.to_owned(), |text, (place, with)| text.replace(place, with))
    }

    /// A number that differs with the id, as numeric ids need (FNV-1a, below 2^40).
    fn number(&self) -> u64 {
        let hash = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        self.id.bytes().fold(0xcbf2_9ce4_8422_2325, hash) % (1 << 40)
    }
}

/// The public secret that signs where none was given. Everybody knows it: it proves nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TestSecret {
    /// What fixtures and messages call it.
    pub name: &'static str,
    /// Its text.
    pub value: &'static str,
}

/// The public test secret of a provider.
pub fn test_secret(provider: &Provider) -> TestSecret {
    match provider.id.as_str() {
        // What follows whsec_ is base64 of "hookmitt-public-test-key".
        _ if is_whsec(provider) => {
            TestSecret { name: "hookmitt-test-whsec", value: "whsec_aG9va21pdHQtcHVibGljLXRlc3Qta2V5" }
        }
        "stripe" => TestSecret { name: "hookmitt-test-stripe", value: "whsec_hookmitt_test_secret" },
        _ => TestSecret { name: "hookmitt-test-secret", value: "hookmitt-test-secret" },
    }
}

fn is_whsec(provider: &Provider) -> bool {
    use crate::scheme::KeyMode::{Whsec, WhsecOrUtf8, WhsecRequired};
    provider.schemes.iter().any(|scheme| matches!(scheme.key, Whsec | WhsecOrUtf8 | WhsecRequired))
}
