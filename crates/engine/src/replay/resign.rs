//! Signs requests again: with which secret, and for which URL if the provider signs the URL.

use hookmitt_event::{Event, EventId, GenericScheme, Request, SignedWith, Target, TargetId, Timestamp, Via};
use hookmitt_forward::TargetUrl;
use hookmitt_verify::{Provider, SignBy, fits_no_more, providers, sign, test_secret};

use super::edit::Edit;
use crate::{
    EngineError,
    settings::{ConfiguredSource, Settings},
};

/// An edited request, and where it goes.
pub(super) struct Edited {
    pub(super) request: Request,
    /// The URL that was signed, if the provider signs one.
    pub(super) url: Option<String>,
    /// Which secret signed, in words.
    pub(super) secret: Option<String>,
    /// Whether it still has a signature of the original, which doesn't fit any more.
    pub(super) spoilt: bool,
    /// Which secret signed, as it is stored with the event; `None` if that isn't known.
    pub(super) signed_with: Option<SignedWith>,
    pub(super) targets: Vec<TargetId>,
}

/// Returns the event's request with the changes. If the provider signs the URL and the targets' URLs differ, there is
/// one request for each URL.
///
/// # Errors
/// Fails if the edit can't be made, or if the request can't be signed.
pub(super) fn edited(
    settings: &Settings,
    event: &Event,
    edit: &Edit,
    targets: Vec<TargetId>,
) -> Result<Vec<Edited>, EngineError> {
    let changed = edit.apply(&event.request)?;
    if !edit.resign && edit.fresh_id {
        let message = "a fresh ID needs a new signature: set `resign` too";
        return Err(EngineError::BadInput(message.to_owned()));
    }
    if !edit.resign {
        // The request is not signed again, so it carries the same signature as its parent.
        let captured = !matches!(event.via, Via::Send | Via::Edit);
        let signed_with = event.signed_with.clone().or(captured.then_some(SignedWith::Nothing));
        let spoilt =
            settings.source(&event.source).is_ok_and(|known| spoils(&known, &event.request, &changed));
        return Ok(vec![Edited { request: changed, url: None, secret: None, spoilt, signed_with, targets }]);
    }
    let known = settings.source(&event.source)?;
    let id = edit.fresh_id.then(|| EventId::fresh().to_string());
    let mut made: Vec<Edited> = Vec::new();
    for target in targets {
        let url = seen_url(settings, &known, target, &changed)?;
        if let Some(same) = made.iter_mut().find(|same| same.url == url) {
            same.targets.push(target);
            continue;
        }
        let signed = signed(&known, &changed, id.as_deref(), url.as_deref(), settings.base.now())?;
        let (request, secret, signed_with) = (signed.request, Some(signed.secret), Some(signed.with));
        made.push(Edited { request, url, secret, spoilt: false, signed_with, targets: vec![target] });
    }
    Ok(made)
}

/// Whether an edited request still has a signature of the original, which doesn't fit it. Signs both with the public
/// test secret to find out whether the edit changes anything that is signed.
fn spoils(known: &ConfiguredSource, original: &Request, edited: &Request) -> bool {
    let generic = known.source.generic.as_ref();
    let Some(provider) = known.provider_of(original).or_else(|| generic.and_then(|_| providers().next()))
    else {
        return false;
    };
    let test = test_secret(provider);
    let params = &known.params;
    let at = Timestamp::from_seconds(0);
    // Any URL will do, because an edit doesn't change it.
    let url = Some("http://localhost/");
    let by = SignBy { generic, params, url, ..SignBy::new(provider, test.value.as_bytes(), at) };
    fits_no_more(&by, original, edited)
}

/// Returns the URL that the handler behind a target sees, if the source's provider signs the URL.
fn seen_url(
    settings: &Settings,
    known: &ConfiguredSource,
    target: TargetId,
    request: &Request,
) -> Result<Option<String>, EngineError> {
    if !known.signs_url(request) {
        return Ok(None);
    }
    let target = settings.target(target)?;
    Ok(Some(handler_url(&TargetUrl::parse(&target.url)?, Some(&target), request)))
}

/// Returns the URL at which the handler receives a request: the target's URL with the request's path and query
/// appended.
pub(crate) fn handler_url(url: &TargetUrl, target: Option<&Target>, request: &Request) -> String {
    let scheme = url.as_str().split("://").next().unwrap_or("http");
    let kept = target.filter(|target| target.preserve_host).and_then(|_| request.headers.get_str("host"));
    let host = kept.unwrap_or(url.authority());
    format!("{scheme}://{host}{}", url.request_target(&request.path, request.query.as_deref()))
}

impl ConfiguredSource {
    /// Whether the signature of such a request covers the URL.
    pub(super) fn signs_url(&self, request: &Request) -> bool {
        let own = self.source.generic.as_ref().and_then(|generic| generic.signed_content.as_deref());
        let in_own = own.is_some_and(|content| {
            ["{url", "{path_query", "{query:"].iter().any(|place| content.contains(place))
        });
        in_own || self.provider_of(request).is_some_and(Provider::signs_url)
    }
}

/// A request that was signed here.
pub(crate) struct Signed {
    pub(super) request: Request,
    /// Which secret signed, in words.
    pub(super) secret: String,
    /// Which secret signed, as it is stored with the event.
    pub(super) with: SignedWith,
}

/// Returns where a source's own scheme puts the signature, or `None` if the scheme doesn't sign.
pub(crate) fn place_of(generic: &GenericScheme) -> Option<String> {
    let places = [&generic.signature_at, &generic.signature_header];
    places.into_iter().flatten().find(|place| !place.is_empty()).cloned()
}

/// Signs a request again with the source's signing secret ([`ConfiguredSource::signing_secret`]), else with the public
/// test secret.
pub(crate) fn signed(
    known: &ConfiguredSource,
    request: &Request,
    fresh_id: Option<&str>,
    url: Option<&str>,
    now: Timestamp,
) -> Result<Signed, EngineError> {
    let generic = known.source.generic.as_ref();
    let provider = known.provider_of(request).or_else(|| generic.and_then(|_| providers().next()));
    let provider = provider.ok_or_else(|| {
        let hint = format!("set it with `hookmitt source edit {} --provider ID`", known.source.slug);
        EngineError::BadInput(format!("can't sign: the provider isn't known; {hint}"))
    })?;
    let test = test_secret(provider);
    let (value, secret) = match known.signing_secret(provider) {
        Some(secret) => {
            (secret.value().expose(), format!("the secret {:?} of {}", secret.label, known.source.slug))
        }
        None => (test.value.as_bytes(), format!("the public test secret {}", test.name)),
    };
    let params = &known.params;
    let by = SignBy { generic, fresh_id, url, params, ..SignBy::new(provider, value, now) };
    let is_public = value == test.value.as_bytes();
    let with = if is_public {
        SignedWith::Test(test.name.to_owned())
    } else {
        SignedWith::Own(generic.and_then(place_of))
    };
    Ok(Signed { request: sign(&by, request)?, secret, with })
}
