//! Verifies stored events again, with the settings and secrets of today.

use hookmitt_event::{DedupeKey, Event, Timestamp, Verdict, Via};
use hookmitt_inbox::{KeyTerms, Rejudged};
use hookmitt_verify::{Evidence, Judgement, Provider};
use serde::Deserialize;

use super::explain::Surroundings;
use crate::{
    EngineError,
    judging::{key_hash, of_copy, rewritten, single_use},
    settings::ConfiguredSource,
};

/// What an event is judged by, instead of what is known of it. Absent fields replace nothing.
#[derive(Clone, Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub struct JudgeBy {
    /// The moment at which timestamps are judged, in Unix seconds; if absent, the time when the event was received.
    pub at: Option<i64>,
    /// The URL that the provider called.
    pub url: Option<String>,
    /// The catalogue id of the provider.
    pub provider: Option<String>,
    /// The id of the signature scheme.
    pub scheme: Option<String>,
    /// Parameters that are not in the request, by name; they replace the source's own of the same names.
    pub params: Vec<(String, String)>,
}

/// Verifies an event with the values in `by` instead of the known ones.
///
/// # Errors
/// Fails if the provider or the scheme is unknown.
pub(super) fn verified(
    known: &ConfiguredSource,
    event: &Event,
    by: &JudgeBy,
    around: &Surroundings,
) -> Result<(Judgement, Evidence), EngineError> {
    let at = by.at.map_or(event.received_at, Timestamp::from_seconds);
    let url = by.url.as_deref().unwrap_or(&event.url);
    let mut inquiry = known.inquiry(&event.request, url, at);
    if let Some(given) = &by.provider {
        let found = hookmitt_verify::provider(given);
        inquiry.provider = Some(found.ok_or_else(|| EngineError::UnknownProvider(given.clone()))?);
    }
    if let Some(scheme) = &by.scheme {
        let provider = of_scheme(scheme, inquiry.provider)?;
        inquiry.provider = inquiry.provider.filter(|_| by.provider.is_some()).or(Some(provider));
    }
    if by.provider.is_some() || by.scheme.is_some() {
        inquiry.generic = None;
    }
    inquiry.scheme = by.scheme.as_deref();
    let params = with_given(&known.params, &by.params);
    inquiry.params = &params;
    let mut judgement = hookmitt_verify::judge(&inquiry);
    known.want_key(&judgement);
    if judgement.verdict == Verdict::Invalid {
        judgement.causes = hookmitt_verify::explain(&inquiry, &around.context(None)).kept_causes();
        judgement.causes.splice(0..0, rewritten(event.forwarded.as_ref()));
    }
    let judgement = of_copy(judgement, event.via);
    let evidence = hookmitt_verify::evidence(&inquiry, &judgement);
    Ok((judgement, evidence))
}

/// Returns the provider that has this scheme: the known one if it has it, else the first in the catalogue.
fn of_scheme(id: &str, known: Option<&'static Provider>) -> Result<&'static Provider, EngineError> {
    let mut all = known.into_iter().chain(hookmitt_verify::providers());
    let found = all.find(|provider| provider.scheme(id).is_some());
    found.ok_or_else(|| EngineError::UnknownScheme(id.to_owned()))
}

/// Returns the source's parameters with the given ones replacing those of the same names.
fn with_given(own: &[(String, String)], given: &[(String, String)]) -> Vec<(String, String)> {
    let kept = own.iter().filter(|(name, _)| given.iter().all(|(other, _)| other != name));
    kept.chain(given).cloned().collect()
}

/// Returns the new verdict of an event. An event that was `valid` stays so if no secret matches any more: a secret that
/// was replaced, or that this process can't read, disproves nothing. If the signature still matches, settings such as
/// the tolerance apply again.
pub(super) fn rejudged(known: &ConfiguredSource, event: &Event) -> Rejudged {
    let at = event.event_time.filter(|_| event.via == Via::BackupSync).unwrap_or(event.received_at);
    let mut judgement = of_copy(known.judge_request(&event.request, &event.url, at), event.via);
    if judgement.verdict == Verdict::Invalid {
        judgement.causes.splice(0..0, rewritten(event.forwarded.as_ref()));
    }
    // An old verdict is kept if nothing new is known of the event. An event that stays `valid` keeps its dedupe key, or
    // stays without one.
    let unproved = event.verdict == Verdict::Valid && judgement.secret_label.is_none();
    let is_kept = unproved || judgement.verdict == Verdict::NoSecret && event.verdict != Verdict::NoSecret;
    if is_kept {
        (judgement.verdict, judgement.causes) = (event.verdict, event.causes.clone());
    }
    let may_own = known.may_own(judgement.verdict, event.via, event.browser);
    let counts = !event.browser && event.via != Via::BackupSync;
    let single_use = judgement.single_use.as_ref().filter(|_| counts).map(|id| single_use(id, &event.sha256));
    let claim =
        |key: &DedupeKey, by_content| KeyTerms { hash: key_hash(key), may_own, by_content, single_use };
    // A copy that has yielded to its webhook stays a copy of it.
    let has_yielded = event.via == Via::BackupSync && event.duplicate_of.is_some();
    let settles = event.parent.is_none() && !has_yielded && !(is_kept && event.verdict == Verdict::Valid);
    let key = event.dedupe_key.as_ref().filter(|_| settles).and_then(|key| match key {
        DedupeKey::Id(_) => Some(claim(key, false)),
        // A content hash identifies an event for minutes only, so this late only an event that was `pending` can settle
        // it.
        DedupeKey::Content(_) => (event.verdict == Verdict::Pending).then(|| claim(key, true)),
    });
    let held = known.held_back(&judgement);
    let (id, was, verdict) = (event.id, event.verdict, judgement.verdict);
    let finds = known.finds_provider(verdict, event.via, event.browser);
    let provider = known.provider_of(&event.request).filter(|_| finds);
    let finds_provider = provider.map(|provider| provider.id.clone());
    Rejudged { id, was, verdict, causes: judgement.causes, key, held, finds_provider }
}
