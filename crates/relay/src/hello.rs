//! The handshake: the relay sends a nonce, and the device signs it.

use std::sync::Arc;

use axum::extract::ws::{Message, WebSocket};
use ed25519_dalek::{Signature, VerifyingKey};
use futures_util::StreamExt as _;
use hookmitt_mailbox::{Device, Mailbox, Tunnel, short};
use hookmitt_wire::{AppFrame, RelayFrame, decode, encode, hello_text};

use crate::{
    refused::{Refused, asked},
    relay::Relay,
    secret::fresh_nonce,
};

/// A device that has proved who it is.
pub(crate) struct Guest {
    pub(crate) tunnel: Arc<Tunnel>,
    pub(crate) device: Device,
    pub(crate) window: usize,
    pub(crate) window_bytes: usize,
    /// The newest vocabulary that the device knows.
    pub(crate) words: u8,
}

/// Performs the handshake. Returns `None` if the other side went away.
pub(crate) async fn greet<M: Mailbox>(
    relay: &Relay<M>,
    socket: &mut WebSocket,
) -> Option<Result<Guest, Refused>> {
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
    // The nonce belongs to this connection alone, so a signature made for another one proves nothing here.
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
    tracing::info!(tunnel = short(&tunnel), device = known.name, app, "a device has connected");
    let size = |asked: u32| usize::try_from(asked).unwrap_or(usize::MAX);
    let (window, window_bytes) = (size(window), size(window_bytes));
    Ok(Guest { tunnel: found, device: known, window, window_bytes, words: 1 })
}
