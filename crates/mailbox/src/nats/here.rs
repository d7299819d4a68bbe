//! Which tunnels have a device at a relay: others ask for it, so that no sender is held for nobody.

use std::{sync::Arc, time::Duration};

use async_nats::RequestErrorKind;
use bytes::Bytes;
use futures_util::StreamExt as _;
use tokio_util::sync::DropGuard;

use super::store::Store;

/// How long another relay may take to say so. One that is silent may have the device.
const PATIENCE: Duration = Duration::from_millis(500);

/// A device of a tunnel is here, as long as this lives.
#[derive(Debug)]
pub struct NatsPresent {
    _end: Option<DropGuard>,
}

/// Answers whoever asks for a device of the tunnel.
pub(super) async fn attend(store: &Arc<Store>, tunnel: &str) -> NatsPresent {
    let mut asked = match store.client.subscribe(store.names.here(tunnel)).await {
        Ok(asked) => asked,
        Err(error) => {
            tracing::warn!(%error, "other relays can't be told that a device is here");
            return NatsPresent { _end: None };
        }
    };
    let (client, token) = (store.client.clone(), store.closing.child_token());
    let end = token.clone().drop_guard();
    store.tasks.spawn(async move {
        while let Some(Some(message)) = token.run_until_cancelled(asked.next()).await {
            if let Some(back) = message.reply {
                let _lost = client.publish(back, Bytes::new()).await; // then we count as silent
            }
        }
    });
    NatsPresent { _end: Some(end) }
}

/// Asks whether a device of the tunnel is at another relay. The servers know at once where nobody would answer.
pub(super) async fn is_elsewhere(store: &Store, tunnel: &str) -> bool {
    let asked = store.client.request(store.names.here(tunnel), Bytes::new());
    match tokio::time::timeout(PATIENCE, asked).await {
        Ok(Err(error)) => error.kind() != RequestErrorKind::NoResponders,
        Ok(Ok(_)) | Err(_) => true,
    }
}
