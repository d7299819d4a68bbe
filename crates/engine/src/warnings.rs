//! What a person should know about.

use crate::{Engine, unencrypted::Unencrypted};

impl Engine {
    /// Returns what a person should know about, such as secrets that could not be read.
    pub fn warnings(&self) -> Vec<String> {
        let warnings = self.damage().into_iter().chain(self.recovered());
        let warnings = warnings.chain(self.secret_warnings()).chain(self.keeping.disk_warning());
        let hindrance = self.delivery.hindrance().map(|error| format!("deliveries can't start yet: {error}"));
        warnings.chain(self.base.tasks.warnings()).chain(hindrance).collect()
    }

    /// Returns what a person should know about the secrets.
    pub fn secret_warnings(&self) -> Vec<String> {
        let (secrets, tunnels) = (self.settings.secrets.unencrypted(), self.tunnels.unencrypted());
        let unencrypted = Unencrypted { secrets, api_keys: self.sync.unencrypted(), tunnels }.warning();
        unencrypted.into_iter().chain(self.settings.secrets.warnings()).collect()
    }

    /// Says that the inbox was found damaged, so that nothing is stored.
    pub fn damage(&self) -> Option<String> {
        let why = self.base.inbox.damage()?;
        Some(format!(
            "the inbox is damaged ({why}): nothing is stored; start hookmitt again, and it recovers"
        ))
    }

    /// Says what was recovered when the inbox was damaged, as long as the damaged file is kept.
    pub fn recovered(&self) -> Option<String> {
        let recovered = self.recovered.as_ref().filter(|recovered| recovered.kept.exists());
        recovered.map(ToString::to_string)
    }
}
