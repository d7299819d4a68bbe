//! The causes that were tried and ruled out.

use hookmitt_event::CauseState;

use crate::{algorithm::Algorithm, scheme::Scheme, signature::Signed, timestamp};

use super::{bodies, finding::Finding, trial::Trial};

/// One possible cause: its code, its title, whether it applies, and why it is ruled out.
type Row = (&'static str, &'static str, bool, String);

/// Returns the possible causes that apply and weren't found.
pub(crate) fn rest(trial: &Trial<'_>, signed: Option<&Signed<'_>>, found: &[Finding]) -> Vec<Finding> {
    let Some(signed) = signed else { return Vec::new() };
    let rows = rows(trial, signed, found.first().is_some_and(Finding::is_proven));
    let known = |row: &Row| found.iter().any(|finding| finding.cause.code == row.0);
    let out = rows.into_iter().filter(|row| row.2 && !known(row));
    out.map(|(code, name, _, why)| Finding::new(code, CauseState::RuledOut, why).titled(name)).collect()
}

fn rows(trial: &Trial<'_>, signed: &Signed<'_>, proven: bool) -> Vec<Row> {
    let scheme = signed.scheme;
    let body = bodies::covers(scheme);
    let keyed = !scheme.takes_public_key();
    let written = scheme.algorithm != Algorithm::Token;
    let timed = !scheme.timestamp.is_empty() && scheme.tolerance().is_some();
    let on_time = timestamp::fault(trial.inquiry, signed, trial.sender).is_none();
    let none = || {
        if proven {
            "Another cause is proven".to_owned()
        } else {
            "The signature doesn't match this way either".to_owned()
        }
    };
    let secrets = if proven { none() } else { of_others(trial, scheme) };
    let mut rows = vec![
        (
            "no_match",
            "Wrong secret",
            proven,
            "A configured secret fits, or another cause is proven".to_owned(),
        ),
        ("other_secret", "Another known secret", true, secrets),
        ("public_secret", "Public test secret", trial.inquiry.provider.is_some(), none()),
        ("secret_whitespace", "Whitespace in secret", keyed, none()),
        ("secret_encoding", "Secret read differently", keyed, none()),
        (
            "timestamp_old",
            "Timestamp out of range",
            timed && on_time,
            "It is within the tolerance".to_owned(),
        ),
        ("timestamp_unit", "Timestamp unit", timed && on_time, "It is a plausible time".to_owned()),
        ("url_mismatch", "Signed for another URL", scheme.signs_url(), none()),
        ("header_renamed", "Header renamed", true, "Every signed header is present".to_owned()),
        ("part_missing", "Signed part missing", true, "Every signed part is present".to_owned()),
        ("other_event", "Another event's signature", body, none()),
        ("other_provider", "Another provider", trial.inquiry.provider.is_some(), none()),
    ];
    rows.extend(of_signature(written, &none));
    if body {
        rows.extend(of_body(&none));
    }
    rows
}

fn of_body(none: &dyn Fn() -> String) -> Vec<Row> {
    vec![
        ("newline_changed", "Newline added at the end", true, none()),
        ("newline_changed", "Line endings changed", true, none()),
        ("bom_added", "Byte order mark", true, none()),
        ("charset_changed", "Character set changed", true, none()),
        ("body_decoded", "Body decompressed", true, none()),
        ("form_changed", "Form re-encoded", true, none()),
        ("body_reserialized", "Body re-serialised", true, none()),
        ("body_reserialized", "Keys sorted", true, none()),
        ("body_reserialized", "Numbers rewritten", true, none()),
        ("body_reserialized", "Escapes rewritten", true, none()),
        ("body_truncated", "Body cut off", true, "It has the announced length and a proper end".to_owned()),
    ]
}

fn of_signature(written: bool, none: &dyn Fn() -> String) -> Vec<Row> {
    vec![
        ("signature_encoding", "Signature encoding", written, none()),
        ("signature_truncated", "Signature cut off", written, "Its length is right".to_owned()),
        ("signature_format", "Signature format", true, "Prefix and separators are right".to_owned()),
        ("algorithm_mismatch", "Another algorithm", written, none()),
    ]
}

fn of_others(trial: &Trial<'_>, scheme: &Scheme) -> String {
    let others = trial.context.secrets.iter().filter(|secret| secret.suits(scheme)).count();
    match others {
        0 => "No other source has one".to_owned(),
        1 => "The secret of another source doesn't fit".to_owned(),
        more => format!("None of the {more} secrets of other sources fits"),
    }
}
