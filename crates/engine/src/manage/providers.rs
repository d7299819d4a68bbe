//! The providers as people choose among them.

use hookmitt_verify::{Confidence, PairKind, Param, Provider, providers, sample_types};
use serde::Serialize;

/// A provider that a source can be set to.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct ProviderView {
    /// The catalogue id, such as `github`.
    pub id: &'static str,
    /// The name for people, such as `GitHub`.
    pub name: &'static str,
    /// How its secrets look and where they are found, such as `starts with whsec_, from the endpoint's page`.
    pub secret_hint: Option<&'static str>,
    /// How sure it is that it signs so: `confirmed` by the provider's own code, or `corroborated` only.
    pub confidence: &'static str,
    /// What its signatures depend on and its requests don't say.
    pub params: Vec<ParamView>,
    /// Its key is private: only a local test key can sign in its place.
    pub private_key: bool,
    /// Whether samples of its events can be made and signed.
    pub can_send: bool,
    /// The types that those samples have, the usual one first.
    pub sample_types: Vec<&'static str>,
}

/// A setting that a provider's signatures depend on.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct ParamView {
    /// Its name, such as `webhook_id`.
    pub name: &'static str,
    /// What it is called for people.
    pub label: &'static str,
    /// Where it is found.
    pub hint: &'static str,
    /// Whether nothing can be judged without it.
    pub required: bool,
}

/// Which come first; the rest follows in the catalogue's order.
const MOST_USED: [&str; 7] = ["stripe", "github", "shopify", "slack", "telegram", "standardwebhooks", "svix"];

/// The providers whose signatures can be verified, most used first.
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
