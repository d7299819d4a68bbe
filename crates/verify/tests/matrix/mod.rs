//! Makes every kind of damaged request from one that is right.

mod kind;

use hookmitt_event::{Explanation, HeaderLines, HttpVersion, Request, Timestamp};
use hookmitt_verify::{Context, Inquiry, Provider, Secret, explain, provider};
use kind::Kind;

/// The time when everything here was signed, in Unix seconds.
pub(crate) const SIGNED_AT: i64 = 1_750_000_000;

pub(crate) const PLAIN: &str =
    r#"{"id":"evt_1","type":"storageUpdated","created":1700000000,"data":{"amount":1999,"currency":"usd"}}"#;
const PRETTY: &str = "{\n  \"id\": \"evt_2\",\n  \"type\": \"storageUpdated\",\n  \"data\": {\n    \"amount\": 10.0,\n    \"note\": \"a/b & <c>\"\n  }\n}\n";
const COMPACT: &str = r#"{"id":"evt_2","type":"storageUpdated","data":{"amount":10,"note":"a/b & <c>"}}"#;
const ESCAPED: &str = r#"{"id":"evt_3","name":"Zo\u00eb \u2014 \u6771\u4eac \ud83d\ude80","url":"https:\/\/example.com\/x","type":"storageUpdated","data":{}}"#;
const UNESCAPED: &str = r#"{"id":"evt_3","name":"Zoë — 東京 🚀","url":"https://example.com/x","type":"storageUpdated","data":{}}"#;
const ODD: &str = r#"{"id":"evt_4","big":12345678901234567890,"f":1.10,"e":1e3,"dup":1,"dup":2,"type":"storageUpdated","data":{}}"#;
const HTML: &str = r#"{"id":"<b>&</b>","type":"storageUpdated","data":{}}"#;
const HTML_ESCAPED: &str = r#"{"id":"\u003cb\u003e\u0026\u003c/b\u003e","type":"storageUpdated","data":{}}"#;
const CRLF: &str = "{\"id\":\"evt_5\",\r\n\"type\":\"storageUpdated\",\r\n\"data\":{}}\r\n";
const FORM: &str = "token=x&command=%2Fdo+it&text=&url=https%3A%2F%2Fexample.com%2Fa+b";
const FORM_REENCODED: &str = "token=x&command=/do+it&text=&url=https%3A//example.com/a+b";
const PAYLOAD: &str = "payload=%7B%22zen%22%3A%22Keep%20it%20%26%20simple.%22%7D";
const PAYLOAD_DECODED: &str = r#"{"zen":"Keep it & simple."}"#;

/// A provider with a secret of the right kind.
pub(crate) struct Subject {
    pub(crate) id: &'static str,
    pub(crate) secret: &'static str,
    pub(crate) other_secret: &'static str,
}

const WHSEC: &str = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3";
const OTHER_WHSEC: &str = "whsec_enl4d3Z1dHNycXBvbm1sa2ppaGdmZWRj";

/// Every provider that signs with a keyed hash.
pub(crate) const SUBJECTS: [Subject; 13] = [
    Subject { id: "github", secret: "c2VjcmV0IG9mIHRoZSBob29r", other_secret: "another" },
    Subject { id: "stripe", secret: "whsec_dGhpcyBpcyBhIHN0cmlwZSBrZXk", other_secret: "whsec_other" },
    Subject {
        id: "slack",
        secret: "8f742231b10e8888abcd99e0e2285a55",
        other_secret: "0f742231b10e8888abcd99e0e2285a55",
    },
    Subject { id: "shopify", secret: "shpss_0a1b2c3d", other_secret: "shpss_other" },
    Subject { id: "standardwebhooks", secret: WHSEC, other_secret: OTHER_WHSEC },
    Subject { id: "svix", secret: WHSEC, other_secret: OTHER_WHSEC },
    Subject { id: "clerk", secret: WHSEC, other_secret: OTHER_WHSEC },
    Subject { id: "resend", secret: WHSEC, other_secret: OTHER_WHSEC },
    Subject { id: "openai", secret: WHSEC, other_secret: OTHER_WHSEC },
    Subject { id: "anthropic", secret: WHSEC, other_secret: OTHER_WHSEC },
    Subject { id: "replicate", secret: WHSEC, other_secret: OTHER_WHSEC },
    Subject { id: "polar", secret: "polar_whs_2bNq8vQk", other_secret: "polar_whs_other" },
    Subject { id: "liveblocks", secret: WHSEC, other_secret: OTHER_WHSEC },
];

/// A request that differs from the right one in one way, or in none.
pub(crate) struct Variant {
    pub(crate) reason: &'static str,
    pub(crate) request: Request,
    pub(crate) secret: String,
    pub(crate) at: i64,
    /// The expected first cause; `None` if the request is valid.
    pub(crate) cause: Option<&'static str>,
}

pub(crate) fn request(headers: Vec<(String, String)>, body: impl Into<Vec<u8>>) -> Request {
    Request {
        method: "POST".to_owned(),
        path: "/".to_owned(),
        query: None,
        version: HttpVersion::Http11,
        headers: HeaderLines::from_pairs(headers).unwrap(),
        body: body.into().into(),
    }
}

pub(crate) fn judged(
    provider: &'static Provider,
    request: &Request,
    secrets: &[Secret],
    at: i64,
) -> Explanation {
    let inquiry = Inquiry {
        request,
        url: None,
        provider: Some(provider),
        generic: None,
        scheme: None,
        secrets,
        tolerance: None,
        at: Timestamp::from_seconds(at),
        params: &[],
        published: None,
    };
    explain(&inquiry, &Context::default())
}

pub(crate) fn pairs(request: &Request) -> Vec<(String, String)> {
    let text = |value: &[u8]| String::from_utf8(value.to_vec()).unwrap();
    request.headers.iter().map(|line| (line.name.to_owned(), text(line.value))).collect()
}

fn with_body(request: &Request, body: impl Into<Vec<u8>>) -> Request {
    Request { body: body.into().into(), ..request.clone() }
}

/// Changes the header lines whose name contains `part`. A line is removed if `change` returns `None`.
fn with_header(request: &Request, part: &str, change: impl Fn(&str) -> Option<String>) -> Request {
    let changed = pairs(request).into_iter().filter_map(|(name, value)| {
        let hit = name.to_ascii_lowercase().contains(part);
        if hit { change(&value).map(|value| (name, value)) } else { Some((name, value)) }
    });
    Request { headers: HeaderLines::from_pairs(changed).unwrap(), ..request.clone() }
}

/// Signs a body, with the SDK or with our code.
pub(crate) type SignFn<'a> = &'a mut dyn FnMut(&str, &[u8]) -> Request;

/// Returns all variants of a subject, including forms if its SDK accepts more than JSON. `sign` is called with the
/// secret and the body.
pub(crate) fn variants(subject: &Subject, with_forms: bool, sign: SignFn<'_>) -> Vec<Variant> {
    let kind = Kind::of(subject.id);
    let mut all = Vec::new();
    let mut add = |reason, request, secret: &str, at, cause| {
        all.push(Variant { reason, request, secret: secret.to_owned(), at, cause });
    };
    bodies(subject, sign, &mut add);
    if with_forms {
        forms(subject, sign, &mut add);
    }
    secrets(subject, &kind, sign, &mut add);
    signatures(subject, &kind, sign, &mut add);
    clocks(subject, &kind, sign, &mut add);
    all
}

type Add<'a> = &'a mut dyn FnMut(&'static str, Request, &str, i64, Option<&'static str>);

fn bodies(subject: &Subject, sign: SignFn<'_>, add: Add<'_>) {
    let secret = subject.secret;
    for (reason, body) in [
        ("plain", PLAIN),
        ("whitespace_preserved", PRETTY),
        ("utf8_raw", UNESCAPED),
        ("unicode_escaped", ESCAPED),
        ("numbers_and_dup_keys", ODD),
    ] {
        add(reason, sign(secret, body.as_bytes()), secret, SIGNED_AT, None);
    }
    let python = COMPACT.replace(',', ", ").replace(':', ": ");
    let four = PRETTY.replace("  ", "    ");
    let tampered = PLAIN.replace("1999", "9999");
    let marked = format!("\u{feff}{PLAIN}");
    let stripped = CRLF.trim_end();
    let unixed = CRLF.replace("\r\n", "\n");
    let table: [(&'static str, &str, &str, &'static str); 15] = [
        ("body_tampered", PLAIN, &tampered, "no_match"),
        ("body_reserialized", PRETTY, COMPACT, "body_reserialized"),
        ("body_reserialized", PRETTY, &python, "body_reserialized"),
        ("body_reserialized", &four, COMPACT, "body_reserialized"),
        ("body_reserialized", COMPACT, PRETTY.trim_end(), "body_reserialized"),
        ("body_reserialized", &python, COMPACT, "body_reserialized"),
        ("unicode_unescaped", ESCAPED, UNESCAPED, "body_reserialized"),
        ("unicode_escaped_on_the_way", UNESCAPED, ESCAPED, "body_reserialized"),
        ("html_escaped_by_serializer", HTML, HTML_ESCAPED, "body_reserialized"),
        ("trailing_newline_stripped", PRETTY, PRETTY.trim_end(), "newline_changed"),
        ("trailing_newline_added", PLAIN, &format!("{PLAIN}\n"), "newline_changed"),
        ("trailing_crlf_stripped", CRLF, stripped, "newline_changed"),
        ("crlf_to_lf", CRLF, &unixed, "newline_changed"),
        ("bom_prepended", PLAIN, &marked, "bom_added"),
        ("body_replaced", PLAIN, "{}", "no_match"),
    ];
    for (reason, signed, seen, cause) in table {
        add(reason, with_body(&sign(secret, signed.as_bytes()), seen), secret, SIGNED_AT, Some(cause));
    }
}

fn forms(subject: &Subject, sign: SignFn<'_>, add: Add<'_>) {
    let secret = subject.secret;
    for (reason, signed, seen) in [
        ("form_reencoded", FORM, FORM_REENCODED),
        ("form_decoded_before_check", PAYLOAD, PAYLOAD_DECODED),
        ("form_signed_over_body", PAYLOAD_DECODED, PAYLOAD),
    ] {
        add(
            reason,
            with_body(&sign(secret, signed.as_bytes()), seen),
            secret,
            SIGNED_AT,
            Some("form_changed"),
        );
    }
}

fn secrets(subject: &Subject, kind: &Kind, sign: SignFn<'_>, add: Add<'_>) {
    let secret = subject.secret;
    let plain = sign(secret, PLAIN.as_bytes());
    add("wrong_secret", plain.clone(), subject.other_secret, SIGNED_AT, Some("no_match"));
    // A base64 decoder ignores the white space, but it matters if the text itself is the key.
    let spaced = (secret != WHSEC).then_some("secret_whitespace");
    add("secret_trailing_newline", plain.clone(), &format!("{secret}\n"), SIGNED_AT, spaced);
    add("secret_trailing_space", plain.clone(), &format!("{secret} "), SIGNED_AT, spaced);
    let bare = secret.trim_start_matches("whsec_");
    if subject.id == "stripe" || subject.id == "openai" || subject.id == "liveblocks" {
        add("secret_prefix_removed", plain.clone(), bare, SIGNED_AT, Some("secret_encoding"));
    }
    if subject.id == "standardwebhooks" || subject.id == "svix" {
        add("secret_without_prefix", plain.clone(), bare, SIGNED_AT, None);
    }
    if subject.id == "slack" {
        let other = kind.resigned(&plain, &hex::decode(secret).unwrap());
        add("hex_key_used_as_text", other, secret, SIGNED_AT, Some("secret_encoding"));
    } else if secret == WHSEC {
        let other = kind.resigned(&plain, secret.as_bytes());
        add("secret_used_as_text", other, secret, SIGNED_AT, Some("secret_encoding"));
    } else if subject.id == "github" {
        let decoded = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, secret).unwrap();
        let other = kind.resigned(&plain, &decoded);
        add("secret_base64_decoded", other, secret, SIGNED_AT, Some("secret_encoding"));
    }
}

fn signatures(subject: &Subject, kind: &Kind, sign: SignFn<'_>, add: Add<'_>) {
    let secret = subject.secret;
    let plain = sign(secret, PLAIN.as_bytes());
    let upper = pairs(&plain).into_iter().map(|(name, value)| (name.to_ascii_uppercase(), value)).collect();
    add("header_name_case", request(upper, PLAIN), secret, SIGNED_AT, None);
    let mut edit = |reason, cause, change: &dyn Fn(&str) -> Option<String>| {
        add(reason, with_header(&plain, kind.signature, change), secret, SIGNED_AT, cause);
    };
    edit("signature_header_missing", Some("unsigned"), &|_| None);
    edit("signature_header_empty", Some("unsigned"), &|_| Some(String::new()));
    edit("signature_truncated", Some("signature_truncated"), &|value| {
        Some(value[..value.len() - 6].to_owned())
    });
    let flipped = |value: &str| {
        let (head, tail) = value.split_at(value.len() - 10);
        format!("{head}{}", tail.replacen(|letter: char| letter.is_ascii_alphanumeric(), "0", 3))
    };
    edit("signature_wrong", Some("no_match"), &|value| Some(flipped(value)));
    edit("signature_encoding", Some("signature_encoding"), &|value| Some(kind.reencoded(value)));
    let loose = |lenient: &[&str]| (!lenient.contains(&subject.id)).then_some("signature_format");
    if !kind.prefix.is_empty() {
        edit("prefix_missing", loose(&["openai"]), &|value| Some(value.replace(kind.prefix, "")));
        let other = |value: &str| Some(value.replace(kind.prefix, kind.other_prefix));
        edit("unknown_version_tag", loose(&["liveblocks", "replicate"]), &other);
    }
    if subject.id == "shopify" {
        edit("unexpected_prefix", Some("signature_format"), &|value| Some(format!("sha256={value}")));
    }
    if subject.id == "github" {
        edit("sha1_signature", Some("algorithm_mismatch"), &|_| Some(format!("sha1={}", "0e".repeat(20))));
        edit("wrong_algorithm_sha1", Some("algorithm_mismatch"), &|_| {
            Some(format!("sha256={}", "0f".repeat(20)))
        });
    }
    if subject.id == "standardwebhooks" {
        edit("comma_separated", Some("signature_format"), &|value| Some(format!("v1,AAAA,{value}")));
    }
}

fn clocks(subject: &Subject, kind: &Kind, sign: SignFn<'_>, add: Add<'_>) {
    let secret = subject.secret;
    let plain = sign(secret, PLAIN.as_bytes());
    let Some(timestamp) = kind.timestamp else { return };
    let checked = subject.id != "replicate";
    add("timestamp_just_inside", plain.clone(), secret, SIGNED_AT + 299, None);
    add("timestamp_expired", plain.clone(), secret, SIGNED_AT + 301, checked.then_some("timestamp_old"));
    let future = checked && subject.id != "stripe";
    add("timestamp_future", plain.clone(), secret, SIGNED_AT - 301, future.then_some("timestamp_future"));
    if subject.id == "stripe" {
        let edited =
            with_header(&plain, timestamp, |value| Some(value.replace("t=1750000000", "t=1750000005")));
        add("timestamp_edited", edited, secret, SIGNED_AT, Some("no_match"));
        let without =
            with_header(&plain, timestamp, |value| value.split_once(',').map(|(_, rest)| rest.to_owned()));
        add("timestamp_missing", without, secret, SIGNED_AT, Some("part_missing"));
        let v0 = with_header(&plain, timestamp, |value| Some(value.replace("v1=", "v0=")));
        add("only_v0_scheme", v0, secret, SIGNED_AT, Some("signature_format"));
        return;
    }
    let edited = with_header(&plain, timestamp, |_| Some((SIGNED_AT + 5).to_string()));
    add("timestamp_edited", edited, secret, SIGNED_AT, Some("no_match"));
    add(
        "timestamp_missing",
        with_header(&plain, timestamp, |_| None),
        secret,
        SIGNED_AT,
        Some("part_missing"),
    );
    if kind.content.contains("{id}") {
        let id = |value: &str| Some(format!("{value}x"));
        add("message_id_changed", with_header(&plain, "-id", id), secret, SIGNED_AT, Some("no_match"));
        add(
            "id_header_missing",
            with_header(&plain, "-id", |_| None),
            secret,
            SIGNED_AT,
            Some("part_missing"),
        );
    }
}

/// Returns what is wrong with our judgement of a variant; `None` if it is right.
pub(crate) fn complaint(subject: &Subject, variant: &Variant) -> Option<String> {
    let secrets = [Secret::new("main", variant.secret.clone())];
    let judged = judged(provider(subject.id).unwrap(), &variant.request, &secrets, variant.at);
    let first = judged.causes.first().map(|cause| cause.code.as_str());
    let verdict = judged.verdict.as_str();
    let right = first == variant.cause && (verdict == "valid") == variant.cause.is_none();
    (!right).then(|| {
        format!("{} {}: {verdict} {first:?} instead of {:?}", subject.id, variant.reason, variant.cause)
    })
}
