//! What couriers and attempts work with.

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use hookmitt_forward::Tls;

use super::bells::Bells;
use crate::{base::Base, capture::Senders, settings::Settings};

/// The inbox that they take from, the settings they send by, and who hears of the outcome.
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

    /// What https targets are trusted by; set up when first needed, for its roots take memory.
    pub(crate) fn tls(&self) -> &Tls {
        self.tls.get_or_init(hookmitt_forward::tls)
    }
}
