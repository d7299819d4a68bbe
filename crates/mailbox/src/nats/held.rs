//! Senders that are held until the app has answered. The app may be connected to another relay, so relays pass answers
//! on, and ask each other whether a device is connected, so that no sender is held for nobody.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_nats::{RequestErrorKind, Subscriber};
use bytes::Bytes;
use futures_util::StreamExt as _;
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;
use tokio_util::sync::DropGuard;

use super::store::Store;
use crate::{Held, MailboxError, Reply};

/// How often an answer is offered to other relays, because the subscription of the relay that waits may not be known
/// everywhere yet.
const TRIES: u32 = 4;

/// The pause between two tries.
const PAUSE: Duration = Duration::from_millis(50);

/// How long to wait for the server to confirm a subscription. A silent server delays no sender for longer.
const LISTENING: Duration = Duration::from_secs(5);

/// How long another relay may take to say that a device is connected to it. A relay that stays silent may have the
/// device.
const ASKING: Duration = Duration::from_millis(500);

/// The senders that wait at this relay, by the event whose answer they wait for.
#[derive(Clone, Debug, Default)]
pub(super) struct HeldSenders(Arc<Mutex<HashMap<[u8; 16], oneshot::Sender<Reply>>>>);

impl HeldSenders {
    fn add(&self, event: [u8; 16]) -> oneshot::Receiver<Reply> {
        let (reply, answer) = oneshot::channel();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(event, reply);
        answer
    }

    fn remove(&self, event: &[u8; 16]) -> Option<oneshot::Sender<Reply>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(event)
    }
}

/// A sender that is held.
#[derive(Debug)]
pub struct NatsHeld {
    event: [u8; 16],
    store: Arc<Store>,
    senders: HeldSenders,
    here: oneshot::Receiver<Reply>,
    elsewhere: Subscriber,
}

/// Starts to wait for an answer.
pub(super) async fn hold(
    store: &Arc<Store>,
    senders: &HeldSenders,
    event: [u8; 16],
) -> Result<NatsHeld, MailboxError> {
    store.check_open()?;
    let listened = tokio::time::timeout(LISTENING, listen(store, event)).await;
    let silent = || MailboxError::Failed("the NATS server doesn't answer".to_owned());
    let elsewhere = listened.unwrap_or_else(|_| Err(silent()))?;
    let here = senders.add(event);
    Ok(NatsHeld { event, store: Arc::clone(store), senders: senders.clone(), here, elsewhere })
}

/// Subscribes to answers from other relays. Without a connection to a server, this waits until there is one again.
async fn listen(store: &Store, event: [u8; 16]) -> Result<Subscriber, MailboxError> {
    let failed = |why: String| MailboxError::Failed(why);
    let subscribed = store.client.subscribe(store.names.answer(&event)).await;
    let answers = subscribed.map_err(|error| failed(error.to_string()))?;
    // Flushed so that the server knows the subscription before the letter is put.
    store.client.flush().await.map_err(|error| failed(error.to_string()))?;
    Ok(answers)
}

/// Passes on the app's answer to the sender, at this relay or at another one.
pub(super) async fn answer(
    store: &Store,
    senders: &HeldSenders,
    event: [u8; 16],
    reply: Reply,
) -> Result<(), MailboxError> {
    store.check_open()?;
    if let Some(here) = senders.remove(&event) {
        drop(here.send(reply)); // fails if the sender has just stopped waiting
        return Ok(());
    }
    let written = postcard::to_stdvec(&Written::from(reply));
    let payload = Bytes::from(written.map_err(|error| MailboxError::Failed(error.to_string()))?);
    for round in 0..TRIES {
        match store.client.request(store.names.answer(&event), payload.clone()).await {
            Err(error) if error.kind() == RequestErrorKind::NoResponders && round + 1 < TRIES => {
                tokio::time::sleep(PAUSE).await;
            }
            // Either the answer arrived, or nobody waits any more and the sender got the default answer.
            _ => return Ok(()),
        }
    }
    Ok(())
}

impl Held for NatsHeld {
    async fn answer(mut self, limit: Duration) -> Option<Reply> {
        let end = tokio::time::sleep(limit);
        tokio::pin!(end);
        tokio::select! {
            reply = &mut self.here => reply.ok(),
            message = self.elsewhere.next() => {
                let message = message?;
                if let Some(back) = message.reply {
                    // Only tells the other relay that it need not try again; if this is lost, that relay waits.
                    let _lost = self.store.client.publish(back, Bytes::new()).await;
                }
                postcard::from_bytes::<Written>(&message.payload).ok().map(Reply::from)
            }
            () = &mut end => None,
        }
    }
}

impl Drop for NatsHeld {
    fn drop(&mut self) {
        self.senders.remove(&self.event);
    }
}

/// Says that a device of a tunnel is connected to this relay, for as long as it lives.
#[derive(Debug)]
pub struct NatsPresent {
    _end: Option<DropGuard>,
}

/// Answers other relays that ask whether a device of the tunnel is connected.
pub(super) async fn attend(store: &Arc<Store>, tunnel: &str) -> NatsPresent {
    let mut asked = match store.client.subscribe(store.names.here(tunnel)).await {
        Ok(asked) => asked,
        Err(error) => {
            tracing::warn!(%error, "other relays can't be told that a device has connected here");
            return NatsPresent { _end: None };
        }
    };
    let (client, token) = (store.client.clone(), store.closing.child_token());
    let end = token.clone().drop_guard();
    store.tasks.spawn(async move {
        while let Some(Some(message)) = token.run_until_cancelled(asked.next()).await {
            if let Some(back) = message.reply {
                let _lost = client.publish(back, Bytes::new()).await; // if lost, this relay counts as silent
            }
        }
    });
    NatsPresent { _end: Some(end) }
}

/// Asks whether a device of the tunnel is connected to another relay. If no relay listens, the servers say so at once.
pub(super) async fn is_attended_elsewhere(store: &Store, tunnel: &str) -> bool {
    let asked = store.client.request(store.names.here(tunnel), Bytes::new());
    match tokio::time::timeout(ASKING, asked).await {
        Ok(Err(error)) => error.kind() != RequestErrorKind::NoResponders,
        Ok(Ok(_)) | Err(_) => true,
    }
}

/// An answer as it is sent between relays.
#[derive(Serialize, Deserialize)]
struct Written {
    status: u16,
    headers: Vec<(String, Bytes)>,
    body: Bytes,
}

impl From<Reply> for Written {
    fn from(Reply { status, headers, body }: Reply) -> Self {
        Self { status, headers, body }
    }
}

impl From<Written> for Reply {
    fn from(Written { status, headers, body }: Written) -> Self {
        Self { status, headers, body }
    }
}
