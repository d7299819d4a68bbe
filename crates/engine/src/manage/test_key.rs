//! Local test keys, which sign in a provider's place if the provider's own key is private.

use std::sync::Arc;

use hookmitt_event::Slug;
use hookmitt_verify::{PairKind, PublicForm, TestKeyPair, provider};
use serde::Serialize;
use zeroize::Zeroizing;

use super::Secrets;
use crate::{
    EngineError,
    judging::pair_of,
    settings::{ConfiguredSource, Settings},
};

/// The label under which the private half is stored.
const LABEL: &str = "test key";

/// A local test key pair, shown by its public half.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct TestKey {
    /// The label of the secret that is its private half.
    pub label: String,
    /// The kind of key: `ed25519`, `p256` or `rsa`.
    pub kind: &'static str,
    /// The public half in every form that exists for such a key.
    pub public: Vec<PublicHalf>,
}

/// A public key in one form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct PublicHalf {
    /// The form, such as `hex` or `PEM`.
    pub form: &'static str,
    /// The key in that form.
    pub text: String,
}

const FORMS: [(PublicForm, &str); 5] = [
    (PublicForm::Hex, "hex"),
    (PublicForm::Whpk, "whpk_"),
    (PublicForm::Spki, "base64"),
    (PublicForm::Pem, "PEM"),
    (PublicForm::Jwk, "JWK"),
];

/// The test keys of sources.
#[derive(Clone, Debug)]
pub struct TestKeys {
    settings: Arc<Settings>,
    secrets: Secrets,
}

impl TestKeys {
    pub(crate) const fn new(settings: Arc<Settings>, secrets: Secrets) -> Self {
        Self { settings, secrets }
    }

    /// Creates a test key pair for a source, replacing the one that it has, and stores the private half as a secret.
    ///
    /// # Errors
    /// Fails if the source is unknown, if its provider has no private key, or if the secret can't be stored.
    pub async fn make(&self, slug: Slug) -> Result<TestKey, EngineError> {
        let kind = kind_of(&*self.settings.source(&slug)?).ok_or_else(|| {
            let message =
                format!("{slug}'s provider signs with a shared secret, so there is no key pair to create");
            EngineError::BadInput(message)
        })?;
        let made = tokio::task::spawn_blocking(move || TestKeyPair::generate(kind)).await;
        let pair = made.map_err(|_| EngineError::Stopping)?;
        let pair = pair.map_err(|error| EngineError::BadInput(error.to_string()))?;
        let private = Zeroizing::new(pair.private_pem().into_bytes());
        self.secrets.set(slug, LABEL.to_owned(), private).await?;
        Ok(shown(&pair))
    }

    /// Returns the test key pair of a source, or `None` if it has none.
    ///
    /// # Errors
    /// Fails if there is no such source.
    pub fn of(&self, slug: &Slug) -> Result<Option<TestKey>, EngineError> {
        let known = self.settings.source(slug)?;
        let kept = known.secrets.iter().find(|secret| secret.label == LABEL);
        Ok(kept.and_then(pair_of).map(|pair| shown(&pair)))
    }
}

fn kind_of(known: &ConfiguredSource) -> Option<PairKind> {
    provider(known.source.provider.as_deref()?).and_then(PairKind::of)
}

fn shown(pair: &TestKeyPair) -> TestKey {
    let public =
        FORMS.iter().filter_map(|(form, name)| Some(PublicHalf { form: name, text: pair.public(*form)? }));
    let kind = match pair.kind() {
        PairKind::Ed25519 => "ed25519",
        PairKind::P256 => "p256",
        PairKind::Rsa => "rsa",
    };
    TestKey { label: LABEL.to_owned(), kind, public: public.collect() }
}
