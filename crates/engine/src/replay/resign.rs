//! Requests signed anew: by which secret, and for which URL where the provider signs that.

use hookmitt_event::{Event, EventId, GenericScheme, Request, SignedWith, Target, TargetId, Timestamp, Via};
use hookmitt_forward::TargetUrl;
use hookmitt_verify::{Provider, SignBy, providers, sign, test_secret};

use super::edit::Edit;
use crate::{
    EngineError,
    settings::{ConfiguredSource, Settings},
};

/// An edited request, and where it goes.
pub(super) struct Edited {
    pub(super) request: Request,
    /// The URL that was signed, where the provider signs one.
    pub(super) url: Option<String>,
    /// Which secret signed.
    pub(super) secret: Option<String>,
    /// The same, as it is kept with the event; none where that isn't known.
    pub(super) signed_with: Option<SignedWith>,
    pub(super) targets: Vec<TargetId>,
}

/// The event's request with the changes; one for each URL where the provider signs that and the targets differ.
///
/// # Errors
/// An edit that can't be made, a signature that can't be.
pub(super) fn edited(
    settings: &Settings,
    event: &Event,
    edit: &Edit,
    targets: Vec<TargetId>,
) -> Result<Vec<Edited>, EngineError> {
    let changed = edit.apply(&event.request)?;
    if !edit.resign && edit.fresh_id {
        let message = "a fresh id needs a fresh signature: ask for `resign` too";
        return Err(EngineError::BadInput(message.to_owned()));
    }
    if !edit.resign {
        // It carries what its parent carries.
        let captured = !matches!(event.via, Via::Send | Via::Edit);
        let signed_with = event.signed_with.clone().or(captured.then_some(SignedWith::Nothing));
        return Ok(vec![Edited { request: changed, url: None, secret: None, signed_with, targets }]);
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
        made.push(Edited { request, url, secret, signed_with, targets: vec![target] });
    }
    Ok(made)
}

/// The URL that the handler behind a target sees, where the source's provider signs it.
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

/// The URL of a request once it is joined to its target's, as the handler sees it.
pub(crate) fn handler_url(url: &TargetUrl, target: Option<&Target>, request: &Request) -> String {
    let scheme = url.as_str().split("://").next().unwrap_or("http");
    let kept = target.filter(|target| target.preserve_host).and_then(|_| request.headers.get_str("host"));
    let host = kept.unwrap_or(url.authority());
    format!("{scheme}://{host}{}", url.request_target(&request.path, request.query.as_deref()))
}

impl ConfiguredSource {
    /// Whether what it sends is signed together with the URL.
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
    /// The secret, in words.
    pub(super) secret: String,
    /// The same, as it is kept with the event.
    pub(super) with: SignedWith,
}

/// Where a scheme of the source's own writes its signature; none where it doesn't sign.
pub(crate) fn place_of(generic: &GenericScheme) -> Option<String> {
    let places = [&generic.signature_at, &generic.signature_header];
    places.into_iter().flatten().find(|place| !place.is_empty()).cloned()
}

/// The request signed anew with the source's first secret, else with the public test secret.
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
        let hint = format!("`hookmitt source edit {} --provider ID` says how it signs", known.source.slug);
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
