//! The first words: the relay gives a nonce, the device signs it.

use std::{future::Future, sync::Arc, time::Duration};

use axum::extract::ws::{Message, WebSocket};
use ed25519_dalek::{Signature, VerifyingKey};
use futures_util::{SinkExt as _, StreamExt as _};
use hookmitt_mailbox::{Device, Mailbox, Tunnel, short};
use hookmitt_wire::{AppFrame, FrameError, RelayFrame, decode, encode, hello_text};
use tokio::sync::OwnedSemaphorePermit;

use crate::{control::Caller, crowd::Member, relay::Relay, secret::fresh_nonce, session};

/// How long the other side may take for its first word, and for its last.
const PATIENCE: Duration = Duration::from_secs(10);

/// Why a conversation can't go on, as the device is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

impl Refused {
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// Unknown tunnels, revoked ones and devices that aren't theirs: nothing is told apart.
    pub(crate) fn unknown() -> Self {
        let message = "this relay doesn't know this tunnel, or this device isn't one of it: it left, was revoked, was away \
                       for too long, or the tunnel's token was revoked; add the tunnel anew";
        Self::new("unknown-device", message)
    }

    /// A newer connection of the same device has taken its place. The device hears it only where it is not that itself.
    pub(crate) fn elsewhere() -> Self {
        Self::new("connected-elsewhere", "another hookmitt connected with this device's key")
    }
}

impl From<FrameError> for Refused {
    fn from(error: FrameError) -> Self {
        let code = if matches!(error, FrameError::Version { .. }) { "version" } else { "bad-frame" };
        Self::new(code, error.to_string())
    }
}

/// A device that is who it says.
pub(crate) struct Guest {
    pub(crate) tunnel: Arc<Tunnel>,
    pub(crate) device: Device,
    pub(crate) window: usize,
    pub(crate) window_bytes: usize,
    /// The newest words that it knows.
    pub(crate) words: u8,
}

/// Receives a device, and talks with it until one of both goes.
pub(crate) async fn receive<M: Mailbox>(
    relay: Arc<Relay<M>>,
    (caller, words): (Caller, u8),
    mut socket: WebSocket,
    stranger: (OwnedSemaphorePermit, Member),
) {
    let greeted = tokio::time::timeout(PATIENCE, greet(&relay, &mut socket)).await;
    drop(stranger);
    match greeted {
        Ok(Some(Ok(guest))) => Box::pin(session::run(&relay, Guest { words, ..guest }, socket)).await,
        Ok(Some(Err(refused))) => {
            tracing::info!(remote = %caller.0, code = refused.code, "a device was not let in");
            part(socket, Some(refused)).await;
        }
        Ok(None) | Err(_) => tracing::debug!(remote = %caller.0, "a connection said nothing"),
    }
}

/// Says why, where there is a reason, and closes; within bounds.
pub(crate) async fn part(mut socket: WebSocket, refused: Option<Refused>) {
    let last_words = async {
        if let Some(Refused { code, message }) = refused {
            let frame = RelayFrame::Refused { code: code.to_owned(), message };
            socket.send(Message::Binary(encode(&frame))).await?;
        }
        socket.close().await?;
        // The other side's farewell, so that ours is not lost in a reset.
        while let Some(Ok(_)) = socket.next().await {}
        Ok::<_, axum::Error>(())
    };
    let _heard_or_not = tokio::time::timeout(Duration::from_secs(2), last_words).await;
}

/// `None`: the other side went away.
async fn greet<M: Mailbox>(relay: &Relay<M>, socket: &mut WebSocket) -> Option<Result<Guest, Refused>> {
    let nonce = fresh_nonce();
    socket.send(Message::Binary(encode(&RelayFrame::Challenge { nonce }))).await.ok()?;
    let message = loop {
        match socket.next().await?.ok()? {
            Message::Binary(message) => break message,
            Message::Ping(_) | Message::Pong(_) => {}
            Message::Text(_) | Message::Close(_) => return None,
        }
    };
    Some(match decode::<AppFrame>(&message) {
        Ok(frame) => admitted(relay, frame, &nonce).await,
        Err(error) => Err(error.into()),
    })
}

async fn admitted<M: Mailbox>(relay: &Relay<M>, frame: AppFrame, nonce: &[u8; 32]) -> Result<Guest, Refused> {
    let AppFrame::Hello { tunnel, device, signature, app, window, window_bytes } = frame else {
        return Err(Refused::new("bad-frame", "the first word is a hello"));
    };
    // The nonce is of this connection alone, so that what was signed for another one proves nothing.
    let key = VerifyingKey::from_bytes(&device).ok();
    let signature = Signature::from_slice(&signature).ok();
    let holds = key
        .zip(signature)
        .is_some_and(|(key, signature)| key.verify_strict(&hello_text(&tunnel, nonce), &signature).is_ok());
    if !holds {
        return Err(Refused::new("bad-signature", "the hello isn't signed by this device"));
    }
    let found = asked(relay.mailbox.tunnel(&tunnel)).await?;
    let found = found.filter(|found| !found.revoked).ok_or_else(Refused::unknown)?;
    let devices = asked(relay.mailbox.devices(&tunnel)).await?;
    let known = devices.into_iter().find(|known| known.key == device).ok_or_else(Refused::unknown)?;
    let app: String = app.chars().filter(|letter| !letter.is_control()).take(80).collect();
    tracing::info!(tunnel = short(&tunnel), device = known.name, app, "a device is connected");
    let size = |asked: u32| usize::try_from(asked).unwrap_or(usize::MAX);
    let (window, window_bytes) = (size(window), size(window_bytes));
    Ok(Guest { tunnel: found, device: known, window, window_bytes, words: 1 })
}

/// What the store says; a store that can't say is busy.
pub(crate) async fn asked<T>(
    question: impl Future<Output = Result<T, hookmitt_mailbox::MailboxError>>,
) -> Result<T, Refused> {
    question.await.map_err(|error| match error {
        // Its token was revoked just now, or it left by another connection.
        hookmitt_mailbox::MailboxError::Unknown { .. } => Refused::unknown(),
        _ => {
            tracing::error!(error = error.logged(), "the store could not do what a device asked for");
            Refused::new("busy", "the relay's store can't be reached; try again in a moment")
        }
    })
}
