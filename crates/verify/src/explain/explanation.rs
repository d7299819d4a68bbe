//! The verdict on a request, with all its evidence.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hookmitt_event::{CalledUrl, CauseState, CodeFix, Explanation, HeaderLines};

use crate::{
    candidates,
    evidence::{Evidence, evidence},
    fixes::code_fix,
    inquiry::Inquiry,
    judge::judge,
    judgement::Judgement,
    key_source::{self, KeySource},
};

use super::{context::Context, diagnosis, finding::Finding, note, sentence, shown, trial::Trial};

/// Larger rebuilt bodies are not shown. In bytes.
const LARGEST_SHOWN: usize = 1 << 20;

/// Judges a request and explains the verdict. The caller fills in how long this took, because the crate reads no clock.
pub fn explain(inquiry: &Inquiry<'_>, context: &Context<'_>) -> Explanation {
    let judgement = judge(inquiry);
    let own = inquiry.own_scheme();
    let (sender, schemes) = match (&own, inquiry.provider) {
        (Some(scheme), _) => ("The sender", std::slice::from_ref(scheme)),
        (None, Some(provider)) => (provider.name.as_str(), inquiry.provider_schemes()),
        (None, None) => ("The sender", &[][..]),
    };
    let published;
    let inquiry = match candidates::likeliest(inquiry, schemes) {
        Some(signed) => match key_source::find(inquiry, &signed, sender) {
            KeySource::Published(secret) => {
                published = [secret];
                &Inquiry { secrets: &published, ..*inquiry }
            }
            _ => inquiry,
        },
        None => inquiry,
    };
    let mut trial = Trial::new(inquiry, context, sender, schemes);
    let found = diagnosis::findings(&mut trial, &judgement);
    explanation(&trial, &judgement, found)
}

fn explanation(trial: &Trial<'_>, judgement: &Judgement, found: Vec<Finding>) -> Explanation {
    let inquiry = trial.inquiry;
    let Evidence { scheme_name, .. } = evidence(inquiry, judgement);
    let shown = shown::signature(trial, judgement);
    let causes = found.iter().filter(|finding| !finding.is_conclusion()).count();
    let tried = u32::try_from(causes).unwrap_or(u32::MAX);
    let first = found.first().filter(|first| first.cause.state != CauseState::RuledOut);
    let (sentence, detail) = sentence::words(trial, judgement, first);
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

/// Returns the change to the receiver's code. The framework is guessed from the headers of the request and of the
/// receiver's answers.
fn fix(trial: &Trial<'_>, code: &str) -> Option<CodeFix> {
    let lines =
        trial.context.answers.iter().chain([&trial.inquiry.request.headers]).flat_map(HeaderLines::iter);
    let clues: Vec<_> =
        lines.filter_map(|line| Some((line.name, std::str::from_utf8(line.value).ok()?))).collect();
    code_fix(code, trial.inquiry.provider, &clues)
}
