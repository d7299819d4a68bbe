//! Signs requests again: with which secret, and for which URL if the provider signs the URL.

use hookmitt_event::{Event, EventId, Request, SignedWith, TargetId, Timestamp, Via};
use hookmitt_verify::{SignBy, fits_no_more, providers, test_secret};

use super::edit::Edit;
use crate::{
    EngineError,
    judging::{seen_url, signed},
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
