//! Signs requests as the provider would: with which secret, and for which URL if the provider signs the URL.

use hookmitt_event::{GenericScheme, Request, SignedWith, Target, TargetId, Timestamp};
use hookmitt_forward::TargetUrl;
use hookmitt_verify::{PairKind, Provider, Secret, SignBy, TestKeyPair, providers, sign, test_secret};

use crate::{
    EngineError,
    settings::{ConfiguredSource, Settings},
};

impl ConfiguredSource {
    /// Returns the secret that signs: a test key's private half if the provider's own key is private, else the first
    /// secret.
    pub(crate) fn signing_secret(&self, provider: &Provider) -> Option<&Secret> {
        let test =
            PairKind::of(provider).and_then(|_| self.secrets.iter().find(|one| pair_of(one).is_some()));
        test.or_else(|| self.secrets.first())
    }
}

/// Returns the test key pair in a secret, if it is one.
pub(crate) fn pair_of(secret: &Secret) -> Option<TestKeyPair> {
    TestKeyPair::from_pem(std::str::from_utf8(secret.value().expose()).ok()?).ok()
}

/// Returns the URL that the handler behind a target sees, if the source's provider signs the URL.
pub(crate) fn seen_url(
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
    pub(crate) fn signs_url(&self, request: &Request) -> bool {
        let own = self.source.generic.as_ref().and_then(|generic| generic.signed_content.as_deref());
        let in_own = own.is_some_and(|content| {
            ["{url", "{path_query", "{query:"].iter().any(|place| content.contains(place))
        });
        in_own || self.provider_of(request).is_some_and(Provider::signs_url)
    }
}

/// A request that was signed here.
pub(crate) struct Signed {
    pub(crate) request: Request,
    /// Which secret signed, in words.
    pub(crate) secret: String,
    /// Which secret signed, as it is stored with the event.
    pub(crate) with: SignedWith,
}

/// Returns where a source's own scheme puts the signature, or `None` if the scheme doesn't sign.
pub(crate) fn place_of(generic: &GenericScheme) -> Option<String> {
    let places = [&generic.signature_at, &generic.signature_header];
    places.into_iter().flatten().find(|place| !place.is_empty()).cloned()
}

/// Signs a request with the source's signing secret. `None` if the source has none, or if nobody knows who sends to it.
///
/// # Errors
/// Fails if the request can't be signed.
pub(crate) fn signed_with_own(
    known: &ConfiguredSource,
    request: &Request,
    url: Option<&str>,
    now: Timestamp,
) -> Result<Option<Request>, EngineError> {
    let generic = known.source.generic.as_ref();
    let provider = known.provider_of(request).or_else(|| generic.and_then(|_| providers().next()));
    if provider.is_none_or(|provider| known.signing_secret(provider).is_none()) {
        return Ok(None);
    }
    Ok(Some(signed(known, request, None, url, now)?.request))
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
