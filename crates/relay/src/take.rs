//! Takes whole requests: seals and stores each one, and only then answers.

use std::time::Duration;

use bytes::Bytes;
use hookmitt_catch::{Caught, Head, Reply};
use hookmitt_event::{EventId, Explain as _, HttpVersion, Request, Timestamp};
use hookmitt_mailbox::{Held as _, Mailbox, MailboxError, Tunnel, short};
use hookmitt_seal::Sealed;
use hookmitt_wire::{LETTER_VERSION, Letter, Parcel, Received};
use sha2::{Digest as _, Sha256};

use crate::{
    address::is_below,
    answer::{is_held, of_app, provider_of, usual},
    ingress::Destination,
    proxies::part,
    relay::Relay,
    secret::held_key,
};

/// From this body size in bytes, sealing a letter runs as a blocking task, so that other tasks of the same thread don't
/// wait.
const LARGE: usize = 256 * 1024;

/// How often other relays are asked whether they still have a device that may answer a held sender.
const ASK_AGAIN: Duration = Duration::from_millis(500);

/// How long an app may still answer a held sender once the relay stops.
const LAST_WORD: Duration = Duration::from_secs(3);

/// A request on its way into the store.
struct Arriving {
    id: EventId,
    request: Request,
    forwarded: Bytes,
    url: String,
    received_at: Timestamp,
}

impl<M: Mailbox> Relay<M> {
    /// Takes a whole request: seals it, stores it, and returns its answer. The answer is 2xx only if the letter is
    /// stored durably.
    pub(crate) async fn take(&self, place: Destination, caught: Caught) -> Reply {
        self.metrics.accepted();
        let Caught { head, body, received_at, share, remote: _ } = caught;
        let arriving = self.arriving(&place, head, body, received_at);
        let provider = provider_of(place.offer(), &arriving.request);
        let held = is_held(place.offer(), provider, &arriving.request);
        let id = arriving.id;
        let tunnel = &place.tunnel.name;
        let waiting = if held && self.is_attended(tunnel).await { self.hold(&place, id).await } else { None };
        let stored = self.store(&place, arriving, waiting.is_some()).await;
        drop(share);
        if let Err(error) = stored {
            return self.not_stored(&place, &error).await;
        }
        self.metrics.stored();
        let answered = match waiting {
            Some(waiting) => self.held(&place, waiting).await.and_then(|answer| of_app(answer, id)),
            None => None,
        };
        answered.unwrap_or_else(|| usual(place.offer(), id, provider))
    }

    fn arriving(&self, place: &Destination, head: Head, body: Bytes, received_at: Timestamp) -> Arriving {
        let url = self.url(place);
        let (headers, forwarded) = if place.sender.through_proxy {
            let (own, forwarded) = part(&head.headers);
            (own, forwarded.as_wire().clone())
        } else {
            (head.headers, Bytes::new())
        };
        let (path, query) = (place.path.clone(), place.query.clone());
        let request = Request { method: head.method, path, query, version: head.version, headers, body };
        Arriving { id: EventId::fresh(), request, forwarded, url, received_at }
    }

    /// Returns the URL that the sender called. The scheme is the one that a trusted proxy named, else that of the
    /// public URL if the host is the relay's own, else the one that this port speaks.
    fn url(&self, place: &Destination) -> String {
        let (sender, target, public) = (&place.sender, &place.target, &self.options.public);
        let host = sender.host.as_deref().unwrap_or(public.authority());
        let is_ours = is_below(host, public.authority());
        let own = if self.tls.is_some() { "https" } else { "http" };
        let scheme = sender.scheme.unwrap_or(if is_ours { public.scheme() } else { own });
        format!("{scheme}://{host}{target}")
    }

    async fn hold(&self, place: &Destination, id: EventId) -> Option<M::Held> {
        let begun = self.mailbox.hold(held_key(&place.tunnel.name, id.as_bytes())).await;
        begun.inspect_err(|error| tracing::warn!(%error, "a sender can't be kept waiting")).ok()
    }

    /// Waits for the app's answer, for the time that a sender may be held, and only while a device is connected. When
    /// the relay stops, only a short time is left.
    async fn held(&self, place: &Destination, waiting: M::Held) -> Option<hookmitt_mailbox::Reply> {
        let too_late = async {
            self.stopping.cancelled().await;
            tokio::time::sleep(LAST_WORD).await;
        };
        tokio::select! {
            biased;
            answer = waiting.answer(self.options.hold) => answer,
            () = self.until_unattended(&place.tunnel.name) => None,
            () = too_late => None,
        }
    }

    /// Returns whether a device of the tunnel is connected, here or at another relay of the same store.
    async fn is_attended(&self, tunnel: &str) -> bool {
        self.sessions.of(tunnel).is_some() || self.mailbox.is_attended_elsewhere(tunnel).await
    }

    async fn until_unattended(&self, tunnel: &str) {
        loop {
            if let Some(left) = self.sessions.of(tunnel) {
                left.cancelled().await;
            }
            if !self.is_attended(tunnel).await {
                return;
            }
            tokio::time::sleep(ASK_AGAIN).await;
        }
    }

    async fn store(&self, place: &Destination, arriving: Arriving, held: bool) -> Result<(), MailboxError> {
        let received_at = arriving.received_at.as_micros();
        // Looked up again, because receiving the body may have taken minutes and the sealing key may have been replaced
        // meanwhile.
        let now = self.mailbox.tunnel(&place.tunnel.name).await?;
        let tunnel = now.as_ref().unwrap_or(&place.tunnel);
        let Sealed { epoch, number, data } = self.seal(tunnel, place, arriving, held)?;
        let parcel = Parcel { epoch, number, received_at, held, data: data.into() };
        self.mailbox.put(&place.tunnel.name, parcel, &self.options.quota).await.map(drop)
    }

    fn seal(
        &self,
        tunnel: &Tunnel,
        place: &Destination,
        arriving: Arriving,
        held: bool,
    ) -> Result<Sealed, MailboxError> {
        let sealer = self.sealer(tunnel).map_err(|error| MailboxError::Failed(error.to_string()))?;
        let large = arriving.request.body.len() >= LARGE;
        let received = Received { at: arriving.received_at.as_micros(), held };
        let received = (tunnel.letters >= LETTER_VERSION).then_some(received);
        let seal = || {
            let plain = Letter { received, ..letter(place, arriving) }.to_bytes(); // frees the body
            sealer.seal(&plain)
        };
        let sealed = if large { tokio::task::block_in_place(seal) } else { seal() };
        sealed.map_err(|error| MailboxError::Failed(error.to_string()))
    }

    async fn not_stored(&self, place: &Destination, error: &MailboxError) -> Reply {
        let tunnel = short(&place.tunnel.name);
        let (status, pause) = match error {
            MailboxError::QuotaFull(_) => (507, 60),
            MailboxError::DiskFull => (503, 30),
            _ => (503, 5),
        };
        match error {
            MailboxError::QuotaFull(_) => {
                tracing::warn!(tunnel, error = error.logged(), "a request could not be stored")
            }
            _ => tracing::error!(tunnel, error = error.logged(), "a request could not be stored"),
        }
        self.metrics.refused(error.code());
        self.count_refused(&place.tunnel.name, false);
        let hint = error.hint().unwrap_or_else(|| "try again in a moment".to_owned());
        let mut reply = Reply::problem(status, error.code(), &error.to_string(), &hint);
        reply.headers.retain(|(name, _)| name != "retry-after");
        reply.headers.push(("retry-after".to_owned(), pause.to_string().into_bytes()));
        reply
    }

    /// Counts a request that was refused or that named no source, without waiting for the store.
    pub(crate) fn count_refused(&self, tunnel: &str, unknown_source: bool) {
        self.mailbox.count_refused(tunnel, unknown_source);
    }
}

fn letter(place: &Destination, arriving: Arriving) -> Letter {
    let Arriving { id, request, forwarded, url, received_at: _ } = arriving;
    Letter {
        id: *id.as_bytes(),
        slug: place.offer().slug.clone(),
        method: request.method,
        path: request.path,
        query: request.query,
        http10: request.version == HttpVersion::Http10,
        headers: request.headers.as_wire().clone(),
        sha256: Sha256::digest(&request.body).into(),
        body: request.body,
        url,
        remote: place.sender.remote.clone(),
        forwarded,
        received: None,
    }
}
