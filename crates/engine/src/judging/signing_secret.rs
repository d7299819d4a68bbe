//! Chooses which secret of a source signs.

use hookmitt_verify::{PairKind, Provider, Secret, TestKeyPair};

use crate::settings::ConfiguredSource;

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
