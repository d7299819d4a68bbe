//! The handshake with a relay: the upgrade to a WebSocket, the relay's challenge, our signature, and its welcome.

use bytes::Bytes;
use hookmitt_event::Timestamp;
use hookmitt_wire::{AppFrame, Depth, RelayFrame, WORDS, WORDS_HEADER};
use http::{HeaderValue, header};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_tungstenite::{
    client_async_with_config,
    tungstenite::{Error, client::IntoClientRequest as _},
};

use crate::{
    Credentials, Options, RelayProblem, TunnelError, control,
    dial::authority,
    link::{self, Heard, Pulse, Socket},
    relay_url::check_public,
};

/// A connection after a successful handshake.
pub(crate) struct Welcomed<S> {
    pub(crate) socket: Socket<S>,
    pub(crate) pulse: Pulse,
    pub(crate) public_url: String,
    pub(crate) depth: Depth,
    /// The newest position in the mailbox at the time of the welcome.
    pub(crate) newest: u64,
    pub(crate) since: Timestamp,
    /// The newest version of the protocol that both sides know.
    pub(crate) words: u8,
}

/// Performs the handshake on a new connection. The caller sets the time limit.
pub(crate) async fn hello<S: AsyncRead + AsyncWrite + Unpin>(
    stream: S,
    credentials: &Credentials,
    options: &Options,
) -> Result<Welcomed<S>, TunnelError> {
    let pulse = Pulse::new();
    let (mut socket, words) = upgrade(Heard::new(stream, pulse.clone()), credentials, options).await?;
    let nonce = match link::next(&mut socket).await? {
        RelayFrame::Challenge { nonce } => nonce,
        frame => return Err(no(frame)),
    };
    let hello = AppFrame::Hello {
        tunnel: credentials.tunnel.clone(),
        device: credentials.device_key(),
        signature: Bytes::copy_from_slice(&credentials.sign_hello(&nonce)),
        app: options.app.clone(),
        window: options.window,
        window_bytes: options.window_bytes,
    };
    link::send(&mut socket, &hello).await?;
    match link::next(&mut socket).await? {
        RelayFrame::Welcome { public_url, depth, newest, now: _ } => {
            check_public(&public_url)?;
            Ok(Welcomed { socket, pulse, public_url, depth, newest, since: options.clock.now(), words })
        }
        frame => Err(no(frame)),
    }
}

/// Turns an unexpected frame, which ends the connection, into an error.
pub(crate) fn no(frame: RelayFrame) -> TunnelError {
    match frame {
        RelayFrame::Refused { code, message } => {
            TunnelError::Refused(RelayProblem { code, message, hint: None })
        }
        _ => TunnelError::Protocol("it sent an unexpected message"),
    }
}

async fn upgrade<S: AsyncRead + AsyncWrite + Unpin>(
    stream: Heard<S>,
    credentials: &Credentials,
    options: &Options,
) -> Result<(Socket<S>, u8), TunnelError> {
    let url = format!("ws://{}/-/v1/tunnel", authority(&credentials.relay));
    let mut request = url.into_client_request().map_err(|_| TunnelError::Url("its host can't be used"))?;
    if let Ok(app) = HeaderValue::from_str(&options.app) {
        request.headers_mut().insert(header::USER_AGENT, app);
    }
    request.headers_mut().insert(WORDS_HEADER, HeaderValue::from(u16::from(WORDS)));
    match client_async_with_config(request, stream, Some(link::config())).await {
        Ok((socket, answer)) => {
            let told = answer.headers().get(WORDS_HEADER).and_then(|words| words.to_str().ok()?.parse().ok());
            Ok((socket, told.unwrap_or(1).min(WORDS)))
        }
        Err(Error::Http(answer)) => {
            let body = answer.body().as_deref().unwrap_or_default();
            Err(control::problem(answer.status().as_u16(), body))
        }
        Err(error) => Err(link::broken(&error)),
    }
}
