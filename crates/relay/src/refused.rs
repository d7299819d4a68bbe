//! Why a session can't go on, and how the device is told.

use std::{future::Future, time::Duration};

use axum::extract::ws::{Message, WebSocket};
use futures_util::{SinkExt as _, StreamExt as _};
use hookmitt_mailbox::MailboxError;
use hookmitt_wire::{FrameError, RelayFrame, encode};

/// Why a session can't go on, as the device is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

impl Refused {
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// The same refusal for unknown tunnels, revoked tunnels, and devices that don't belong to the tunnel, so that they
    /// can't be told apart.
    pub(crate) fn unknown() -> Self {
        let message = "this relay doesn't know this tunnel, or this device isn't part of it: the device left, was \
                       revoked or was away for too long, or the tunnel's token was revoked; add the tunnel again";
        Self::new("unknown-device", message)
    }

    /// A newer connection with the same device's key has replaced this one. If the device itself made it, it no longer
    /// listens here and does not get this refusal.
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

/// Returns the store's answer. If the store can't answer, the relay is busy.
pub(crate) async fn asked<T>(question: impl Future<Output = Result<T, MailboxError>>) -> Result<T, Refused> {
    question.await.map_err(|error| match error {
        // The tunnel's token was revoked just now, or the device left by another connection.
        MailboxError::Unknown { .. } => Refused::unknown(),
        _ => {
            tracing::error!(error = error.logged(), "the store failed while serving a device");
            Refused::new("busy", "the relay's store can't be reached; try again in a moment")
        }
    })
}

/// Sends the reason, if there is one, and closes the connection, within 2 s.
pub(crate) async fn part(mut socket: WebSocket, refused: Option<Refused>) {
    let last_words = async {
        if let Some(Refused { code, message }) = refused {
            let frame = RelayFrame::Refused { code: code.to_owned(), message };
            socket.send(Message::Binary(encode(&frame))).await?;
        }
        socket.close().await?;
        // Waits for the other side's close frame, so that ours is not lost in a TCP reset.
        while let Some(Ok(_)) = socket.next().await {}
        Ok::<_, axum::Error>(())
    };
    let _heard_or_not = tokio::time::timeout(Duration::from_secs(2), last_words).await;
}
