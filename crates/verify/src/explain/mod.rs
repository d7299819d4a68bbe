//! Why a verdict is what it is. Capture never asks: this tries more than a sender would wait for.

use hookmitt_event::{CauseState, CodeFix, ExplainedCause, Explanation, Request, SecretFit, Verdict};

use crate::{Evidence, Inquiry, Judgement, Secret, evidence, fixes::code_fix, judge};

/// What else is known of an event's surroundings: suppositions are tried with it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Context<'a> {
    /// The secrets of other sources, labelled `source/label`.
    pub secrets: &'a [Secret],
    /// What else came in at that source, the nearest first, and what carries the same signature.
    pub requests: &'a [Request],
    /// What the URL may have been that the provider called.
    pub urls: &'a [String],
    /// The label of the secret whose signature is to be shown as the expected one; else the first one's.
    pub chosen: Option<&'a str>,
}

/// The verdict on a request with everything that speaks for it. The caller's clock says how long it took.
pub fn explain(inquiry: &Inquiry<'_>, context: &Context<'_>) -> Explanation {
    let judgement = judge(inquiry);
    let Evidence { scheme_name, .. } = evidence(inquiry, &judgement);
    let causes: Vec<_> = judgement.causes.iter().map(likely).collect();
    let secrets = inquiry.secrets.iter().map(|secret| fit(inquiry, secret)).collect();
    Explanation {
        verdict: judgement.verdict,
        provider: inquiry.provider.map(|provider| provider.id.clone()),
        scheme: judgement.scheme.map(str::to_owned),
        scheme_name,
        sentence: sentence(&judgement),
        detail: judgement.causes.first().map(|cause| cause.fix.clone()).unwrap_or_default(),
        tried: u32::try_from(causes.len() + context.secrets.len()).unwrap_or(u32::MAX),
        took_ms: 0,
        causes,
        signed_content: Vec::new(),
        got: Vec::new(),
        expected: None,
        fitting: None,
        rebuilt_body_base64: None,
        body_note: None,
        secrets,
        fix: fix(inquiry, &judgement),
    }
}

fn fix(inquiry: &Inquiry<'_>, judgement: &Judgement) -> Option<CodeFix> {
    let lines = inquiry.request.headers.iter();
    let clues: Vec<_> =
        lines.filter_map(|line| Some((line.name, std::str::from_utf8(line.value).ok()?))).collect();
    judgement.causes.first().and_then(|cause| code_fix(&cause.code, inquiry.provider, &clues))
}

fn likely(cause: &hookmitt_event::Cause) -> ExplainedCause {
    ExplainedCause {
        code: cause.code.clone(),
        title: cause.code.replace('_', " "),
        state: CauseState::Likely,
        evidence: String::new(),
        message: cause.message.clone(),
        fix: cause.fix.clone(),
    }
}

fn fit(inquiry: &Inquiry<'_>, secret: &Secret) -> SecretFit {
    let alone = Inquiry { secrets: std::slice::from_ref(secret), ..*inquiry };
    SecretFit { label: secret.label.clone(), fits: judge(&alone).secret_label.is_some() }
}

fn sentence(judgement: &Judgement) -> String {
    if let Some(cause) = judgement.causes.first() {
        return cause.message.clone();
    }
    match (judgement.verdict, &judgement.secret_label) {
        (Verdict::Valid, Some(label)) => format!("The signature holds with the secret {label}."),
        (Verdict::Valid, None) => "The signature holds.".to_owned(),
        (Verdict::Invalid, _) => "The signature does not hold.".to_owned(),
        (Verdict::Unsigned, _) => "The request carries no signature.".to_owned(),
        (Verdict::NoSecret, _) => "It is signed, and there is no secret to check it with.".to_owned(),
        (Verdict::Unsupported, _) => "It is signed in a way that can't be checked yet.".to_owned(),
        (Verdict::Pending, _) => "The key that the provider publishes is being fetched.".to_owned(),
    }
}
