//! Set-up requests: requests that a provider sends before or beside its events, and the answers that it expects.

use hookmitt_event::Request;

use crate::{
    answer_text::{AnswerText, Signer},
    key_url::{self, UntrustedUrl},
    mac::constant_time_eq,
    place::Place,
    provider::{HandshakeAnswer, HandshakeRule, Provider},
    request_view::RequestView,
    secret::Secret,
    secret_bytes::SecretBytes,
};

/// A set-up request.
#[derive(Debug, Clone)]
pub struct Handshake {
    /// Its name in the catalogue, such as `url_verification`.
    pub name: &'static str,
    /// Whether the provider signs it.
    pub signed: bool,
    /// Whether the catalogue has an answer for it. If not, it goes to the handler like any event.
    pub answered: bool,
    /// Whether the answer contains a text of the sender's, signed with the source's secret. [`Handshake::answer`] then
    /// needs that secret.
    pub needs_secret: bool,
    /// A secret that the request delivers and that signs from now on.
    pub delivered_secret: Option<SecretBytes>,
    /// The URL to call in order to confirm the set-up.
    pub confirm: Option<String>,
    /// Whether the request contradicts the source's configuration.
    pub refused: bool,
    rule: &'static HandshakeRule,
}

/// What became of a set-up request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandshakeOutcome {
    /// It was answered as its provider expects.
    Answered,
    /// It could not be answered so.
    Unanswered,
    /// It contradicts the source's configuration.
    Refused,
    /// Nobody waits for an answer, because the request was imported or made here.
    Unasked,
}

/// The answer to a set-up request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandshakeReply {
    /// The status code.
    pub status: u16,
    /// The header lines.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
}

/// Larger bodies are not searched for set-up requests, so that capture stays fast. In bytes.
const LARGEST: usize = 64 * 1024;
/// Longer texts are not taken as secrets. In bytes.
const LONGEST_SECRET: usize = 4_096;

/// Returns the set-up request that this request is according to the provider's catalogue entry, if it is one.
pub fn handshake(
    request: &Request,
    provider: &'static Provider,
    params: &[(String, String)],
) -> Option<Handshake> {
    let view = RequestView { params, ..RequestView::of_request(request) };
    let rule = provider.handshake.iter().find(|rule| applies(rule, &view))?;
    let text = |place: &Option<Place>| {
        let value = place.as_ref()?.read(&view)?.into_owned();
        String::from_utf8(value).ok()
    };
    let delivered = text(&rule.secret).filter(|secret| secret.len() <= LONGEST_SECRET);
    Some(Handshake {
        name: &rule.name,
        signed: rule.signed,
        answered: rule.answer.is_some(),
        needs_secret: rule.answer.as_ref().is_some_and(HandshakeAnswer::needs_secret),
        delivered_secret: delivered.map(SecretBytes::from),
        confirm: text(&rule.confirm),
        refused: rule.check.as_ref().is_some_and(|places| differ(places, &view)),
        rule,
    })
}

impl Handshake {
    /// Returns the name of the source's parameter that a token in the request is compared with, if the provider sends one.
    pub fn checked_param(&self) -> Option<&'static str> {
        let [_, expected] = self.rule.check.as_ref()?;
        match expected {
            Place::Param(name) => Some(name),
            _ => None,
        }
    }

    /// Returns the subject of its event, such as `challenge answered`: what it asked with is random and tells nothing.
    /// `None` if it tells something, as any event does.
    pub fn subject(&self, outcome: HandshakeOutcome) -> Option<String> {
        let what = self.rule.subject.as_deref()?;
        Some(match outcome {
            HandshakeOutcome::Answered => format!("{what} answered"),
            HandshakeOutcome::Unanswered => format!("{what} not answered"),
            HandshakeOutcome::Refused => format!("{what} refused"),
            HandshakeOutcome::Unasked => what.to_owned(),
        })
    }

    /// Returns the answer to the request. Returns `None` if the answer needs something that is missing, or if it would
    /// sign a text that isn't one of the provider's challenges. Pass a signer only after checking that this sender may
    /// have texts signed (Threat 11).
    pub fn answer(
        &self,
        request: &Request,
        params: &[(String, String)],
        signer: Option<(&'static Provider, &Secret)>,
    ) -> Option<HandshakeReply> {
        let answer = self.rule.answer.as_ref()?;
        let view = RequestView { params, ..RequestView::of_request(request) };
        let challenge = self.rule.challenge;
        let signer = signer.map(|(provider, secret)| Signer { provider, secret, challenge });
        let is_json = answer.headers.iter().any(|(name, value)| {
            name.eq_ignore_ascii_case("content-type") && value.to_ascii_lowercase().contains("json")
        });
        let fill = |text: &str, json: bool| AnswerText::parse(text).fill(&view, signer, json);
        let headers = answer.headers.iter().map(|(name, value)| Some((name.clone(), fill(value, false)?)));
        Some(HandshakeReply {
            status: if answer.status == 0 { 200 } else { answer.status },
            headers: headers.collect::<Option<_>>()?,
            body: fill(&answer.body, is_json)?,
        })
    }
}

impl HandshakeAnswer {
    fn needs_secret(&self) -> bool {
        let texts = self.headers.iter().map(|(_, value)| value).chain([&self.body]);
        texts.into_iter().any(|text| AnswerText::parse(text).needs_secret())
    }
}

/// Checks that the URL that confirms a set-up request may be called: it must be on one of the provider's own hosts
/// (Threat 6).
///
/// # Errors
/// Returns an [`UntrustedUrl`] if it may not be called.
pub fn confirm_url(provider: &Provider, url: &str) -> Result<(), UntrustedUrl> {
    let hosts: Vec<_> = provider.schemes.iter().flat_map(|scheme| &scheme.key_hosts).collect();
    key_url::at_host(url, &hosts).map(drop)
}

/// Whether all conditions hold. Conditions on the body are checked last.
fn applies(rule: &HandshakeRule, view: &RequestView<'_>) -> bool {
    let in_body = |place: &Place| matches!(place, Place::Json(..) | Place::Form(_));
    let (of_body, of_head): (Vec<_>, Vec<_>) =
        rule.when.iter().partition(|condition| in_body(&condition.place));
    of_head.iter().all(|condition| condition.holds(view))
        && (of_body.is_empty() || view.body.len() <= LARGEST)
        && of_body.iter().all(|condition| condition.holds(view))
}

/// Whether the second place is configured and the first has another value.
fn differ([asked, configured]: &[Place; 2], view: &RequestView<'_>) -> bool {
    let Some(configured) = configured.read(view) else { return false };
    !asked.read(view).is_some_and(|asked| constant_time_eq(&asked, &configured))
}
