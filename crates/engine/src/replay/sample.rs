//! Makes sample events with genuine signatures, and sends them.

use std::{sync::Arc, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use hookmitt_event::{DeliveryId, DeliveryState, EventId, Request, SignedWith, Slug, Verdict, Via};
use hookmitt_forward::{Envelope, Outcome, TargetUrl, send};
use hookmitt_inbox::Route;
use hookmitt_verify::{Provider, SampleError, Secret, SignError, provider, sample, sample_types};
use serde::{Deserialize, Serialize};

use super::replays::{AttemptLine, Replays};
use crate::{
    EngineError, SecretText,
    base::Base,
    capture::Capture,
    judging::{Arrival, Page, handler_url, signed},
    settings::{ConfiguredSource, Settings},
};

/// A request to send samples.
#[derive(Clone, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SampleRequest {
    /// The catalogue id of the provider.
    pub provider: String,
    /// The event type; if absent, the provider's usual one.
    #[serde(default)]
    pub r#type: Option<String>,
    /// The URL to which the samples are sent.
    pub to: String,
    /// The source whose secret signs, and in which the samples are stored; if absent, the one named like the provider,
    /// or, for a URL of our own capture port, the one that it names.
    #[serde(default)]
    pub source: Option<Slug>,
    /// A secret to sign with instead of the source's, in base64.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    pub secret_base64: Option<SecretText>,
    /// The name of that secret.
    #[serde(default)]
    pub secret_name: Option<String>,
    /// A body to send instead of the sample's, in base64.
    #[serde(default)]
    pub data_base64: Option<String>,
    /// How many samples to send, 1 (default) to 1,000; each has its own id.
    #[serde(default)]
    pub times: Option<u32>,
}

impl SampleRequest {
    /// Fails if the provider has samples but none of the requested type. With a body of one's own, any type is
    /// accepted.
    fn check_type(&self, provider: &Provider) -> Result<(), SampleError> {
        let types = sample_types(provider);
        match &self.r#type {
            Some(kind)
                if self.data_base64.is_none() && !types.is_empty() && !types.contains(&kind.as_str()) =>
            {
                Err(SampleError::Type {
                    provider: provider.name.clone(),
                    kind: kind.clone(),
                    types: types.into_iter().map(str::to_owned).collect(),
                })
            }
            _ => Ok(()),
        }
    }
}

/// The outcome of the samples that were sent.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct Sent {
    /// The outcome of each sample.
    pub items: Vec<AttemptLine>,
    /// Which secret signed, in words; null if none did.
    pub secret: Option<String>,
    /// Why no secret signed, in words: the provider signs nothing. Null if a secret signed.
    pub unsigned: Option<String>,
}

/// A sample, and which secret signed it.
struct Sample {
    request: Request,
    /// The secret, in words; `None` if the provider signs nothing.
    secret: Option<String>,
    with: SignedWith,
}

/// How long a sample that goes straight to our own capture port may take.
const STRAIGHT: Duration = Duration::from_secs(30);

/// Makes samples and sends them.
#[derive(Clone, Debug)]
pub struct Samples {
    base: Arc<Base>,
    settings: Arc<Settings>,
    capture: Arc<Capture>,
    replays: Replays,
}

impl Samples {
    pub(crate) fn new(settings: Arc<Settings>, capture: Arc<Capture>, replays: Replays) -> Self {
        Self { base: Arc::clone(&settings.base), settings, capture, replays }
    }

    /// Signs samples, stores them (`via` is `send`), delivers them, and waits for one attempt of each. Samples for our
    /// own capture port are posted to it, as the provider would do. If the provider signs nothing, the samples are sent
    /// unsigned. Returns the outcome of each sample, and which secret signed.
    ///
    /// # Errors
    /// Fails if the provider is unknown, the URL is bad, or a body or a secret can't be used.
    pub async fn send(&self, order: SampleRequest) -> Result<Sent, EngineError> {
        let provider =
            provider(&order.provider).ok_or_else(|| EngineError::UnknownProvider(order.provider.clone()))?;
        let times = order.times.unwrap_or(1);
        if !(1..=1_000).contains(&times) {
            return Err(EngineError::BadInput(format!("can't send {times} times: use 1 to 1000")));
        }
        order.check_type(provider)?;
        let url = TargetUrl::from_shorthand(&order.to)?;
        let straight = self.settings.own.hold(&url).await;
        let at_relay = self.settings.own.path_at_relay(&url);
        let at_port = straight && at_relay.is_none();
        let called = at_relay.or_else(|| straight.then(|| url.request_target("", None)));
        let signer = Arc::new(self.signer(&order, provider, called.as_deref()).await?);
        let (mut items, mut used) = (Vec::new(), None);
        for _ in 0..times {
            let sample = self.signed_sample(&order, provider, &signer, (&url, at_port))?;
            let Sample { request, secret, with } = sample;
            used = secret;
            items.push(if straight {
                let line = through_own_port(&url, request).await;
                if let Some(id) = line.event_id {
                    self.base.inbox.set_signed_with(id, with).await?;
                }
                line
            } else {
                self.deliver_sample(&signer, request, with, &url).await?
            });
        }
        let unsigned = used.is_none().then(|| format!("{} signs nothing", provider.name));
        Ok(Sent { items, secret: used, unsigned })
    }

    /// Returns the source whose secret signs: the one that the request names, else the one that is called here or
    /// through a relay of ours, by this path, else the one named like the provider.
    async fn signer(
        &self,
        order: &SampleRequest,
        provider: &'static Provider,
        own: Option<&str>,
    ) -> Result<ConfiguredSource, EngineError> {
        let in_url = own.and_then(|path| {
            path.trim_start_matches('/').split(['/', '?']).next().and_then(|slug| slug.parse().ok())
        });
        let slug = match order.source.clone().or(in_url) {
            Some(slug) => slug,
            None => provider.id.replace('.', "-").parse()?,
        };
        if own.is_none() {
            self.settings.ensure_source(&slug).await?;
        }
        let known = self.settings.now().sources.get(slug.as_str()).cloned();
        let mut source = match &known {
            Some(known) => known.source.clone(),
            None => unmade(slug),
        };
        source.provider = Some(provider.id.clone());
        let has_secret = known.as_ref().is_some_and(|known| known.has_secret);
        let mut secrets = known.map(|known| known.secrets.clone()).unwrap_or_default();
        if let Some(text) = &order.secret_base64 {
            let value = text.decoded();
            let mut value =
                value.map_err(|_| EngineError::BadInput("the secret isn't valid base64".to_owned()))?;
            let label = order.secret_name.clone().unwrap_or_else(|| "given".to_owned());
            secrets.insert(0, Secret::new(label, std::mem::take(&mut *value)));
        }
        Ok(ConfiguredSource::new(source, secrets, has_secret).with_keys(self.settings.keys.clone()))
    }

    /// Makes a sample and signs it, unless the provider signs nothing.
    fn signed_sample(
        &self,
        order: &SampleRequest,
        provider: &'static Provider,
        signer: &ConfiguredSource,
        (to, at_port): (&TargetUrl, bool),
    ) -> Result<Sample, EngineError> {
        let seed = EventId::fresh().to_string();
        let mut request = sample(provider, order.r#type.as_deref(), &seed, self.base.now())?;
        if let Some(text) = &order.data_base64 {
            let body = STANDARD
                .decode(text)
                .map_err(|error| EngineError::BadInput(format!("the body isn't valid base64: {error}")))?;
            request.body = Bytes::from(body);
        }
        // If something stands in front of our own port, the provider signs the public URL, not the port's.
        let tail = |public: &str| {
            let path = to.request_target(&request.path, request.query.as_deref());
            let rest = path.trim_start_matches('/').split_once('/').map(|(_, rest)| format!("/{rest}"));
            format!("{}{}", public.trim_end_matches('/'), rest.unwrap_or_default())
        };
        let public = signer.source.public_url.as_deref().filter(|_| at_port).map(tail);
        let url = public.unwrap_or_else(|| handler_url(to, None, &request));
        // A sample has fresh ids already; a body of one's own may have an old one.
        let fresh_id = order.data_base64.as_ref().map(|_| seed.as_str());
        let signed = match signed(signer, &request, fresh_id, Some(&url), self.base.now()) {
            Err(EngineError::Sign(SignError::SignsNothing(_))) => {
                return Ok(Sample { request, secret: None, with: SignedWith::Nothing });
            }
            tried => tried?,
        };
        let given = order.secret_base64.as_ref().and(order.secret_name.as_ref());
        let secret = given.map_or(signed.secret, |name| format!("the secret {name}"));
        Ok(Sample { request: signed.request, secret: Some(secret), with: signed.with })
    }

    async fn deliver_sample(
        &self,
        signer: &Arc<ConfiguredSource>,
        request: Request,
        with: SignedWith,
        url: &TargetUrl,
    ) -> Result<AttemptLine, EngineError> {
        let target = self.replays.once(url.as_str()).await?;
        let received_at = self.base.now();
        let seen = signer.signs_url(&request).then(|| handler_url(url, None, &request));
        let arrival =
            Arrival { request, url: seen, remote: None, received_at, via: Via::Send, page: Page::default() };
        let mut event = signer.judge(arrival).event;
        event.route = Route::To(vec![target]);
        let stored = self.capture.store_unanswered(signer, event).await?;
        self.base.inbox.set_signed_with(stored.id, with).await?;
        self.replays.outcome(DeliveryId { event: stored.id, number: 1 }).await
    }
}

/// Returns a source with default settings that is not stored.
fn unmade(slug: Slug) -> hookmitt_event::Source {
    hookmitt_event::Source {
        row: 0,
        slug,
        provider: None,
        provider_from: None,
        on_invalid: Default::default(),
        on_duplicate: Default::default(),
        public_url: None,
        allowed_hosts: Default::default(),
        tolerance_s: None,
        answer: Default::default(),
        generic: None,
        params: Default::default(),
        confirm: false,
        sync: hookmitt_event::SyncSettings::default(),
        auto_created: false,
    }
}

/// Posts a sample to our own capture port, as its provider would.
async fn through_own_port(url: &TargetUrl, request: Request) -> AttemptLine {
    let id = EventId::fresh();
    let envelope = Envelope {
        request: &request,
        event_id: id,
        delivery_id: DeliveryId { event: id, number: 1 },
        attempt: 1,
        verdict: Verdict::Unsigned,
        replay: false,
        preserve_host: false,
        hookmitt_headers: false,
    };
    let outcome = send(url, &envelope, STRAIGHT, &hookmitt_forward::tls()).await;
    let none = AttemptLine {
        event_id: None,
        delivery_id: None,
        status: DeliveryState::Failed,
        response_status: None,
        error: None,
    };
    match outcome {
        Outcome::Answered { response, .. } => {
            let fine = (200..300).contains(&response.status);
            let event_id = response.headers.get_str("x-hookmitt-event-id").and_then(|id| id.parse().ok());
            let status = if fine { DeliveryState::Completed } else { DeliveryState::Failed };
            let error = (!fine).then(|| format!("answered {}", response.status));
            AttemptLine { event_id, status, response_status: Some(response.status), error, ..none }
        }
        Outcome::Unreachable(silence) => AttemptLine { error: Some(silence.error), ..none },
        Outcome::Hindered { error } | Outcome::Broken { error, .. } => {
            AttemptLine { error: Some(error), ..none }
        }
    }
}
