//! The port that a program leads to: a port of its own, on loopback, for one source. Requests there count as coming
//! from outside, whatever their headers say, and can reach neither the API nor another source (Threat 3).

use std::sync::Arc;

use hookmitt_catch::{Address, Caught, Refusal, RefusedHead, Reply, Sink};
use hookmitt_event::{Request, Slug, Via};
use hookmitt_inbox::InboxError;

use super::lines;
use crate::{capture::Capture, judging::Arrival, tunnels::running::Running};

/// Takes in the requests that a program forwards.
pub(super) struct OutsideDoor {
    pub(super) capture: Arc<Capture>,
    pub(super) running: Arc<Running>,
    pub(super) source: Slug,
}

impl Sink for OutsideDoor {
    async fn caught(&self, address: Address, caught: Caught) -> Reply {
        let Self { capture, .. } = self;
        let (Address { slug, path, query }, Caught { head, body, remote, received_at, share }) =
            (address, caught);
        let called =
            RefusedHead { method: head.method.clone(), target: head.target, headers: head.headers.clone() };
        let known = if slug == self.source { capture.settings.source(&slug).ok() } else { None };
        let Some(known) = known else {
            self.running.names_no_source(received_at);
            let error = InboxError::UnknownSource(slug.to_string()).into();
            return capture.refuse(error, (called, remote), body.len() as u64, received_at);
        };
        let (headers, beside) = lines::part(&head.headers);
        let caller = lines::caller(&beside);
        let request = Request { method: head.method, path, query, version: head.version, headers, body };
        let page = capture.pages.through_tunnel(&request);
        let host = || request.authority().map(|host| format!("https://{}/{}", host.as_str(), self.source));
        let base = self.running.public_url().or_else(host);
        let arrival = Arrival {
            url: base.map(|base| format!("{base}{}", request.path_and_query())),
            remote: Some(caller.map_or_else(|| remote.to_string(), |caller| caller.to_string())),
            request,
            received_at,
            via: Via::Tunnel,
            page,
        };
        let reply = capture.take_in(&known, arrival, Some(beside), (called, remote), share).await;
        if reply.headers.iter().any(|(name, _)| name == "x-hookmitt-event-id") {
            self.running.stored(received_at);
        }
        reply
    }

    fn refused(&self, refusal: Refusal) {
        self.capture.note_refusal(refusal);
    }
}
