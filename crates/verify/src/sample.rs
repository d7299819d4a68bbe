//! Sample events: realistic bodies and header lines, unsigned.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hookmitt_event::{Explain, HeaderError, HeaderLines, HttpVersion, Request, Timestamp};

use crate::{
    catalogue::sample_file,
    form,
    fresh::{self, number_of},
    provider::{Provider, SampleEvent},
};

/// Why a sample can't be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SampleError {
    /// The provider has no samples.
    #[error("there are no samples for {0}")]
    None(String),
    /// The provider has no sample of that type.
    #[error("there is no sample {kind:?} for {provider}")]
    Type {
        /// The provider's name.
        provider: String,
        /// The type that was asked for.
        kind: String,
        /// The types that exist.
        types: Vec<String>,
    },
    /// A type or id with characters that could change the sample around it.
    #[error("{0:?} can't be put into a sample")]
    Text(String),
    /// A header line that could not be written.
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
            Self::None(_) => Some("send your own body with --data FILE".to_owned()),
            Self::Type { types, .. } => {
                Some(format!("use one of {}, or your own body with --data FILE", types.join(", ")))
            }
            Self::Text(_) => Some("use letters, digits and . _ / : -".to_owned()),
            Self::Header(_) => None,
        }
    }
}

/// Whether the provider's bodies end with CRLF, judging by its samples.
pub(crate) fn ends_with_crlf(provider: &Provider) -> bool {
    let mut events = provider.sample.iter().flat_map(|sample| &sample.events);
    events.any(|event| sample_file(&provider.id, &event.body).is_some_and(|body| body.ends_with("\r\n")))
}

/// Returns the types of a provider's samples, the default first.
pub fn sample_types(provider: &Provider) -> Vec<&str> {
    let Some(head) = &provider.sample else { return Vec::new() };
    let mut types: Vec<_> = head.events.iter().map(|event| event.kind.as_str()).collect();
    types.sort_by_key(|kind| *kind != head.kind);
    types
}

/// Returns a realistic, unsigned event of that type, or of the provider's default type if `event_type` is `None`. A
/// type without a sample of its own is filled into the last sample. Its ids have the provider's own forms and are derived
/// from `fresh_id`.
///
/// # Errors
/// Returns a [`SampleError`] if the provider has no sample, or if the type or id can't be filled in.
pub fn sample(
    provider: &'static Provider,
    event_type: Option<&str>,
    fresh_id: &str,
    at: Timestamp,
) -> Result<Request, SampleError> {
    let none = || SampleError::None(provider.name.clone());
    let head = provider.sample.as_ref().ok_or_else(none)?;
    let kind = event_type.unwrap_or(&head.kind);
    let own = head.events.iter().find(|event| event.kind == kind);
    let event = own.or_else(|| head.events.last()).ok_or_else(none)?;
    let text =
        if event.body.is_empty() { "" } else { sample_file(&provider.id, &event.body).ok_or_else(none)? };
    let fill = Filling::new(provider, kind, fresh_id, at)?;
    let replaced = |name: &str| event.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
    let usual = head.headers.iter().filter(|(name, _)| !replaced(name));
    let pairs = usual.chain(&event.headers).map(|(name, value)| (name, fill.fill(value)));
    // Every file ends with a line feed, but a body only if the file ends with CRLF.
    let text = if text.ends_with("\r\n") { text } else { text.strip_suffix('\n').unwrap_or(text) };
    Ok(Request {
        method: event.method.clone(),
        path: String::new(),
        query: event.query.as_ref().map(|query| fill.fill(query)),
        version: HttpVersion::Http11,
        headers: HeaderLines::from_pairs(pairs)?,
        body: packed(event, fill.fill(text)).into(),
    })
}

fn packed(event: &SampleEvent, body: String) -> Vec<u8> {
    match &event.packed {
        Some(field) => form::with_value(b"", field, &format!("{}\n", STANDARD.encode(body))),
        None => body.into_bytes(),
    }
}

/// The values for a sample's placeholders.
struct Filling<'a> {
    kind: &'a str,
    seed: &'a str,
    /// The event's id.
    id: String,
    at: Timestamp,
}

impl<'a> Filling<'a> {
    fn new(provider: &Provider, kind: &'a str, seed: &'a str, at: Timestamp) -> Result<Self, SampleError> {
        let fits = |text: &str| {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._/:-".contains(&byte);
            (1..=128).contains(&text.len()) && text.bytes().all(plain)
        };
        match [kind, seed].into_iter().find(|text| !fits(text)) {
            Some(text) => Err(SampleError::Text(text.to_owned())),
            None => Ok(Self { kind, seed, id: provider.fresh_id(seed), at }),
        }
    }

    fn fill(&self, text: &str) -> String {
        let (event, action) = self.kind.split_once('.').unwrap_or((self.kind, "created"));
        let number = number_of(self.seed).to_string();
        let unix = self.at.as_seconds().to_string();
        let millis = (self.at.as_micros() / 1000).to_string();
        let time = self.at.to_string();
        let places = [
            ("@id@", self.id.as_str()),
            ("@number@", &number),
            ("@type@", self.kind),
            ("@event@", event),
            ("@action@", action),
            ("@unix@", &unix),
            ("@unix_ms@", &millis),
            ("@rfc3339@", &time),
        ];
        let known = places.iter().fold(text.to_owned(), |text, (place, with)| text.replace(place, with));
        fresh::fill(&known, self.seed)
    }
}
