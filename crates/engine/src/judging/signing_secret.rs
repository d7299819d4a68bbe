//! Which secret of a source signs.

use hookmitt_verify::{PairKind, Provider, Secret, TestKeyPair};

use crate::settings::ConfiguredSource;

impl ConfiguredSource {
    /// The secret that signs: a test key's private half where the provider's own is private, else the first.
    pub(crate) fn signing_secret(&self, provider: &Provider) -> Option<&Secret> {
        let test =
            PairKind::of(provider).and_then(|_| self.secrets.iter().find(|one| pair_of(one).is_some()));
        test.or_else(|| self.secrets.first())
    }
}

/// The test key pair that a secret is, if it is one.
pub(crate) fn pair_of(secret: &Secret) -> Option<TestKeyPair> {
    TestKeyPair::from_pem(std::str::from_utf8(secret.value().expose()).ok()?).ok()
}
