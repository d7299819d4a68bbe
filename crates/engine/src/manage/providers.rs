//! The providers that people can choose from.

use hookmitt_verify::{Confidence, PairKind, Param, Provider, providers, sample_types};
use serde::Serialize;

/// A provider that a source can be set to.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct ProviderView {
    /// The catalogue id, such as `github`.
    pub id: &'static str,
    /// The name for people, such as `GitHub`.
    pub name: &'static str,
    /// What its secrets look like and where they are found, such as `starts with whsec_, from the endpoint's page`.
    pub secret_hint: Option<&'static str>,
    /// How certain it is that the provider signs this way: `confirmed` by the provider's own code, or only
    /// `corroborated`.
    pub confidence: &'static str,
    /// Settings that its signatures depend on and that its requests don't carry.
    pub params: Vec<ParamView>,
    /// Whether the provider signs with a private key, so that only a local test key can sign in its place.
    pub private_key: bool,
    /// Whether samples of its events can be made and sent.
    pub can_send: bool,
    /// The event types of those samples, the usual one first.
    pub sample_types: Vec<&'static str>,
}

/// A setting that a provider's signatures depend on.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct ParamView {
    /// The name of the setting, such as `webhook_id`.
    pub name: &'static str,
    /// The name that is shown to people.
    pub label: &'static str,
    /// Where its value is found.
    pub hint: &'static str,
    /// Whether nothing can be verified without it.
    pub required: bool,
}

/// The providers that come first; the rest follow in the order of the catalogue.
const MOST_USED: [&str; 7] = ["stripe", "github", "shopify", "slack", "telegram", "standardwebhooks", "svix"];

/// Returns the providers whose signatures can be verified, most used first.
pub fn provider_views() -> Vec<ProviderView> {
    let mut all: Vec<_> = providers().collect();
    let place = |id: &str| MOST_USED.iter().position(|used| *used == id);
    all.sort_by_key(|provider| place(&provider.id).unwrap_or(MOST_USED.len()));
    all.into_iter().map(view).collect()
}

fn view(provider: &'static Provider) -> ProviderView {
    let sample_types = sample_types(provider);
    ProviderView {
        id: &provider.id,
        name: &provider.name,
        secret_hint: provider.secret_hint.as_deref(),
        confidence: match provider.confidence {
            Confidence::Confirmed => "confirmed",
            Confidence::Corroborated => "corroborated",
        },
        params: provider.params.iter().map(param).collect(),
        private_key: PairKind::of(provider).is_some(),
        can_send: !sample_types.is_empty(),
        sample_types,
    }
}

fn param(param: &'static Param) -> ParamView {
    ParamView { name: &param.name, label: &param.label, hint: &param.hint, required: param.required }
}
