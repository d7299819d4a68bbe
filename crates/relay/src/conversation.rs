//! The session of one device: letters are sent and acknowledgements received, and neither waits for the other.

use std::{
    net::IpAddr,
    pin::pin,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use axum::extract::ws::WebSocket;
use futures_util::StreamExt as _;
use hookmitt_mailbox::{Mailbox, short};
use hookmitt_wire::RelayFrame;
use tokio::sync::{OwnedSemaphorePermit, mpsc};

use crate::{
    crowd::Member,
    hello::{self, Guest},
    refused::{Refused, asked, part},
    relay::Relay,
    session::{End, Session},
    session_feed, session_reader, session_writer,
};

/// How long a device may take for its handshake.
const PATIENCE: Duration = Duration::from_secs(10);

/// How many of an app's answers may wait to be passed on. Senders whose answers exceed it get the default answer.
const MOST_ANSWERS: usize = 256;

/// How long passing on the last answers may take after the session.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

/// Performs the handshake with a device, and runs its session until one side ends it.
pub(crate) async fn receive<M: Mailbox>(
    relay: Arc<Relay<M>>,
    (remote, words): (IpAddr, u8),
    mut socket: WebSocket,
    stranger: (OwnedSemaphorePermit, Member),
) {
    let greeted = tokio::time::timeout(PATIENCE, hello::greet(&relay, &mut socket)).await;
    drop(stranger);
    match greeted {
        Ok(Some(Ok(guest))) => Box::pin(run(&relay, Guest { words, ..guest }, socket)).await,
        Ok(Some(Err(refused))) => {
            tracing::info!(remote = %remote, code = refused.code, "a device was refused");
            part(socket, Some(refused)).await;
        }
        Ok(None) | Err(_) => tracing::debug!(remote = %remote, "a connection sent nothing"),
    }
}

/// Runs a device's session until one side ends it.
async fn run<M: Mailbox>(relay: &Relay<M>, guest: Guest, socket: WebSocket) {
    let seat = relay.sessions.seat(&guest.tunnel.name, guest.device.key);
    let present = relay.mailbox.attend(&guest.tunnel.name).await;
    let session = Session::new(relay, &guest);
    let (mut sink, mut stream) = socket.split();
    let end = match welcome(&session, &guest).await {
        Err(refused) => refused.into(),
        Ok(()) => {
            let (batches, letters) = mpsc::channel(1);
            let (answers, to_pass_on) = mpsc::channel(MOST_ANSWERS);
            let mut passing = pin!(session.pass_on(to_pass_on));
            let end = tokio::select! {
                end = session_reader::read(&session, &mut stream, answers) => end,
                () = &mut passing => End::Gone,
                end = session_writer::write(&session, &mut sink, letters) => end,
                end = session_feed::fetch(&session, guest.device.cursor, batches) => end,
                end = session.keep_cursor() => end,
                end = session.keep_seen() => end,
                () = seat.replaced.cancelled() => match session.keep_told(false).await {
                    Ok(()) => Refused::elsewhere().into(),
                    Err(refused) => refused.into(),
                },
                () = relay.leaving.cancelled() => Refused::new("stopping", "the relay is stopping; try again soon").into(),
            };
            // Answers that the device sent before it went are still passed on.
            let _late = tokio::time::timeout(LAST_ANSWERS, passing).await;
            end
        }
    };
    drop((seat, present)); // held senders need not wait until the session has closed
    session.store_cursor(guest.device.cursor).await;
    let refused = match end {
        End::Refused(refused) if !session.left.load(Ordering::Relaxed) => Some(refused),
        _ => None,
    };
    let why = refused.as_ref().map_or("gone", |refused| refused.code);
    tracing::info!(
        tunnel = short(session.tunnel),
        device = guest.device.name,
        why,
        "a device has disconnected"
    );
    if let Ok(socket) = sink.reunite(stream) {
        part(socket, refused).await;
    }
}

async fn welcome<M: Mailbox>(session: &Session<'_, M>, guest: &Guest) -> Result<(), Refused> {
    let relay = session.relay;
    let (depth, newest) = asked(relay.mailbox.depth(session.tunnel, &session.device)).await?;
    let (public_url, now) = (relay.public_url(session.tunnel), relay.now().as_micros());
    session.reply(RelayFrame::Welcome { public_url, depth, newest, now })?;
    if session.words >= 2 && !guest.device.note.is_empty() {
        session.tell_key(guest.tunnel.sealing_key).await?;
    }
    Ok(())
}
