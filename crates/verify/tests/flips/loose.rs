//! The parts that schemes don't cover. The provider's own code behaves in the same way, and `docs/providers.md` says
//! so.

use crate::cases::Case;

/// The part of a request that a scheme covers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Covers {
    /// Only its signature. Anybody who has the token can write the body.
    Token,
    /// These members of a JSON body.
    Members(&'static [&'static str]),
    /// The decoded fields of a form, so that `%2f` and `%2F` are the same.
    Form,
    /// Everything, and the signature is hex in either letter case.
    EitherCase,
    /// Everything except the version before the signature.
    AnyTag,
    /// Everything except the part of the URL before its path.
    Path,
}

const SNS: Covers = Covers::Members(&[
    "Message",
    "MessageId",
    "Subject",
    "SubscribeURL",
    "Timestamp",
    "Token",
    "TopicArn",
    "Type",
    "Signature",
]);

/// The schemes that do not cover every bit, and the parts that they cover.
pub(crate) const SCHEMES: &[(&str, Covers)] = &[
    (
        "adyen adyen-payments-in-body",
        Covers::Members(&[
            "pspReference",
            "originalReference",
            "merchantAccountCode",
            "merchantReference",
            "value",
            "currency",
            "eventCode",
            "success",
            "hmacSignature",
        ]),
    ),
    ("aws_sns sns-cert", SNS),
    ("aws_sns sns-cert-2", SNS),
    ("cloudevents bearer-or-query-token", Covers::Token),
    ("figma passcode-in-body", Covers::Members(&["passcode"])),
    ("gitlab gitlab-token", Covers::Token),
    ("google_pubsub oidc-jwt-rs256", Covers::Token),
    ("monday jwt-hs256", Covers::Token),
    ("postmark basic-auth", Covers::Token),
    ("telegram static-token", Covers::Token),
    ("mailgun mailgun-in-body", Covers::Members(&["timestamp", "token", "signature"])),
    ("notion notion-hmac", Covers::EitherCase),
    ("contentful contentful-canonical", Covers::Path),
    ("discord ed25519", Covers::EitherCase),
    ("liveblocks standard-webhooks", Covers::AnyTag),
    ("replicate standard-webhooks", Covers::AnyTag),
    ("twilio twilio-form-sha1", Covers::Form),
    ("twilio twilio-sharedkey", Covers::Form),
];

/// Returns the covered part of a case as texts that stay the same only if no covered part changes.
pub(crate) fn covered(case: &Case) -> Vec<String> {
    let covers = SCHEMES.iter().find(|(id, _)| *id == case.id()).map(|(_, covers)| *covers);
    let body = String::from_utf8_lossy(&case.request.body).into_owned();
    let lines = case.request.headers.iter();
    let headers: String =
        lines.map(|line| format!("{}:{:?}\n", line.name, String::from_utf8_lossy(line.value))).collect();
    let url = case.url.clone();
    match covers {
        None => vec![body, headers, url],
        Some(Covers::Token) => vec![headers],
        Some(Covers::Members(names)) => {
            names.iter().map(|name| member(&body, name)).chain([headers]).collect()
        }
        Some(Covers::Form) => {
            let fields = url::form_urlencoded::parse(&case.request.body);
            let fields = fields.map(|(name, value)| format!("{name}={value}")).collect();
            vec![fields, headers, url]
        }
        Some(Covers::EitherCase) => vec![body, headers.to_ascii_lowercase(), url],
        Some(Covers::AnyTag) => {
            let bare = headers.lines().map(|line| line.split_once(',').map_or(line, |(_, bare)| bare));
            vec![body, bare.collect(), url]
        }
        Some(Covers::Path) => {
            let path = url.split_once("://").and_then(|(_, rest)| Some(rest[rest.find('/')?..].to_owned()));
            vec![body, headers, path.unwrap_or(url)]
        }
    }
}

/// Returns the text after the first `"name":`, up to the end of the value.
fn member(body: &str, name: &str) -> String {
    let start = format!("\"{name}\":");
    let rest = body.split_once(&start).map(|(_, rest)| rest.trim_start()).unwrap_or_default();
    let end = match rest.strip_prefix('"') {
        Some(text) => text.find('"').map_or(rest.len(), |end| end + 2),
        None => rest.find([',', '}']).unwrap_or(rest.len()),
    };
    rest[..end].to_owned()
}
