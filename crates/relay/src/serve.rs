//! Runs a relay from its start to its end.

use std::{sync::Arc, time::Duration};

use hookmitt_catch::{Bound, Connections, Opener, Unencrypted, catch_on};
use hookmitt_mailbox::Mailbox;
use tokio_util::sync::CancellationToken;

use crate::{ingress::Door, monitor, options::Options, relay::Relay, tls::Tls};

/// How long senders in flight may take after the stop.
const GRACE: Duration = Duration::from_secs(10);

/// How long devices have to learn that the relay stops.
const FAREWELL: Duration = Duration::from_secs(5);

/// How often the store is swept.
const SWEEP: Duration = Duration::from_secs(60);

/// The ports of a relay.
#[derive(Debug)]
pub struct Ports {
    /// For senders and devices.
    pub public: Bound,
    /// For a monitor, if metrics are wanted.
    pub metrics: Option<Bound>,
}

/// Serves until `stop`. Then senders in flight are answered, devices are told, and the store is closed, in this order.
pub async fn serve<M: Mailbox>(
    mailbox: M,
    options: Options,
    ports: Ports,
    tls: Option<Tls>,
    stop: CancellationToken,
) {
    let relay = Arc::new(Relay::new(mailbox, options, tls.clone(), stop.clone()));
    let beside = CancellationToken::new();
    relay.tasks.spawn(keep_house(Arc::clone(&relay), beside.clone()));
    if let Some(bound) = ports.metrics {
        let telling = Arc::clone(&relay);
        let tell = move || monitor::told(Arc::clone(&telling));
        relay.tasks.spawn(hookmitt_catch::monitor(bound, |_| true, tell, beside.clone()));
    }
    match tls {
        Some(tls) => {
            relay.tasks.spawn(tls.clone().keep_fresh(beside.clone()));
            take_in(&relay, ports.public, tls, stop).await;
        }
        None => take_in(&relay, ports.public, Unencrypted, stop).await,
    }
    relay.leaving.cancel();
    beside.cancel();
    relay.tasks.close();
    if tokio::time::timeout(FAREWELL, relay.tasks.wait()).await.is_err() {
        tracing::warn!("some devices weren't told that the relay is stopping");
    }
    relay.mailbox.close().await;
}

async fn take_in<M: Mailbox>(
    relay: &Arc<Relay<M>>,
    bound: Bound,
    opener: impl Opener,
    stop: CancellationToken,
) {
    let connections = Connections { most: relay.options.connections, grace: GRACE };
    let limits = relay.options.limits.clone();
    let door = Arc::new(Door::new(Arc::clone(relay)));
    catch_on(bound, door, opener, connections, limits, stop).await;
}

async fn keep_house<M: Mailbox>(relay: Arc<Relay<M>>, stop: CancellationToken) {
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(SWEEP) => {}
        }
        relay.forget_idle();
        if let Err(error) = relay.mailbox.sweep(&relay.options.quota).await {
            tracing::error!(%error, "expired data could not be deleted");
        }
    }
}
