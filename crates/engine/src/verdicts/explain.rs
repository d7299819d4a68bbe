//! Explains why a verdict is what it is: the causes that `verify` finds, and those that lie in the source's settings.

use std::time::Instant;

use hookmitt_event::{Cause, CauseState, Event, ExplainedCause, Explanation, Request, Verdict};
use hookmitt_verify::{Context, Secret, explain};

use crate::{judging::rewritten, settings::ConfiguredSource};

/// What else may explain an event's verdict: other sources' secrets, requests near it, and other URLs.
pub(super) struct Surroundings {
    pub(super) secrets: Vec<Secret>,
    pub(super) requests: Vec<Request>,
    pub(super) urls: Vec<String>,
    pub(super) url_note: &'static str,
}

impl Surroundings {
    pub(super) fn context<'a>(&'a self, chosen: Option<&'a str>) -> Context<'a> {
        Context {
            secrets: &self.secrets,
            requests: &self.requests,
            urls: &self.urls,
            url_note: self.url_note,
            chosen,
            ..Context::default()
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
    let own = known.own_causes(&event.request, explanation.verdict, fits);
    explanation.causes.extend(own.into_iter().map(likely));
    if explanation.verdict == Verdict::Invalid {
        explanation.causes.splice(0..0, rewritten(event.forwarded.as_ref()).map(likely));
    }
    explanation.took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    explanation
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
