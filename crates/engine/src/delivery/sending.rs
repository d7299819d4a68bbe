//! What couriers and attempts share.

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use hookmitt_forward::Tls;

use super::bells::Bells;
use crate::{base::Base, capture::Senders, settings::Settings};

/// The inbox to take deliveries from, the settings, the bells, and the senders that wait for an outcome.
pub(crate) struct Sending {
    pub(crate) base: Arc<Base>,
    pub(crate) settings: Arc<Settings>,
    pub(crate) bells: Arc<Bells>,
    pub(crate) senders: Arc<Senders>,
    tls: OnceLock<Tls>,
}

impl fmt::Debug for Sending {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Sending").field("bells", &self.bells).finish_non_exhaustive()
    }
}

impl Sending {
    pub(crate) fn new(settings: Arc<Settings>, bells: Arc<Bells>, senders: Arc<Senders>) -> Self {
        Self { base: Arc::clone(&settings.base), settings, bells, senders, tls: OnceLock::new() }
    }

    /// Returns the TLS settings for `https` targets. They are set up when first needed, because the root certificates
    /// take memory.
    pub(crate) fn tls(&self) -> &Tls {
        self.tls.get_or_init(hookmitt_forward::tls)
    }
}
