//! Tells a relay of a tunnel's sources while no connection is kept.

use hookmitt_wire::{AppFrame, RelayFrame, SourceOffer};

use crate::{
    Credentials, Options, TunnelError,
    dial::{Dialled, dial},
    hello::{hello, no},
    link,
    session::fitting,
};

/// Says which sources a tunnel serves, over a short connection of its own, and returns when the relay knows them.
///
/// Letters stay in the mailbox: what the relay sends of them is not acknowledged. Must not be called while the same
/// device is connected, because a relay keeps one connection for each device. The caller sets the time limit.
///
/// # Errors
/// See [`TunnelError`].
pub async fn announce(
    credentials: &Credentials,
    sources: &[SourceOffer],
    options: &Options,
) -> Result<(), TunnelError> {
    let options = Options { window: 1, window_bytes: 1, ..options.clone() };
    let Dialled { stream, .. } = dial(&credentials.relay, &options.network).await?;
    let mut socket = hello(stream, credentials, &options).await?.socket;
    link::send(&mut socket, &fitting(sources)).await?;
    // A relay handles a device's frames in order, so that the answer to this one says that the sources are stored.
    link::send(&mut socket, &AppFrame::Ping { stamp: 1 }).await?;
    loop {
        match link::next(&mut socket).await? {
            RelayFrame::Pong { .. } => break,
            frame @ RelayFrame::Refused { .. } => return Err(no(frame)),
            _ => {}
        }
    }
    // The sources are stored; whether the goodbye arrives doesn't matter.
    let _ = socket.close(None).await;
    Ok(())
}
