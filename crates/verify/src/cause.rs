//! Builds causes: what was found, and how to fix it. The codes are part of the product's public interface.

use hookmitt_event::{Cause, Explain as _, Plain};

use crate::{
    algorithm::Algorithm,
    generic_error::VerifyError,
    place::Place,
    provider::Param,
    scheme::{Scheme, TimeUnit},
};

pub(crate) fn cause(code: &str, message: String, fix: impl Into<String>) -> Cause {
    Cause { code: code.to_owned(), title: None, message, fix: fix.into() }
}

pub(crate) fn unknown_sender() -> Cause {
    cause(
        "unsigned",
        "It has no header of a known provider, so how it would be signed is unknown.".to_owned(),
        "Set the source's provider, or describe the signature as a custom scheme.",
    )
}

pub(crate) fn unsigned(sender: &str, schemes: &[Scheme]) -> Cause {
    if schemes.iter().all(|scheme| scheme.algorithm == Algorithm::None) {
        return cause(
            "unsigned",
            format!("{sender} doesn't sign its requests, so nothing proves who sent this."),
            "Put a secret of your own into the webhook's URL or headers, and check it with a custom scheme.",
        );
    }
    let mut names: Vec<_> =
        schemes.iter().flat_map(|scheme| scheme.signature.first()).map(Place::words).collect();
    names.dedup();
    let names = names.join(" or ");
    cause(
        "unsigned",
        format!("{sender} signs with {names}, which is missing or empty."),
        format!(
            "Set a secret in {sender}'s webhook settings, and check that no proxy on the way drops {names}. \
             Otherwise, someone else sent the request."
        ),
    )
}

pub(crate) fn part_missing(sender: &str, what: &str, place: Option<&Place>) -> Cause {
    let place = place.map(Place::words).unwrap_or_default();
    cause(
        "part_missing",
        format!("{sender} also signs the {what} in {place}, which is missing or empty."),
        format!("Check that no proxy or middleware on the way drops {place}."),
    )
}

/// The header that says how the signature was made is missing.
pub(crate) fn companion_missing(sender: &str, place: &Place) -> Cause {
    let place = place.words();
    cause(
        "part_missing",
        format!("{sender} names its signing method in {place}, which is missing or empty."),
        format!("Check that no proxy or middleware on the way drops {place}."),
    )
}

pub(crate) fn body_hash_missing(sender: &str, place: &str) -> Cause {
    cause(
        "url_mismatch",
        format!("{sender} signs the body's hash in {place}, which is no longer in the URL."),
        "Keep the query unchanged: look for a router or proxy that drops unknown parameters.",
    )
}

pub(crate) fn announced_otherwise(sender: &str, place: &str, algorithm: &str) -> Cause {
    cause(
        "algorithm_mismatch",
        format!("{place} announces something other than {sender}'s {algorithm}."),
        format!("Pass {place} on unchanged. Otherwise, someone else sent the request."),
    )
}

pub(crate) fn unknown_version(sender: &str) -> Cause {
    cause(
        "signature_format",
        format!("{sender} uses signature version 1 or 2, but /SignatureVersion in the body is neither."),
        format!("Pass the envelope on exactly as {sender} sent it."),
    )
}

/// A body that repeats a field, so that two readers could take different values from it.
pub(crate) fn said_twice(sender: &str) -> Cause {
    cause(
        "signature_format",
        format!(
            "The body contains a field twice, which {sender} never sends: one value could be signed and the other \
             one read."
        ),
        "Treat it as forged, unless something on the way adds fields to the body.".to_owned(),
    )
}

pub(crate) fn unreadable(sender: &str, place: &str) -> Cause {
    cause(
        "signature_format",
        format!("{place} doesn't contain a signature in {sender}'s format."),
        format!("Pass {place} on exactly as {sender} sent it, prefix and separators included."),
    )
}

pub(crate) fn field_missing(sender: &str, field: &str, header: &str) -> Cause {
    cause(
        "part_missing",
        format!("{sender}'s {header} header has a signature but no {field}= element, which is also signed."),
        format!("Pass the whole {header} header on unchanged."),
    )
}

pub(crate) fn broken_settings(error: &VerifyError) -> Cause {
    let fix = error.hint().unwrap_or_else(|| "correct the source's signature settings".to_owned());
    cause(
        "signature_format",
        format!("The source's own signature settings can't be used: {error}."),
        sentence(&fix),
    )
}

fn sentence(fragment: &str) -> String {
    let mut letters = fragment.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).chain(['.']).collect()
}

pub(crate) fn timestamp_old(sender: &str, age_s: i64, limit_s: i64) -> Cause {
    cause(
        "timestamp_old",
        format!("{sender}'s timestamp was {} old on arrival; {limit_s} s are allowed.", span(age_s)),
        "This is normal for a stored request that is sent again: re-sign it. Otherwise, look for a queue on the \
         way, or set this machine's clock.",
    )
}

pub(crate) fn timestamp_future(sender: &str, ahead_s: i64, limit_s: i64) -> Cause {
    cause(
        "timestamp_future",
        format!("{sender}'s timestamp is {} ahead of its arrival; {limit_s} s are allowed.", span(ahead_s)),
        "Synchronise the clock of this machine (or of the relay) by NTP: it is slow.",
    )
}

pub(crate) fn timestamp_in_milliseconds(sender: &str, text: &str) -> Cause {
    cause(
        "timestamp_unit",
        format!("The timestamp {text} is in milliseconds; {sender} signs seconds."),
        "Send the Unix time in whole seconds.",
    )
}

pub(crate) fn timestamp_in_seconds(sender: &str, text: &str) -> Cause {
    cause(
        "timestamp_unit",
        format!("The timestamp {text} is in seconds; {sender} signs milliseconds."),
        "Send the Unix time in milliseconds.",
    )
}

pub(crate) fn timestamp_unreadable(sender: &str, text: &str, unit: TimeUnit) -> Cause {
    let shown: String = text.chars().take(40).collect();
    let (what, how) = match unit {
        TimeUnit::S => ("a Unix time in seconds", "the Unix time in whole seconds"),
        TimeUnit::Ms => ("a Unix time in milliseconds", "the Unix time in whole milliseconds"),
        TimeUnit::Rfc3339 => ("an RFC 3339 time", "the time in RFC 3339 format"),
    };
    cause(
        "timestamp_unit",
        format!("The timestamp {:?} is not {what}, which {sender} signs.", Plain(&shown).to_string()),
        format!("Send {how}."),
    )
}

pub(crate) fn span(seconds: i64) -> String {
    match seconds {
        ..600 => format!("{seconds} s"),
        600..7200 => format!("{} min", seconds / 60),
        7200..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}

/// Like [`no_match`], for a scheme that also signs a setting, which the sender knows and the request doesn't contain.
pub(crate) fn no_match_with(sender: &str, signs: &str, param: &Param) -> Cause {
    let Param { label, hint, .. } = param;
    cause(
        "no_match",
        format!("{sender}'s signature doesn't match with the {label} that is set here."),
        format!(
            "First compare the {label} with {sender}'s ({hint}), because it is also signed. If it is right, {signs} \
             changed on the way, or someone else sent this."
        ),
    )
}

pub(crate) fn no_match(sender: &str, signs: &str, secrets: usize) -> Cause {
    let message = match secrets {
        1 => format!("{sender}'s signature doesn't match with the secret of this source."),
        more => format!("{sender}'s signature doesn't match with any of the {more} secrets of this source."),
    };
    cause(
        "no_match",
        message,
        format!(
            "Copy this endpoint's signing secret from {sender} again. If it is right, {signs} changed on the way, or \
             someone else sent this."
        ),
    )
}
