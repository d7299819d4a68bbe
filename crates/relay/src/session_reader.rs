//! Handles the frames that a device sends.

use std::{num::NonZeroU32, sync::atomic::Ordering, time::Duration};

use axum::extract::ws::{Message, WebSocket};
use futures_util::{StreamExt as _, stream::SplitStream};
use governor::{DefaultDirectRateLimiter, Quota as Pace, RateLimiter};
use hookmitt_event::Slug;
use hookmitt_mailbox::{Mailbox, Reply, Revocation};
use hookmitt_wire::{AppFrame, LETTER_VERSION, MAX_SOURCES, RelayFrame, SourceOffer, decode};
use tokio::sync::mpsc;

use crate::{
    devices,
    refused::{Refused, asked},
    secret::{fresh_code, hash},
    session::{Answer, End, Session},
};

/// How long a device may be silent before it counts as dead. Devices ping every ten seconds.
const SILENCE: Duration = Duration::from_secs(30);

/// For how long a one-time code is valid.
const INVITE: Duration = Duration::from_secs(60 * 60);

/// How many frames that make the store work a device may send a second over time.
const WORDS: NonZeroU32 = NonZeroU32::MIN.saturating_add(9);
/// How many of these frames it may send at once.
const BURST: NonZeroU32 = NonZeroU32::MIN.saturating_add(59);

/// How many sources a device may offer.
const MOST_SOURCES: usize = 1_000;

/// Handles a device's frames until it disconnects or breaks a rule.
pub(crate) async fn read<M: Mailbox>(
    session: &Session<'_, M>,
    stream: &mut SplitStream<WebSocket>,
    answers: mpsc::Sender<Answer>,
) -> End {
    let pace = RateLimiter::direct(Pace::per_second(WORDS).allow_burst(BURST));
    loop {
        let message = match tokio::time::timeout(SILENCE, stream.next()).await {
            Ok(Some(Ok(message))) => message,
            // A frame above the size limit ends the session here, too.
            Ok(Some(Err(_)) | None) | Err(_) => return End::Gone,
        };
        let heard = match message {
            Message::Binary(message) => heard(session, &message, &pace, &answers).await,
            Message::Ping(_) | Message::Pong(_) => spend(&pace),
            Message::Close(_) => return End::Gone,
            Message::Text(_) => Err(Refused::new("bad-frame", "frames must be binary")),
        };
        match heard {
            Ok(()) if session.left.load(Ordering::Relaxed) => return End::Gone,
            Ok(()) => {}
            Err(refused) => return refused.into(),
        }
    }
}

async fn heard<M: Mailbox>(
    session: &Session<'_, M>,
    message: &[u8],
    pace: &DefaultDirectRateLimiter,
    answers: &mpsc::Sender<Answer>,
) -> Result<(), Refused> {
    let frame = decode::<AppFrame>(message)?;
    // Acknowledgements and answers are not limited, because a device can send only as many as it got letters.
    if !matches!(frame, AppFrame::Ack { .. } | AppFrame::Answer { .. }) {
        spend(pace)?;
    }
    let mailbox = &session.relay.mailbox;
    match frame {
        AppFrame::Ack { through, also } => session.ack(through, &also),
        AppFrame::Answer { event, status, headers, body } => {
            if answers.try_send((event, Reply { status, headers, body })).is_err() {
                tracing::debug!("too many answers at once; a sender gets the default answer");
            }
            Ok(())
        }
        AppFrame::Ping { stamp } => pong(session, stamp).await,
        AppFrame::Sources(sources) => {
            let sources = checked(message.len(), sources)?;
            asked(mailbox.set_sources(session.tunnel, &session.device, sources)).await
        }
        AppFrame::Invite => invite(session).await,
        AppFrame::Leave => {
            session.left.store(true, Ordering::Relaxed);
            asked(mailbox.leave(session.tunnel, &session.device)).await
        }
        AppFrame::Introduce { letters, proof } => {
            let letters = letters.clamp(1, LETTER_VERSION);
            asked(mailbox.introduce(session.tunnel, &session.device, letters, proof)).await
        }
        AppFrame::SealingKey => session.keep_told(true).await,
        AppFrame::Devices => devices::tell(session).await,
        AppFrame::Revoke { device, before, sealing_key, notes } => {
            devices::revoke(session, Revocation { device, before, sealing_key, notes }).await
        }
        AppFrame::Hello { .. } => Err(Refused::new("bad-frame", "a second hello")),
    }
}

async fn pong<M: Mailbox>(session: &Session<'_, M>, stamp: u64) -> Result<(), Refused> {
    session.keep_told(false).await?;
    let (depth, _) = asked(session.relay.mailbox.depth(session.tunnel, &session.device)).await?;
    session.reply(RelayFrame::Pong { stamp, depth })?;
    session.tell_unserved()
}

async fn invite<M: Mailbox>(session: &Session<'_, M>) -> Result<(), Refused> {
    let code = fresh_code();
    let mailbox = &session.relay.mailbox;
    let until = asked(mailbox.add_invite(session.tunnel, hash(&code), INVITE)).await?;
    // Checked after the code is stored, so that a device that was revoked meanwhile never gets a valid code.
    let devices = asked(mailbox.devices(session.tunnel)).await?;
    if devices.iter().all(|device| device.key != session.device) {
        return Err(Refused::unknown());
    }
    session.reply(RelayFrame::Invited { code, until })
}

fn checked(bytes: usize, sources: Vec<SourceOffer>) -> Result<Vec<SourceOffer>, Refused> {
    if bytes > MAX_SOURCES {
        return Err(Refused::new("bad-frame", format!("more than {MAX_SOURCES} bytes of sources")));
    }
    if sources.len() > MOST_SOURCES {
        return Err(Refused::new("bad-frame", format!("more than {MOST_SOURCES} sources")));
    }
    if sources.iter().any(|source| source.slug.parse::<Slug>().is_err()) {
        return Err(Refused::new("bad-frame", "an invalid source name"));
    }
    Ok(sources)
}

fn spend(pace: &DefaultDirectRateLimiter) -> Result<(), Refused> {
    pace.check().map_err(|_| Refused::new("flood", "too many messages per second"))
}
