//! Decides how the sender of a captured request is answered, set-up requests above all.

use hookmitt_catch::Reply;
use hookmitt_event::{Event, HandshakeAnswer, Request, Verdict, Via};
use hookmitt_verify::{Handshake, HandshakeOutcome, HandshakeReply, Judgement, Provider, Secret, handshake};

use crate::settings::ConfiguredSource;

/// How the sender of a captured request is answered.
#[derive(Debug)]
pub(crate) enum Answered {
    /// As the source's settings say.
    Usual,
    /// As the provider expects after a set-up request.
    Handshake(HandshakeReply),
    /// As the source's settings say, because the set-up request can't be answered as its provider expects; and why not.
    Unanswered(&'static str),
    /// 403: the token in a set-up request differs from the configured one.
    Refused,
    /// With the status that the provider requires if a signature does not hold.
    Invalid(u16),
    /// 401: the source rejects what it can't prove.
    Rejected(Verdict),
    /// 401: the signature holds, but the signed id came with another body before.
    OtherBody,
}

impl Answered {
    /// Returns the answer, or `None` if the source's settings decide it.
    pub(crate) fn reply(&self) -> Option<Reply> {
        match self {
            Self::Usual | Self::Unanswered(_) => None,
            Self::OtherBody => Some(Reply::problem(
                401,
                "other-body",
                "another body arrived earlier with the same signed ID, and the signature doesn't show which one is \
                 genuine",
                "compare both events, and send the genuine one by hand",
            )),
            Self::Handshake(answer) => Some(said(answer)),
            Self::Refused => Some(Reply::problem(
                403,
                "handshake-refused",
                "this set-up request's token isn't the configured one",
                "enter this endpoint's token at the provider",
            )),
            Self::Invalid(status) => {
                let mut reply = Reply::json(*status, String::new());
                reply.headers.clear();
                Some(reply)
            }
            Self::Rejected(verdict) => {
                let code = match verdict {
                    Verdict::Unsigned => "unsigned",
                    Verdict::Invalid => "invalid-signature",
                    _ => "unproved",
                };
                Some(Reply::problem(
                    401,
                    code,
                    "the signature is missing or invalid, or can't be verified",
                    "sign with this endpoint's secret",
                ))
            }
        }
    }

    /// Whether this answers a set-up request.
    pub(crate) const fn is_to_set_up(&self) -> bool {
        matches!(self, Self::Handshake(_) | Self::Refused)
    }

    /// Returns what is stored of the answer with the event.
    pub(crate) fn kept(&self) -> Option<HandshakeAnswer> {
        match self {
            Self::Handshake(answer) => {
                Some(HandshakeAnswer { status: answer.status, body: answer.body.clone(), confirmed_at: None })
            }
            Self::Refused => Some(HandshakeAnswer { status: 403, body: String::new(), confirmed_at: None }),
            Self::Usual | Self::Unanswered(_) | Self::Invalid(_) | Self::Rejected(_) | Self::OtherBody => {
                None
            }
        }
    }
}

fn said(answer: &HandshakeReply) -> Reply {
    let mut reply = Reply::json(answer.status, answer.body.clone());
    let is_typed = answer.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    if is_typed || answer.body.is_empty() {
        reply.headers.clear();
    }
    let lines = answer.headers.iter().map(|(name, value)| (name.clone(), value.clone().into_bytes()));
    reply.headers.extend(lines);
    // The echoed text is a stranger's, so no browser may take it for a page (Threat 2).
    if !answer.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("x-content-type-options")) {
        reply.headers.push(("x-content-type-options".to_owned(), b"nosniff".to_vec()));
    }
    reply
}

/// A judged request whose sender has to be answered.
pub(crate) struct Asked<'a> {
    pub(crate) request: &'a Request,
    pub(crate) provider: Option<&'static Provider>,
    pub(crate) judgement: &'a Judgement,
    pub(crate) via: Via,
    /// Whether a web page sent it.
    pub(crate) browser: bool,
}

impl Asked<'_> {
    /// Whether somebody waits for an answer. Imported events and events made here have no sender.
    fn has_sender(&self) -> bool {
        matches!(self.via, Via::Direct | Via::Tunnel)
    }

    /// Returns what became of the set-up request that was answered so.
    pub(crate) fn outcome(&self, answered: &Answered) -> HandshakeOutcome {
        match answered {
            _ if !self.has_sender() => HandshakeOutcome::Unasked,
            Answered::Handshake(_) => HandshakeOutcome::Answered,
            Answered::Refused => HandshakeOutcome::Refused,
            Answered::Usual
            | Answered::Unanswered(_)
            | Answered::Invalid(_)
            | Answered::Rejected(_)
            | Answered::OtherBody => HandshakeOutcome::Unanswered,
        }
    }
}

const NOTHING_FITS: &str = "a set-up request that could not be answered";
const NO_SECRET: &str = "a set-up request that couldn't be answered: the source has no secret";
const NOT_SET: &str =
    "a set-up request that is answered with the secret only if the source's provider is set";
const UNPROVED: &str = "a set-up request that is answered with the secret only if its signature is valid";
const BY_A_PAGE: &str = "a set-up request that wasn't answered: it was sent by a web page";

impl ConfiguredSource {
    /// Decides how the sender is answered.
    pub(crate) fn answered(&self, asked: &Asked<'_>, handshake: Option<&Handshake>) -> Answered {
        let verdict = asked.judgement.verdict;
        if self.rejects(verdict, asked.via) {
            return Answered::Rejected(verdict);
        }
        let is_bad = verdict == Verdict::Invalid || verdict == Verdict::Unsigned && self.has_secret;
        if let Some(status) = asked.provider.and_then(|provider| provider.invalid_status).filter(|_| is_bad) {
            return Answered::Invalid(status);
        }
        match handshake.filter(|_| asked.has_sender()) {
            Some(handshake) if handshake.refused => Answered::Refused,
            Some(handshake) if handshake.answered && !(handshake.signed && verdict == Verdict::Invalid) => {
                self.answered_as_asked(asked, handshake)
            }
            _ => Answered::Usual,
        }
    }

    fn answered_as_asked(&self, asked: &Asked<'_>, handshake: &Handshake) -> Answered {
        let signer = handshake.needs_secret.then(|| self.signer(asked, handshake)).transpose();
        let answer = signer.map(|signer| handshake.answer(asked.request, &self.params, signer));
        match answer {
            Ok(Some(answer)) => Answered::Handshake(answer),
            Ok(None) => Answered::Unanswered(NOTHING_FITS),
            Err(why) => Answered::Unanswered(why),
        }
    }

    /// Returns the secret that signs a challenge for its sender, or why none may (Threat 11). Anybody can send what
    /// looks like a challenge. Therefore the source's provider must be set, and if the
    /// provider signs its challenges, the signature must be valid.
    fn signer(
        &self,
        asked: &Asked<'_>,
        handshake: &Handshake,
    ) -> Result<(&'static Provider, &Secret), &'static str> {
        let Asked { provider, judgement, browser, .. } = asked;
        let is_set = |provider: &&Provider| self.source.provider.as_ref() == Some(&provider.id);
        let provider = provider.filter(|provider| is_set(provider)).ok_or(NOT_SET)?;
        if *browser {
            return Err(BY_A_PAGE);
        }
        if !handshake.signed {
            return self.secrets.first().map(|secret| (provider, secret)).ok_or(NO_SECRET);
        }
        // A scheme of the source's own may sign less than the challenge.
        let by_provider = judgement.scheme.is_some_and(|id| provider.scheme(id).is_some());
        if judgement.verdict != Verdict::Valid || !by_provider {
            return Err(UNPROVED);
        }
        let fits = |secret: &&Secret| Some(&secret.label) == judgement.secret_label.as_ref();
        self.secrets.iter().find(fits).map(|secret| (provider, secret)).ok_or(NO_SECRET)
    }
}

/// Returns the subject of a set-up request of which that became. `None` if the request is none, or if its subject is
/// written as that of any event.
pub(super) fn subject(
    known: &ConfiguredSource,
    request: &Request,
    outcome: HandshakeOutcome,
) -> Option<String> {
    handshake(request, known.provider_of(request)?, &known.params)?.subject(outcome)
}

pub(crate) fn is_confirmed(event: &Event) -> bool {
    event.handshake_answer.as_ref().is_some_and(|answer| answer.confirmed_at.is_some())
}

/// Returns the set-up request that a stored event is, if it is one.
pub(crate) fn asked(known: &ConfiguredSource, event: &Event) -> Option<Handshake> {
    handshake(&event.request, known.provider_of(&event.request)?, &known.params)
}
