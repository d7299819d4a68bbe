//! Senders that are held until the app has answered: the app may be at another relay, and others ask whether it is at this
//! one, so that no sender is held for nobody.

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

/// How often an answer is offered to other relays: word that one of them waits may be on its way still.
const TRIES: u32 = 4;

/// The pause between two tries.
const PAUSE: Duration = Duration::from_millis(50);

/// How long the server may take to know that we listen. Its silence holds nobody for longer.
const LISTENING: Duration = Duration::from_secs(5);

/// How long another relay may take to say that a device is there. One that is silent may have it.
const ASKING: Duration = Duration::from_millis(500);

/// Who waits at this relay for which event's answer.
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

/// Begins to wait.
pub(super) async fn hold(
    store: &Arc<Store>,
    senders: &HeldSenders,
    event: [u8; 16],
) -> Result<NatsHeld, MailboxError> {
    store.check_open()?;
    let listened = tokio::time::timeout(LISTENING, listen(store, event)).await;
    let silent = || MailboxError::Failed("the NATS server is silent".to_owned());
    let elsewhere = listened.unwrap_or_else(|_| Err(silent()))?;
    let here = senders.add(event);
    Ok(NatsHeld { event, store: Arc::clone(store), senders: senders.clone(), here, elsewhere })
}

/// Listens for an answer from another relay. Without a server this takes until there is one again.
async fn listen(store: &Store, event: [u8; 16]) -> Result<Subscriber, MailboxError> {
    let failed = |why: String| MailboxError::Failed(why);
    let subscribed = store.client.subscribe(store.names.answer(&event)).await;
    let answers = subscribed.map_err(|error| failed(error.to_string()))?;
    // The server knows of it before the letter is put.
    store.client.flush().await.map_err(|error| failed(error.to_string()))?;
    Ok(answers)
}

/// Passes on the app's answer.
pub(super) async fn answer(
    store: &Store,
    senders: &HeldSenders,
    event: [u8; 16],
    reply: Reply,
) -> Result<(), MailboxError> {
    store.check_open()?;
    if let Some(here) = senders.remove(&event) {
        drop(here.send(reply)); // an error: it gave up just now
        return Ok(());
    }
    let written = postcard::to_stdvec(&Written::from(reply));
    let payload = Bytes::from(written.map_err(|error| MailboxError::Failed(error.to_string()))?);
    for round in 0..TRIES {
        match store.client.request(store.names.answer(&event), payload.clone()).await {
            Err(error) if error.kind() == RequestErrorKind::NoResponders && round + 1 < TRIES => {
                tokio::time::sleep(PAUSE).await;
            }
            // Nobody waits any more, or the one who did gave up just now: the default answer is out.
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
                    // Only so that the other relay need not wait; lost, it does.
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
pub(super) async fn is_attended_elsewhere(store: &Store, tunnel: &str) -> bool {
    let asked = store.client.request(store.names.here(tunnel), Bytes::new());
    match tokio::time::timeout(ASKING, asked).await {
        Ok(Err(error)) => error.kind() != RequestErrorKind::NoResponders,
        Ok(Ok(_)) | Err(_) => true,
    }
}

/// An answer on its way between relays.
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
