//! Why a signature does not hold: the causes, likeliest first.

use hookmitt_event::Cause;

use crate::{
    asymmetric,
    body_change::{self, BodyFinding},
    cause::{self, cause},
    judge::Inquiry,
    key_change::{self, KeyFinding},
    probe::Probe,
    signature_shape::{self, ShapeFinding},
    token,
};

/// The causes of a signature that no configured secret matches.
pub(crate) fn causes(probe: &mut Probe<'_>, inquiry: &Inquiry<'_>, sender: &str) -> Vec<Cause> {
    let header = probe.signed.place_words();
    let algorithm = probe.signed.scheme.algorithm;
    if algorithm.is_jwt() {
        if let Some(cause) = token::cause_of(&probe.signed, inquiry.secrets, sender) {
            return vec![cause];
        }
    } else if algorithm.is_asymmetric() && probe.signed.accepted().next().is_some() {
        if let Some(cause) = asymmetric::cause_of(&probe.signed, inquiry.secrets, sender) {
            return vec![cause];
        }
    } else if let Some(finding) = signature_shape::find(probe) {
        return vec![of_shape(&finding, sender, &header)];
    }
    if let Some(finding) = key_change::find(probe, inquiry.secrets) {
        return vec![of_key(finding, sender)];
    }
    if let Some(finding) = body_change::find(probe, &inquiry.request.headers) {
        return vec![of_body(finding, sender)];
    }
    let content = &probe.signed.scheme.content;
    let signs = match (content.has_body(), content.has_id(), content.has_timestamp()) {
        (_, true, true) => "the body, the id or the timestamp",
        (_, false, true) => "the body or the timestamp",
        (true, ..) => "the body",
        (false, ..) => "the token",
    };
    let secrets = inquiry.secrets.iter().filter(|secret| secret.suits(probe.signed.scheme)).count();
    vec![cause::no_match(sender, signs, secrets)]
}

fn of_shape(finding: &ShapeFinding, sender: &str, header: &str) -> Cause {
    match finding {
        ShapeFinding::Encoding { expected } => cause(
            "signature_encoding",
            format!("{sender} writes its signature as {expected}; {header} has another encoding."),
            format!("Write the signature in {header} as {expected}, without changing letters or padding."),
        ),
        ShapeFinding::Truncated => cause(
            "signature_truncated",
            format!("The signature in {header} is only the beginning of one: its end was cut off."),
            format!("Look for a length limit on {header} in a proxy, log or database column on the way."),
        ),
        ShapeFinding::Algorithm { expected } => cause(
            "algorithm_mismatch",
            format!(
                "{sender} signs with {expected} in {header}; this signature was made with another algorithm."
            ),
            format!("Compare each signature header with its own algorithm: {header} carries {expected}."),
        ),
        ShapeFinding::Format { expected } => cause(
            "signature_format",
            format!("{header} is not written as {sender} writes it: {expected}."),
            format!("Pass {header} on exactly as {sender} sent it, prefix and separators included."),
        ),
    }
}

fn of_key(finding: KeyFinding, sender: &str) -> Cause {
    match finding {
        KeyFinding::WhiteSpace => cause(
            "secret_whitespace",
            format!(
                "The configured secret has white space at its end or start; without it {sender}'s signature holds."
            ),
            "Set the secret again without the space or line break (`printf %s` rather than `echo`).",
        ),
        KeyFinding::Encoding(why) => cause(
            "secret_encoding",
            format!("{sender}'s signature was made with another reading of the configured secret: {why}."),
            format!(
                "Set the secret exactly as {sender} shows it, with its prefix, and decode it only where {sender} does."
            ),
        ),
        KeyFinding::Unreadable => cause(
            "secret_encoding",
            format!("The configured secret can't be a key of {sender}: it is not base64 after whsec_."),
            format!("Copy the signing secret from {sender} again, with its whsec_ prefix."),
        ),
    }
}

fn of_body(finding: BodyFinding, sender: &str) -> Cause {
    match finding {
        BodyFinding::Newline(how) => cause(
            "newline_changed",
            format!("{sender} signed other line ends: the signature holds once {how}."),
            "Pass the body on as raw bytes: no trim(), no text mode, no editor or template on the way.",
        ),
        BodyFinding::Bom(how) => cause(
            "bom_added",
            format!("A byte order mark (EF BB BF) makes the difference: the signature holds once {how}."),
            "Write the body without re-encoding it; use UTF-8 without BOM.",
        ),
        BodyFinding::Form(how) => cause(
            "form_changed",
            format!("{sender} signed another form encoding: the signature holds once {how}."),
            "Verify the raw form body, before anything decodes or re-encodes its fields.",
        ),
        BodyFinding::Json(how) => cause(
            "body_reserialized",
            format!(
                "The JSON was parsed and written again after {sender} signed it: the signature holds once {how}."
            ),
            "Keep the raw request body (express.raw(), request.get_data(), request.body) and verify and forward that.",
        ),
    }
}
