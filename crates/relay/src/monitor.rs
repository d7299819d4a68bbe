//! What a monitor is told.

use std::sync::Arc;

use hookmitt_event::Timestamp;
use hookmitt_mailbox::Mailbox;

use crate::{metrics::Present, relay::Relay, tls::Tls};

/// Returns all metrics as text, or `None` if the store can't say what it holds.
pub(crate) async fn told<M: Mailbox>(relay: Arc<Relay<M>>) -> Option<String> {
    let usage = match relay.mailbox.usage().await {
        Ok(usage) => usage,
        Err(error) => {
            tracing::warn!(%error, "the store can't say what it holds");
            return None;
        }
    };
    let since = usage.oldest.map(|at| relay.now().since(Timestamp::from_micros(at)));
    let present = Present {
        usage,
        oldest_age: since.unwrap_or_default(),
        devices: relay.sessions.count(),
        outgoing: relay.outgoing.held(),
        certificate: relay.tls.as_ref().and_then(Tls::good_until),
    };
    relay.metrics.text(&present).ok()
}
