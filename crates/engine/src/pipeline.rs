//! The product in one file: caught → judged → stored → answered → delivered.

use std::{net::SocketAddr, sync::Arc};

use hookmitt_catch::{Caught, Refusal, Reply, Share, Sink};
use hookmitt_event::{Answer, Authority, Explain as _, HeaderLines, Request, Slug, Timestamp, Verdict, Via};
use hookmitt_inbox::{Arrival, InboxError, SourceSettings, Stored};

use crate::{
    Change, Engine, EngineError,
    config::Known,
    handshake::Answered,
    judged::{Incoming, Judged},
    pages,
};

/// From this size a body is hashed on a thread of its own, so that others' answers don't wait.
const LARGE: usize = 256 * 1024;

impl Sink for Engine {
    async fn caught(&self, caught: Caught) -> Reply {
        let Caught { slug, path, query, head, body, remote, received_at, share } = caught;
        let target = head.target;
        let request =
            Request { method: head.method, path, query, version: head.version, headers: head.headers, body };
        let page = self.page_at_port(&request, &target, self.known(&slug).ok().as_deref());
        let from_outside =
            !page.is_absent() || !remote.ip().to_canonical().is_loopback() || was_passed_on(&request.headers);
        let known = match self.admit(slug, from_outside).await {
            Ok(known) => known,
            Err(refused) => return self.refuse(refused, target, remote, received_at),
        };
        let called = |(scheme, authority): (&str, &str)| {
            let authority = Authority::parse(authority).map_or("", |authority| authority.as_str());
            format!("{scheme}://{authority}/{}{}", known.source.slug, request.path_and_query())
        };
        let incoming = Incoming {
            url: known.public_url(&request).or_else(|| pages::absolute(&target).map(called)),
            request,
            remote: Some(remote.to_string()),
            received_at,
            via: Via::Direct,
            page,
        };
        self.take_in(&known, incoming, None, (target, remote), share).await
    }

    fn refused(&self, refusal: Refusal) {
        self.live.announce(Change::Refused(refusal.clone()));
        self.refusals.note(refusal);
    }
}

pub(crate) async fn judge(known: Arc<Known>, incoming: Incoming) -> Judged {
    if incoming.request.body.len() < LARGE {
        return known.judge(incoming);
    }
    tokio::task::block_in_place(|| known.judge(incoming))
}

impl Engine {
    /// Judges a request, stores it with the lines that were written on its way, and says what to answer.
    pub(crate) async fn take_in(
        &self,
        known: &Arc<Known>,
        incoming: Incoming,
        beside: Option<HeaderLines>,
        (target, remote): (String, SocketAddr),
        share: Share,
    ) -> Reply {
        let received_at = incoming.received_at;
        let Judged { mut arrival, answered } = judge(Arc::clone(known), incoming).await;
        arrival.forwarded = beside.filter(|lines| !lines.is_empty());
        let known_provider = arrival.provider.is_some();
        let is_set_up = arrival.facts.handshake.is_some();
        let waiting = self.wait_for_local(known, &answered, arrival.id);
        let stored = self.store(arrival, known).await;
        drop(share);
        match stored {
            Err(error) => self.refuse(error.into(), target, remote, received_at),
            Ok(stored) => {
                let answered = if stored.turned_away { Answered::OtherBody } else { answered };
                if is_set_up {
                    self.confirm_by_itself(known, stored.id);
                }
                let local = match waiting {
                    Some(waiting) => self.local_answer(waiting, &stored, self.senders.at_the_port()).await,
                    None => None,
                };
                match local {
                    Some(reply) => reply,
                    None => self.answer(known, &stored, &answered, known_provider).await,
                }
            }
        }
    }

    /// Stores an event and sees its deliveries off.
    pub(crate) async fn store(&self, arrival: Arrival, known: &Known) -> Result<Stored, InboxError> {
        let verdict = arrival.verdict;
        let stored = self.inbox.store(arrival).await?;
        self.see_off(&stored, verdict, known);
        Ok(stored)
    }

    /// What follows a commit: it is told, explained and delivered. `known` is what the event was judged by.
    pub(crate) fn see_off(&self, stored: &Stored, verdict: Verdict, known: &Known) {
        self.live.announce(Change::Stored(stored.seq));
        // A secret that was set meanwhile may have judged all that was stored, and missed this one.
        let is_outdated = self.known(&known.source.slug).is_ok_and(|now| !now.judges_like(known));
        match verdict {
            _ if is_outdated => self.judge_again(stored.id, &known.source.slug),
            Verdict::Invalid => self.explaining.add(stored.id),
            Verdict::Pending => drop(self.pending.add(stored.id)), // else it is looked at later
            _ => {}
        }
        for target in &stored.waiting {
            self.couriers.wake(*target);
        }
        if stored.set_provider {
            self.provider_is_found(stored.id);
        }
    }

    /// The source of that name; one is made for a sender on this machine that is no web page and no tunnel (Threat 3).
    async fn admit(&self, slug: Slug, from_outside: bool) -> Result<Arc<Known>, EngineError> {
        if let Some(known) = self.config().sources.get(slug.as_str()) {
            return Ok(Arc::clone(known));
        }
        if from_outside {
            return Err(InboxError::UnknownSource(slug.to_string()).into());
        }
        self.inbox.add_source(slug.clone(), SourceSettings::default(), true, self.clock.now()).await?;
        self.reload().await?;
        self.known(&slug)
    }

    pub(crate) async fn answer(
        &self,
        known: &Known,
        stored: &Stored,
        answered: &Answered,
        known_provider: bool,
    ) -> Reply {
        let id = stored.id.to_string();
        let settings = &known.source.answer;
        let special = self.special_answer(known, answered).await;
        let mut reply = special.unwrap_or_else(|| usual(settings, &id, known_provider));
        reply.headers.push(("x-hookmitt-event-id".to_owned(), id.into_bytes()));
        reply.delay = settings.delay();
        reply
    }

    /// The answer where it is another one than the source's settings give to every event.
    pub(crate) async fn special_answer(&self, known: &Known, answered: &Answered) -> Option<Reply> {
        let set_aside = matches!(answered, Answered::Rejected(_) | Answered::OtherBody);
        let fails = !set_aside && known.source.answer.fail_next > 0;
        if fails && self.takes_failure(&known.source.slug).await {
            return Some(Reply::problem(500, "told-to-fail", "this source was told to fail", "try again"));
        }
        answered.reply()
    }

    async fn takes_failure(&self, slug: &Slug) -> bool {
        let taken = self.inbox.take_failure(slug.clone()).await.unwrap_or(false);
        if let Err(error) = self.reload().await {
            tracing::warn!(%error, "the settings could not be read again");
        }
        taken
    }

    /// Says that a request was not stored; never with a 2xx (promise 1).
    pub(crate) fn refuse(
        &self,
        error: EngineError,
        target: String,
        remote: SocketAddr,
        at: Timestamp,
    ) -> Reply {
        let status = match &error {
            EngineError::Inbox(InboxError::UnknownSource(_) | InboxError::TooManySources) => 404,
            _ => 503,
        };
        let (code, message) = (error.code(), error.to_string());
        let hint = error.hint().unwrap_or_else(|| "try again in a moment".to_owned());
        self.refused(Refusal { at, remote, target: Some(target), status, code, message: message.clone() });
        Reply::problem(status, code, &message, &hint)
    }
}

/// Whether something on this machine passes on what came from elsewhere, such as a tunnel that was started by hand.
fn was_passed_on(headers: &HeaderLines) -> bool {
    PASSED_ON.iter().any(|name| headers.has(name))
}

/// The lines that proxies and tunnels add, each of which tells that the sender isn't on this machine.
pub(crate) const PASSED_ON: [&str; 15] = [
    "forwarded",
    "via",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-forwarded-port",
    "x-forwarded-server",
    "x-real-ip",
    "x-client-ip",
    "true-client-ip",
    "cf-connecting-ip",
    "cf-ray",
    "cdn-loop",
    "fly-client-ip",
    "fastly-client-ip",
];

/// What a source answers to an event.
fn usual(settings: &Answer, id: &str, known_provider: bool) -> Reply {
    let status = if known_provider { 200 } else { 202 };
    let body = format!(r#"{{"received":true,"id":"{id}"}}"#);
    let mut reply = Reply::json(settings.status.unwrap_or(status), settings.body.clone().unwrap_or(body));
    if settings.headers.has("content-type") {
        reply.headers.clear();
    }
    let set = settings.headers.iter().map(|line| (line.name.to_owned(), line.value.to_vec()));
    reply.headers.extend(set);
    reply
}
