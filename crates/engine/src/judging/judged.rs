//! Computes what is stored of a caught request: provider, verdict, facts and keys.

use hookmitt_event::{
    Cause, DedupeKey, DeliveryId, EventId, Facts, OnInvalid, ProviderFrom, Request, Source, Timestamp,
    Verdict, Via, WithheldReason, reads_as,
};
use hookmitt_inbox::{AWAITS, NewEvent, REJECTED, Route, SingleUse, object_hash};
use hookmitt_verify::{
    HandshakeOutcome, Inquiry, Judgement, Provider, PublishedKeys, facts, handshake, judge, provider,
    providers, recognise,
};
use sha2::{Digest as _, Sha256};

use super::{
    answered::{self, Answered, Asked},
    pages::{self, Page},
};
use crate::settings::ConfiguredSource;

/// A request that came in, before it is judged.
pub(crate) struct Arrival {
    pub(crate) request: Request,
    /// The URL that was called, if the source and the request don't tell it.
    pub(crate) url: Option<String>,
    pub(crate) remote: Option<String>,
    pub(crate) received_at: Timestamp,
    pub(crate) via: Via,
    pub(crate) page: Page,
}

/// A judged request, and how its sender is answered.
pub(crate) struct Judged {
    pub(crate) event: NewEvent,
    pub(crate) answered: Answered,
}

impl Judged {
    /// Withholds a set-up request whose sender can't be answered as its provider expects. `why` is said to people.
    pub(crate) fn leave_unanswered(&mut self, known: &ConfiguredSource, why: &'static str) {
        let event = &mut self.event;
        event.handshake_answer = None;
        event.route = Route::Withheld(why);
        let subject = answered::subject(known, &event.request, HandshakeOutcome::Unanswered);
        event.facts.title = subject.or(event.facts.title.take());
    }
}

impl ConfiguredSource {
    /// Returns the provider that was set, else the one that the headers reveal.
    pub(crate) fn provider_of(&self, request: &Request) -> Option<&'static Provider> {
        let set = self.source.provider.as_deref().and_then(provider);
        set.or_else(|| recognise(request))
    }

    /// Returns what verification finds as of `at`.
    pub(crate) fn judge_request(&self, request: &Request, url: &str, at: Timestamp) -> Judgement {
        let mut judgement = judge(&self.inquiry(request, url, at));
        self.want_key(&judgement);
        if let Some(cause) = self.set_up_cause(request, judgement.verdict) {
            judgement.causes = vec![cause];
            return judgement;
        }
        let fits = judgement.secret_label.is_some();
        judgement.causes.extend(self.own_causes(request, judgement.verdict, fits));
        judgement
    }

    /// Returns the cause, if any, that lies in the source's settings. `fits` says whether a secret matches the
    /// signature.
    pub(crate) fn own_causes(&self, request: &Request, verdict: Verdict, fits: bool) -> Option<Cause> {
        match verdict {
            Verdict::Unsigned | Verdict::Invalid if !fits && self.other_than_found(request).is_some() => {
                self.other_than_found(request)
            }
            Verdict::Unsigned | Verdict::NoSecret | Verdict::Unsupported if !self.has_secret => self.lacks(),
            Verdict::NoSecret if self.secrets.is_empty() => Some(Cause {
                code: "secret_unreadable".to_owned(),
                title: None,
                message: "This source has a secret, but it could not be read.".to_owned(),
                fix: "`hookmitt secret list` says why. Once it can be read, the event is verified again."
                    .to_owned(),
            }),
            Verdict::Invalid if !fits => self.unsaid_provider(request),
            _ => None,
        }
    }

    /// Returns a cause if the headers are another provider's than the one that the source's first valid event has set.
    fn other_than_found(&self, request: &Request) -> Option<Cause> {
        let Source { slug, provider_from, .. } = &self.source;
        let set =
            self.provider_of(request).filter(|_| matches!(provider_from, Some(ProviderFrom::Event(_))))?;
        let other = recognise(request).filter(|other| other.id != set.id)?;
        Some(Cause {
            code: "provider_found".to_owned(),
            title: None,
            message: format!(
                "It has the headers of {}, but {slug} is set to {}, the provider of its first valid event.",
                other.name, set.name
            ),
            fix: format!(
                "If both send to {slug}, detect the provider from headers again: `hookmitt source edit {slug} \
                 --provider ''`."
            ),
        })
    }

    /// Returns a cause if the headers belong to a format that several providers use, each in its own way, and the
    /// source doesn't say which of them sends.
    fn unsaid_provider(&self, request: &Request) -> Option<Cause> {
        let slug = &self.source.slug;
        let recognised = self.provider_of(request).filter(|_| self.source.provider.is_none())?;
        let users = providers().filter(|provider| provider.family.as_ref() == Some(&recognised.id));
        let users: Vec<_> = users.map(|provider| provider.id.as_str()).collect();
        (!users.is_empty()).then(|| Cause {
            code: "provider_not_set".to_owned(),
            title: None,
            message: format!(
                "Several providers use the headers of {}, with different secrets, and {slug} isn't set to one of \
                 them.",
                recognised.name
            ),
            fix: format!(
                "If it is one of {}, set it: `hookmitt source edit {slug} --provider ID`.",
                users.join(", ")
            ),
        })
    }

    /// Returns the inquiry for verification of a request, by this source's settings.
    pub(crate) fn inquiry<'a>(&'a self, request: &'a Request, url: &'a str, at: Timestamp) -> Inquiry<'a> {
        let tolerance = self.source.tolerance_s.map(u64::from).map(std::time::Duration::from_secs);
        Inquiry {
            request,
            url: Some(url),
            provider: self.provider_of(request),
            generic: self.source.generic.as_ref(),
            scheme: None,
            secrets: &self.secrets,
            tolerance,
            at,
            params: &self.params,
            published: self.keys.as_ref().map(|keys| keys as &dyn PublishedKeys),
        }
    }

    /// Has the published key fetched that a verdict needs. Only queues the key: nothing waits for the network.
    pub(crate) fn want_key(&self, judgement: &Judgement) {
        if let Some((keys, wanted)) = self.keys.as_ref().zip(judgement.wanted.as_ref()) {
            keys.want(&wanted.url, wanted.kid.as_deref());
        }
    }

    /// Returns what verification finds of an arrival as of when it was received, or, of a copy, happened. `url` is the URL that was called, if it isn't the one that
    /// the request names.
    fn judge_as_called(
        &self,
        request: &Request,
        url: Option<&str>,
        (received_at, event_time): (Timestamp, Option<Timestamp>),
        via: Via,
    ) -> Judgement {
        // A copy comes long after it was signed.
        let at = event_time.filter(|_| via == Via::BackupSync).unwrap_or(received_at);
        let named = url.is_none().then(|| request.called_url(self.source.slug.as_str()));
        let called = url.or(named.as_deref()).unwrap_or_default();
        of_copy(self.judge_request(request, called, at), via)
    }

    /// Returns the hash of an event's type and object, if backup sync of this source copies objects.
    fn object_key(&self, facts: &Facts) -> Option<[u8; 16]> {
        let (kind, object) = facts.event_type.as_deref().zip(facts.object.as_deref())?;
        self.copies_objects.then(|| object_hash(kind, object))
    }

    /// Judges a request and prepares it for storing.
    pub(crate) fn judge(&self, arrival: Arrival) -> Judged {
        let Arrival { request, url, remote, received_at, via, page } = arrival;
        let pages::Judged { browser, withheld, callback, foreign_host } = page.judge(self, &request);
        let provider = self.provider_of(&request);
        let url = url.or_else(|| self.public_url(&request));
        let mut facts = facts(&request, provider, self.source.generic.as_ref());
        let judgement = self.judge_as_called(&request, url.as_deref(), (received_at, facts.event_time), via);
        let dedupe_key = dedupe_key(&facts, &request);
        let handshake = provider.and_then(|provider| handshake(&request, provider, &self.params));
        facts.handshake = handshake.as_ref().map(|handshake| handshake.name);
        let is_set_up = handshake.as_ref().is_some_and(|handshake| handshake.answered);
        let asked = Asked { request: &request, provider, judgement: &judgement, via, browser };
        let answered = self.answered(&asked, handshake.as_ref());
        facts.title = handshake.and_then(|it| it.subject(asked.outcome(&answered))).or(facts.title);
        let sha256: [u8; 32] = Sha256::digest(&request.body).into();
        // A copy that the provider's API vouches for forges nothing; an event from a web page proves nothing.
        let counts = !browser && via != Via::BackupSync;
        let event = NewEvent {
            id: EventId::fresh(),
            source: self.source.row,
            url,
            remote,
            received_at,
            via,
            provider: provider.map(|provider| provider.id.clone()),
            finds_provider: self.finds_provider(judgement.verdict, via, browser),
            handshake_answer: answered.kept(),
            may_own: self.may_own(judgement.verdict, via, browser),
            single_use: judgement.single_use.filter(|_| counts).map(|id| single_use(&id, &sha256)),
            rejects: self.source.on_invalid == OnInvalid::Reject,
            verdict: judgement.verdict,
            causes: judgement.causes,
            sha256,
            key_hash: key_hash(&dedupe_key),
            dedupe_key,
            on_duplicate: self.source.on_duplicate,
            browser,
            callback,
            foreign_host,
            delivery_of: delivery_of(&request),
            arrival_key: None,
            forwarded: None,
            caught_up_by: None,
            object_key: self.object_key(&facts),
            planned: None,
            parent: None,
            moved_from: None,
            route: self.route(withheld, &answered, is_set_up, (judgement.verdict, via)),
            facts,
            request,
        };
        Judged { event, answered }
    }

    /// Decides where an event goes, by its relation to web pages and by how its sender is answered.
    fn route(
        &self,
        withheld: Option<WithheldReason>,
        answered: &Answered,
        is_set_up: bool,
        (verdict, via): (Verdict, Via),
    ) -> Route {
        match (withheld, answered) {
            (_, Answered::Rejected(_)) => Route::Withheld(REJECTED),
            (Some(reason), _) => Route::Withheld(reason.words()),
            (_, Answered::Handshake(_)) => Route::Withheld("a set-up request that hookmitt answered"),
            (_, Answered::Unanswered(why)) => Route::Withheld(why),
            _ if is_set_up => Route::Withheld("a set-up request that could not be answered"),
            _ if self.withholds(verdict, via) == Some(AWAITS) => Route::AwaitsVerdict,
            _ => Route::Targets,
        }
    }

    /// Returns the URL that the provider called, if the source has a public URL.
    pub(crate) fn public_url(&self, request: &Request) -> Option<String> {
        let base = self.source.public_url.as_deref()?;
        Some(format!("{}{}", base.trim_end_matches('/'), request.path_and_query()))
    }
}

/// Returns the verdict on an event, which for a copy from backup sync is never that somebody has forged it: the
/// provider's API gave it, but seldom what was signed.
pub(crate) fn of_copy(judgement: Judgement, via: Via) -> Judgement {
    if via != Via::BackupSync || judgement.verdict == Verdict::Valid {
        return judgement;
    }
    let cause = Cause {
        code: "from_the_api".to_owned(),
        title: Some("From the API, unsigned".to_owned()),
        message:
            "Backup sync fetched this event from the provider's own API, which gives the event but not the \
                  bytes that were signed."
                .to_owned(),
        fix: "Nothing is wrong with it. Delivered, it is signed again with this source's secret.".to_owned(),
    };
    Judgement { verdict: Verdict::Unsigned, causes: vec![cause], wanted: None, ..judgement }
}

/// Returns the id of our own delivery that a request says it is. Every header line that may be ours is tried, because a
/// server that forwards requests may rewrite the header's name or put another such line before it.
fn delivery_of(request: &Request) -> Option<DeliveryId> {
    let mut lines = request.headers.iter().filter(|line| reads_as(line.name, "x-hookmitt-delivery-id"));
    lines.find_map(|line| std::str::from_utf8(line.value).ok()?.parse().ok())
}

/// The longest event id that is kept as it is, in bytes; a longer one is hashed. No provider gives longer ids.
const LONGEST_ID: usize = 255;

/// Returns what makes two events the same: the provider's event id, else a hash over method, path, query and body.
pub(crate) fn dedupe_key(facts: &Facts, request: &Request) -> DedupeKey {
    match &facts.event_id {
        Some(id) if id.len() <= LONGEST_ID => DedupeKey::Id(id.clone()),
        Some(id) => DedupeKey::Id(format!("sha256-{}", hex::encode(Sha256::digest(id)))),
        None => {
            let mut hash = Sha256::new();
            for part in [request.method.as_bytes(), request.path_and_query().as_bytes()] {
                hash.update(part);
                hash.update([0]);
            }
            hash.update(&request.body);
            DedupeKey::Content(hex::encode(hash.finalize()))
        }
    }
}

/// Returns the hash by which dedupe keys are compared.
pub(crate) fn key_hash(key: &DedupeKey) -> [u8; 16] {
    short_hash(&key.to_string())
}

/// Returns two hashes for a signed id under which only one body may come: of the id, and of the id with this body.
/// Neither of the hashed texts can be a dedupe key.
pub(crate) fn single_use(id: &str, sha256: &[u8; 32]) -> SingleUse {
    let id = format!("once:{id}");
    SingleUse { id: short_hash(&id), with_body: short_hash(&format!("{}:{id}", hex::encode(sha256))) }
}

fn short_hash(text: &str) -> [u8; 16] {
    let digest: [u8; 32] = Sha256::digest(text).into();
    let mut short = [0; 16];
    short.copy_from_slice(&digest[..16]);
    short
}
