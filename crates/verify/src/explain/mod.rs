//! Why a verdict is what it is. Capture never asks: this tries more than a sender would wait for.
//!
//! To explain is to ask [`check`](crate::check) again, of other requests, secrets and schemes than those at hand.

mod bodies;
mod charset;
mod coded;
mod elsewhere;
mod finding;
mod forms;
mod json_form;
mod json_text;
mod keys;
mod note;
mod order;
mod public_shape;
mod renamed;
mod ruled_out;
mod settings;
mod shape;
mod shown;
mod trial;
mod urls;
mod verdict;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hookmitt_event::{CalledUrl, CauseState, CodeFix, Explanation, HeaderLines, Request};

use crate::{
    Evidence, Inquiry, Judgement, Secret, evidence,
    fixes::code_fix,
    generic,
    judge::{self, judge},
    key_source::{self, KeySource},
    scheme::Scheme,
    view::View,
};

use finding::Finding;
use trial::Trial;

/// What else is known of an event's surroundings: suppositions are tried with it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Context<'a> {
    /// The secrets of other sources, labelled `source/label`.
    pub secrets: &'a [Secret],
    /// What else came in at that source, the nearest first, and what carries the same signature.
    pub requests: &'a [Request],
    /// What the URL may have been that the provider called.
    pub urls: &'a [String],
    /// Who says that the inquiry's URL was called, as a sentence.
    pub url_note: &'a str,
    /// The label of the secret whose signature is to be shown as the expected one; else the first one's.
    pub chosen: Option<&'a str>,
    /// What the receiver answered: it tells what it is written with.
    pub answers: &'a [HeaderLines],
}

/// Larger bodies are not shown as they must have been.
const LARGEST_SHOWN: usize = 1 << 20;

/// The verdict on a request with everything that speaks for it. The caller's clock says how long it took.
pub fn explain(inquiry: &Inquiry<'_>, context: &Context<'_>) -> Explanation {
    let judgement = judge(inquiry);
    let own = inquiry.generic.and_then(|scheme| generic::compile(scheme).ok().flatten());
    let (sender, schemes) = match (&own, inquiry.provider) {
        (Some(scheme), _) => ("The sender", std::slice::from_ref(scheme)),
        (None, Some(provider)) => (provider.name.as_str(), schemes_of(inquiry)),
        (None, None) => ("The sender", &[][..]),
    };
    let published;
    let inquiry = match judge::judged(inquiry, View::of(inquiry), schemes) {
        Some(signed) => match key_source::look(inquiry, &signed, sender) {
            KeySource::Published(secret) => {
                published = [secret];
                &Inquiry { secrets: &published, ..*inquiry }
            }
            _ => inquiry,
        },
        None => inquiry,
    };
    let mut trial = Trial::new(inquiry, context, sender, schemes);
    let found = order::findings(&mut trial, &judgement);
    explanation(&trial, &judgement, found)
}

/// The schemes that may be meant.
pub(crate) fn schemes_of(inquiry: &Inquiry<'_>) -> &'static [Scheme] {
    let schemes = inquiry.provider.map_or(&[][..], |provider| &provider.schemes);
    let named =
        inquiry.chosen_scheme().filter(|id| inquiry.provider.is_some_and(|provider| provider.id != *id));
    let at = named.and_then(|id| schemes.iter().position(|scheme| scheme.is_called(id)));
    at.map_or(schemes, |at| &schemes[at..=at])
}

fn explanation(trial: &Trial<'_>, judgement: &Judgement, found: Vec<Finding>) -> Explanation {
    let inquiry = trial.inquiry;
    let Evidence { scheme_name, .. } = evidence(inquiry, judgement);
    let shown = shown::signature(trial, judgement);
    let tried = u32::try_from(found.len()).unwrap_or(u32::MAX);
    let first = found.first().filter(|first| first.cause.state != CauseState::RuledOut);
    let (sentence, detail) = verdict::words(trial, judgement, first, tried);
    let rebuilt = first.and_then(|first| first.body.as_deref());
    let shown_body = rebuilt.filter(|body| body.len() <= LARGEST_SHOWN);
    Explanation {
        verdict: judgement.verdict,
        provider: inquiry.provider.map(|provider| provider.id.clone()),
        scheme: judgement.scheme.map(str::to_owned),
        scheme_name,
        sentence,
        detail,
        tried,
        took_ms: 0,
        called: inquiry
            .url
            .filter(|_| shown.signs_url)
            .map(|url| CalledUrl { url: url.to_owned(), note: trial.context.url_note.to_owned() }),
        signed_content: shown.content,
        expected: shown.expected,
        fitting: first.and_then(|first| shown::fitting(first, &shown.got)),
        got: shown.got,
        rebuilt_body_base64: shown_body.map(|body| STANDARD.encode(body)),
        body_note: rebuilt.map(|body| note::between(body, &inquiry.request.body)),
        secrets: shown::secrets(trial, judgement),
        fix: first.and_then(|first| fix(trial, &first.cause.code)),
        causes: found.into_iter().map(|finding| finding.cause).collect(),
    }
}

/// The change to the receiver's code; what it is written with is guessed from what it and its clients call themselves.
fn fix(trial: &Trial<'_>, code: &str) -> Option<CodeFix> {
    let lines =
        trial.context.answers.iter().chain([&trial.inquiry.request.headers]).flat_map(HeaderLines::iter);
    let clues: Vec<_> =
        lines.filter_map(|line| Some((line.name, std::str::from_utf8(line.value).ok()?))).collect();
    code_fix(code, trial.inquiry.provider, &clues)
}
