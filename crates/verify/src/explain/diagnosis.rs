//! The order in which causes are tried, and the ranking of what is found.

use hookmitt_event::{Cause, CauseState, Verdict};

use crate::{candidates, cause, judgement::Judgement, signature::Signed, timestamp};

use super::{
    bodies, elsewhere,
    finding::Finding,
    keys, renamed, ruled_out, settings, shape,
    trial::{Finder, Trial},
    urls,
};

/// Tried in this order: the simplest and commonest cause first. The first finder with a result decides, because the
/// simpler of two explanations is the likelier one.
const FINDERS: [Finder; 11] = [
    settings::stranger,
    shape::proven,
    elsewhere::public_secret,
    keys::find,
    elsewhere::other_secret,
    settings::find,
    in_bodies,
    urls::find,
    elsewhere::other_event,
    elsewhere::other_scheme,
    elsewhere::other_provider_of,
];

/// Returns all findings: proven ones first, then likely ones, then those ruled out.
pub(crate) fn findings(trial: &mut Trial<'_>, judgement: &Judgement) -> Vec<Finding> {
    let view = trial.inquiry.view();
    let signed = candidates::likeliest(trial.inquiry, trial.schemes);
    let told = |state| judgement.causes.iter().map(move |cause| Finding::of_cause(cause, state));
    let mut found = match (judgement.verdict, &signed) {
        (Verdict::Unsigned, _) => {
            let mut found: Vec<_> = elsewhere::recognised_elsewhere(trial, view).into_iter().collect();
            found.extend(if found.is_empty() { renamed::find(trial, view) } else { None });
            found.extend(if found.is_empty() { elsewhere::other_provider(trial, view) } else { None });
            found.extend(told(CauseState::Proven));
            found
        }
        (Verdict::Invalid, Some(signed)) if is_mismatch(judgement) => mismatch(trial, signed),
        (Verdict::Invalid, Some(signed)) if judgement.secret_label.is_none() => {
            let mut found: Vec<_> = renamed::find(trial, view).into_iter().collect();
            if found.is_empty() && bodies::holds_parts(signed.scheme) {
                let finders = [bodies::find, bodies::object_text, bodies::cut_off, bodies::not_decoded];
                found.extend(trial.first(signed, &finders));
            }
            found.extend(told(CauseState::Proven));
            found
        }
        _ => told(CauseState::Proven).collect(),
    };
    if judgement.verdict == Verdict::Invalid {
        let rest = ruled_out::rest(trial, signed.as_ref(), &found);
        found.extend(rest);
    }
    found
}

/// Whether the judgement says nothing more than that the signature doesn't match.
fn is_mismatch(judgement: &Judgement) -> bool {
    let plain = |cause: &Cause| matches!(cause.code.as_str(), "no_match" | "signature_format");
    judgement.secret_label.is_none() && judgement.causes.iter().any(plain)
}

/// Bodies have the most forms to try, so part of the work is reserved for the other finders.
fn in_bodies(trial: &mut Trial<'_>, signed: &Signed<'_>) -> Option<Finding> {
    let kept = trial.put_aside();
    let found = bodies::find(trial, signed);
    trial.take_back(kept);
    found
}

fn mismatch(trial: &mut Trial<'_>, signed: &Signed<'_>) -> Vec<Finding> {
    let mut found: Vec<_> = trial.first(signed, &FINDERS).into_iter().collect();
    if let Some(other) = found.first_mut().and_then(|first| first.also.take()) {
        found.push(*other);
    }
    if found.is_empty() {
        found.extend(likely(trial, signed));
    }
    found.extend(
        timestamp::fault(trial.inquiry, signed, trial.sender)
            .map(|cause| Finding::of_cause(&cause, CauseState::Likely)),
    );
    found
}

/// Returns likely causes if nothing could be proven. Unless the signature or the secrets are malformed, the last one
/// says that nothing fits.
fn likely(trial: &mut Trial<'_>, signed: &Signed<'_>) -> Vec<Finding> {
    if let Some(finding) = shape::misshapen(trial, signed).or_else(|| keys::unreadable(trial, signed)) {
        return vec![finding];
    }
    let mut found: Vec<_> = elsewhere::recognised(trial).into_iter().collect();
    found.extend(settings::misshapen(trial, signed));
    found.extend(bodies::object_text(trial, signed));
    found.extend(bodies::cut_off(trial, signed));
    found.extend(bodies::not_decoded(trial, signed));
    found.extend(urls::unknown(trial, signed));
    found.push(no_match(trial, signed));
    found
}

fn no_match(trial: &Trial<'_>, signed: &Signed<'_>) -> Finding {
    let scheme = signed.scheme;
    let signs = match (bodies::covers(scheme), scheme.content.has_id(), scheme.content.has_timestamp()) {
        (_, true, true) => "the body, the id or the timestamp",
        (_, false, true) => "the body or the timestamp",
        (true, ..) => "the body",
        (false, ..) => "the token",
    };
    let own = trial.secrets(scheme).count();
    let others = trial.context.secrets.iter().filter(|secret| secret.suits(scheme)).count();
    let cause = match settings::signed_param(trial, signed) {
        Some((param, _)) => cause::no_match_with(trial.sender, signs, param),
        None => cause::no_match(trial.sender, signs, own),
    };
    let known = own + others;
    let secrets = if known == 1 { "1 secret".to_owned() } else { format!("{known} secrets") };
    let evidence = format!("Tried {secrets} and every known variation");
    let mut finding = Finding::of_cause(&cause, CauseState::Likely);
    finding.cause.evidence = evidence;
    finding
}
