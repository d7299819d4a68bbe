//! Explains why a verdict is what it is: the causes that `verify` finds, and those that lie in the source's settings.

use std::time::Instant;

use hookmitt_event::{Cause, CauseState, Event, ExplainedCause, Explanation, HeaderLines, Request, Verdict};
use hookmitt_verify::{Context, Secret, explain, raw_body_fix};

use crate::{judging::rewritten, settings::ConfiguredSource};

/// What else may explain an event's verdict: other sources' secrets, requests near it, and other URLs.
pub(super) struct Surroundings {
    pub(super) secrets: Vec<Secret>,
    pub(super) requests: Vec<Request>,
    pub(super) urls: Vec<String>,
    pub(super) url_note: &'static str,
    /// The header lines of the answers that the event got, newest first.
    pub(super) answers: Vec<HeaderLines>,
    /// With which status the local server refuses the event, if it does.
    pub(super) refused: Option<u16>,
}

impl Surroundings {
    pub(super) fn context<'a>(&'a self, chosen: Option<&'a str>) -> Context<'a> {
        Context {
            secrets: &self.secrets,
            requests: &self.requests,
            urls: &self.urls,
            url_note: self.url_note,
            chosen,
            answers: &self.answers,
        }
    }
}

/// Explains an event with its source's secrets. `chosen` names the secret whose signature is shown as the expected one.
pub(super) fn explained(
    known: &ConfiguredSource,
    event: &Event,
    around: &Surroundings,
    chosen: Option<&str>,
) -> Explanation {
    let began = Instant::now();
    let inquiry = known.inquiry(&event.request, &event.url, event.received_at);
    let mut explanation = explain(&inquiry, &around.context(chosen));
    let fits = explanation.secrets.iter().any(|secret| secret.fits);
    match known.set_up_cause(&event.request, explanation.verdict) {
        Some(cause) => explanation.causes = vec![likely(cause)],
        None => {
            let own = known.own_causes(&event.request, explanation.verdict, fits);
            explanation.causes.extend(own.into_iter().map(likely));
        }
    }
    if explanation.verdict == Verdict::Invalid {
        explanation.causes.splice(0..0, rewritten(event.forwarded.as_ref()).map(likely));
    }
    if let Some(status) = around.refused.filter(|_| explanation.verdict == Verdict::Valid) {
        explanation.causes.insert(0, app_rejects(status));
        explanation.fix = raw_body_fix(inquiry.provider, &around.answers);
    }
    explanation.took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    explanation
}

/// The commonest fault of all: the event is genuine, and the local server's own check fails.
fn app_rejects(status: u16) -> ExplainedCause {
    ExplainedCause {
        code: "app_rejects".to_owned(),
        title: "Your app rejects it".to_owned(),
        state: CauseState::Likely,
        message: "This event is genuine. Your app rejects it: most often its framework changes the body before the \
                  check, or it has another secret."
            .to_owned(),
        evidence: format!("It answered {status}."),
        fix: "Check the signature over the raw body, with the same secret as here.".to_owned(),
    }
}

fn likely(cause: Cause) -> ExplainedCause {
    ExplainedCause {
        title: cause.title.unwrap_or_else(|| cause.code.replace('_', " ")),
        state: CauseState::Likely,
        evidence: String::new(),
        code: cause.code,
        message: cause.message,
        fix: cause.fix,
    }
}
