//! Set-up requests: what a provider asks before, or beside, its events, and what it wants to hear.

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
    /// What the catalogue calls it, such as `url_verification`.
    pub name: &'static str,
    /// The provider signs it.
    pub signed: bool,
    /// Whether the catalogue says what it is answered. One without goes to the handler like any event.
    pub answered: bool,
    /// The answer signs a text of the sender's with the source's secret: [`Handshake::answer`] needs it then.
    pub needs_secret: bool,
    /// The secret that it delivers, which signs from now on.
    pub delivered_secret: Option<SecretBytes>,
    /// The URL whose call confirms it.
    pub confirm: Option<String>,
    /// It says something else than what is configured.
    pub refused: bool,
    rule: &'static HandshakeRule,
}

/// What a set-up request is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandshakeReply {
    /// The status.
    pub status: u16,
    /// Header lines.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
}

/// Larger bodies are no set-up requests: they are not read for one, so that capture stays quick.
const LARGEST: usize = 64 * 1024;
/// Longer texts are no secrets.
const LONGEST_SECRET: usize = 4_096;

/// The set-up request that this is, if it is one, by its provider's catalogue entry.
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
    /// What the request is answered; `None` where something is missing that the answer needs, and where it would sign
    /// what is no challenge of its provider's. Whoever gives a secret has made sure that the sender may have something
    /// signed with it (Threat 11).
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

/// Whether the URL that confirms a set-up request may be called: only one of the provider's own hosts (Threat 6).
///
/// # Errors
/// [`UntrustedUrl`] where it may not.
pub fn confirm_url(provider: &Provider, url: &str) -> Result<(), UntrustedUrl> {
    let hosts: Vec<_> = provider.schemes.iter().flat_map(|scheme| &scheme.key_hosts).collect();
    key_url::at_host(url, &hosts).map(drop)
}

/// Whether all conditions hold; those that need the body are looked at last.
fn applies(rule: &HandshakeRule, view: &RequestView<'_>) -> bool {
    let in_body = |place: &Place| matches!(place, Place::Json(..) | Place::Form(_));
    let (of_body, of_head): (Vec<_>, Vec<_>) =
        rule.when.iter().partition(|condition| in_body(&condition.place));
    of_head.iter().all(|condition| condition.holds(view))
        && (of_body.is_empty() || view.body.len() <= LARGEST)
        && of_body.iter().all(|condition| condition.holds(view))
}

/// Whether the second place is configured and the first says something else.
fn differ([asked, configured]: &[Place; 2], view: &RequestView<'_>) -> bool {
    let Some(configured) = configured.read(view) else { return false };
    !asked.read(view).is_some_and(|asked| constant_time_eq(&asked, &configured))
}
