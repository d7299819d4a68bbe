//! Requests signed anew: by which secret, and for which URL where the provider signs that.

use hookmitt_event::{Event, EventId, Request, Target, TargetId, Timestamp};
use hookmitt_forward::TargetUrl;
use hookmitt_verify::{Provider, SignBy, providers, sign, test_secret};

use crate::{Edit, Engine, EngineError, config::Known};

/// An edited request, and where it goes.
pub(crate) struct Edited {
    pub(crate) request: Request,
    /// The URL that was signed, where the provider signs one.
    pub(crate) url: Option<String>,
    /// Which secret signed.
    pub(crate) secret: Option<String>,
    pub(crate) targets: Vec<TargetId>,
}

impl Engine {
    /// The event's request with the changes; one for each URL where the provider signs that and the targets differ.
    ///
    /// # Errors
    /// An edit that can't be made, a signature that can't be.
    pub(crate) fn edited(
        &self,
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
            return Ok(vec![Edited { request: changed, url: None, secret: None, targets }]);
        }
        let known = self.known(&event.source)?;
        let id = edit.fresh_id.then(|| EventId::fresh().to_string());
        let mut made: Vec<Edited> = Vec::new();
        for target in targets {
            let url = self.seen_url(&known, target, &changed)?;
            if let Some(same) = made.iter_mut().find(|same| same.url == url) {
                same.targets.push(target);
                continue;
            }
            let (request, secret) = signed(&known, &changed, id.as_deref(), url.as_deref())?;
            made.push(Edited { request, url, secret: Some(secret), targets: vec![target] });
        }
        Ok(made)
    }

    /// The URL that the handler behind a target sees, where the source's provider signs it.
    fn seen_url(
        &self,
        known: &Known,
        target: TargetId,
        request: &Request,
    ) -> Result<Option<String>, EngineError> {
        if !known.signs_url(request) {
            return Ok(None);
        }
        let target = self.target(target)?;
        Ok(Some(handler_url(&TargetUrl::parse(&target.url)?, Some(&target), request)))
    }
}

/// The URL of a request once it is joined to its target's, as the handler sees it.
pub(crate) fn handler_url(url: &TargetUrl, target: Option<&Target>, request: &Request) -> String {
    let scheme = url.as_str().split("://").next().unwrap_or("http");
    let kept = target.filter(|target| target.preserve_host).and_then(|_| request.headers.get_str("host"));
    let host = kept.unwrap_or(url.authority());
    format!("{scheme}://{host}{}", url.request_target(&request.path, request.query.as_deref()))
}

impl Known {
    /// Whether what it sends is signed together with the URL.
    pub(crate) fn signs_url(&self, request: &Request) -> bool {
        let own = self.source.generic.as_ref().and_then(|generic| generic.signed_content.as_deref());
        let in_own = own.is_some_and(|content| {
            ["{url", "{path_query", "{query:"].iter().any(|place| content.contains(place))
        });
        in_own || self.provider_of(request).is_some_and(Provider::signs_url)
    }
}

/// The request signed anew with the source's first secret, else with the public test secret; and which it was.
pub(crate) fn signed(
    known: &Known,
    request: &Request,
    fresh_id: Option<&str>,
    url: Option<&str>,
) -> Result<(Request, String), EngineError> {
    let generic = known.source.generic.as_ref();
    let provider = known.provider_of(request).or_else(|| generic.and_then(|_| providers().next()));
    let provider = provider.ok_or_else(|| {
        let hint = format!("`hookmitt source edit {} --provider ID` says how it signs", known.source.slug);
        EngineError::BadInput(format!("can't sign: the provider isn't known; {hint}"))
    })?;
    let test = test_secret(provider);
    let (secret, name) = match known.signing_secret(provider) {
        Some(secret) => {
            (secret.value().expose(), format!("the secret {:?} of {}", secret.label, known.source.slug))
        }
        None => (test.value.as_bytes(), format!("the public test secret {}", test.name)),
    };
    let params = &known.params;
    let by = SignBy { generic, fresh_id, url, params, ..SignBy::new(provider, secret, Timestamp::now()) };
    Ok((sign(&by, request)?, name))
}
