//! The verdict in a sentence, and further detail.

use hookmitt_event::Verdict;

use crate::{
    evidence::{Evidence, evidence},
    judgement::Judgement,
};

use super::{finding::Finding, trial::Trial};

/// What a signature made with a public test secret proves.
const PUBLIC_SECRET: &str = "That is a public test secret, so anyone could have sent it.";

/// Returns the sentence and the detail.
pub(crate) fn words(trial: &Trial<'_>, judgement: &Judgement, first: Option<&Finding>) -> (String, String) {
    let sender = trial.sender;
    let message = || first.map(|first| first.cause.message.clone()).unwrap_or_default();
    let fix = || first.map(|first| first.cause.fix.clone()).unwrap_or_default();
    match judgement.verdict {
        Verdict::Valid => {
            let open = evidence(trial.inquiry, judgement).uncovered;
            (
                open.into_iter().fold(valid(trial, judgement), |valid, open| format!("{valid} {open}")),
                String::new(),
            )
        }
        Verdict::Invalid => invalid(trial, judgement, first),
        Verdict::Unsigned if first.is_none_or(|first| first.cause.code == "unsigned") => {
            ("Unsigned: no signature header. Nothing proves who sent it.".to_owned(), fix())
        }
        Verdict::Unsigned => {
            let sentence = first.and_then(|first| first.sentence.clone()).unwrap_or_else(message);
            (format!("Unsigned: {sentence}."), fix())
        }
        Verdict::NoSecret => (format!("No secret for {sender} yet, so nothing was checked."), fix()),
        Verdict::Unsupported if first.is_some() => (format!("Not checked: {}", lower(&message())), fix()),
        Verdict::Unsupported => ("Not checked: its signing method isn't supported.".to_owned(), fix()),
        Verdict::Pending => (format!("Checking: fetching the key of {sender}."), String::new()),
    }
}

fn valid(trial: &Trial<'_>, judgement: &Judgement) -> String {
    let by = match &judgement.secret_label {
        Some(label) => format!("Signed by {} with secret {label}", trial.sender),
        None => format!("Signed by {}", trial.sender),
    };
    let Evidence { signed_at, public_secret, .. } = evidence(trial.inquiry, judgement);
    let valid = match signed_at.map(|signed_at| trial.inquiry.at.as_micros() - signed_at.as_micros()) {
        None => format!("Valid. {by}."),
        Some(micros @ 0..) => format!("Valid. {by}, {} before it arrived.", span(micros)),
        Some(micros) => format!("Valid. {by}, {} after it arrived by its own clock.", span(-micros)),
    };
    if public_secret { format!("{valid} {PUBLIC_SECRET}") } else { valid }
}

fn invalid(trial: &Trial<'_>, judgement: &Judgement, first: Option<&Finding>) -> (String, String) {
    let Some(first) = first else {
        return ("Invalid: the signature doesn't match.".to_owned(), String::new());
    };
    let fix = first.cause.fix.clone();
    if first.cause.code == "no_match" {
        return ("Invalid: no known secret fits.".to_owned(), format!("{}.", first.cause.evidence));
    }
    let aged = matches!(first.cause.code.as_str(), "timestamp_old" | "timestamp_future");
    if let Some(sentence) = in_time(trial, judgement).filter(|_| aged) {
        return (format!("Invalid: {sentence}."), fix);
    }
    let sentence = first.sentence.clone().unwrap_or_else(|| lower(first.cause.message.trim_end_matches('.')));
    (format!("Invalid: {sentence}."), first.detail.clone().unwrap_or(fix))
}

/// Says how far the signature's time is off.
fn in_time(trial: &Trial<'_>, judgement: &Judgement) -> Option<String> {
    let Evidence { signed_at, tolerance, .. } = evidence(trial.inquiry, judgement);
    let micros = trial.inquiry.at.as_micros() - signed_at?.as_micros();
    let allowed = span(i64::try_from(tolerance?.as_micros()).ok()?);
    let (allowed_number, allowed_unit) = allowed.split_once(' ').unwrap_or((&allowed, ""));
    let off = span(micros.saturating_abs());
    // A unit that both spans share is written only once.
    let allowed = if off.ends_with(allowed_unit) { allowed_number } else { &allowed };
    let side = if micros < 0 { "after" } else { "before" };
    Some(format!("signed {off} {side} it arrived; {} allows {allowed}", trial.sender))
}

/// Formats a time span for people.
pub(crate) fn span(micros: i64) -> String {
    let seconds = micros / 1_000_000;
    match seconds {
        ..10 => format!("{}.{} s", seconds, micros % 1_000_000 / 100_000),
        10..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        7200..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}

/// Makes the first letter lower-case, unless the first word may be a name.
fn lower(sentence: &str) -> String {
    let first = sentence.split(' ').next().unwrap_or_default();
    let common = matches!(
        first,
        "The" | "There" | "A" | "An" | "This" | "Its" | "It" | "No" | "None" | "Only" | "Something"
    );
    if !common {
        return sentence.to_owned();
    }
    let mut letters = sentence.chars();
    letters.next().map(|first| first.to_ascii_lowercase()).into_iter().chain(letters).collect()
}
