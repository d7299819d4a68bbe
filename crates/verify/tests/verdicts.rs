//! Verdicts by the rules that apply to every provider.

#![expect(clippy::unwrap_used, reason = "a test stops at what is not as it should be, and says what it saw")]

use std::time::Duration;

use hookmitt_event::{Explain as _, GenericScheme, HeaderLines, HttpVersion, Request, Timestamp, Verdict};
use hookmitt_verify::{
    Inquiry, Judgement, Secret, SignBy, SignError, judge, parse_public_key, provider, sample, sign,
    test_secret, validate_generic,
};

const AT: Timestamp = Timestamp::from_seconds(1_750_000_000);

fn inquiry<'a>(request: &'a Request, id: &str, secrets: &'a [Secret]) -> Inquiry<'a> {
    Inquiry {
        request,
        url: None,
        provider: provider(id),
        generic: None,
        scheme: None,
        secrets,
        tolerance: None,
        at: AT,
        params: &[],
        published: None,
    }
}

fn signed(id: &str, secret: &str) -> Request {
    let provider = provider(id).unwrap();
    let made = sample(provider, None, "0197-a", AT).unwrap();
    sign(&SignBy::new(provider, secret.as_bytes(), AT), &made).unwrap()
}

fn names(request: &Request) -> Vec<String> {
    request.headers.iter().map(|line| line.name.to_owned()).collect()
}

fn edited(request: &Request, name: &str, value: Option<&str>) -> Request {
    let lines = request.headers.iter().filter_map(|line| {
        let hit = line.name.eq_ignore_ascii_case(name);
        let own = String::from_utf8(line.value.to_vec()).unwrap();
        if hit {
            value.map(|value| (line.name.to_owned(), value.to_owned()))
        } else {
            Some((line.name.to_owned(), own))
        }
    });
    Request { headers: HeaderLines::from_pairs(lines).unwrap(), ..request.clone() }
}

fn code(judgement: &Judgement) -> &str {
    judgement.causes.first().map_or("", |cause| cause.code.as_str())
}

#[test]
fn a_lost_header_that_says_how_it_was_signed_is_named() {
    let made = sample(provider("twilio").unwrap(), None, "0197-a", AT).unwrap();
    let headers = [("X-Twilio-Signature", "zx5Ifj5vGwOzjNZcp2uDxxz2Mkqlf5YsAx5c6o89sro=")];
    let request = Request { headers: HeaderLines::from_pairs(headers).unwrap(), ..made };
    let secrets = [Secret::new("key", "key")];
    let asked = Inquiry { scheme: Some("twilio-sharedkey"), ..inquiry(&request, "twilio", &secrets) };
    let judgement = judge(&asked);
    assert_eq!((judgement.verdict, code(&judgement)), (Verdict::Invalid, "part_missing"));
}

#[test]
fn any_of_several_secrets_makes_it_valid_and_is_named() {
    let request = signed("github", "new");
    let secrets = [Secret::new("old", "old"), Secret::new("new one", "new")];
    let judgement = judge(&inquiry(&request, "github", &secrets));
    assert_eq!(judgement.verdict, Verdict::Valid);
    assert_eq!(judgement.secret_label.as_deref(), Some("new one"));
    assert_eq!(judgement.scheme, Some("github-hmac-sha256"));
}

#[test]
fn without_a_signature_it_is_unsigned_whether_or_not_there_is_a_secret() {
    let request = edited(&signed("stripe", "whsec_x"), "Stripe-Signature", None);
    for secrets in [&[][..], &[Secret::new("main", "whsec_x")]] {
        let judgement = judge(&inquiry(&request, "stripe", secrets));
        assert_eq!((judgement.verdict, code(&judgement)), (Verdict::Unsigned, "unsigned"));
    }
    let nobody = Inquiry { provider: None, ..inquiry(&request, "stripe", &[]) };
    assert_eq!(judge(&nobody).verdict, Verdict::Unsigned);
}

#[test]
fn without_a_secret_it_is_no_secret_unless_a_part_is_missing() {
    let request = signed("svix", test_secret(provider("svix").unwrap()).value);
    assert_eq!(judge(&inquiry(&request, "svix", &[])).verdict, Verdict::NoSecret);
    let judgement = judge(&inquiry(&edited(&request, "svix-id", None), "svix", &[])).clone();
    assert_eq!((judgement.verdict, code(&judgement)), (Verdict::Invalid, "part_missing"));
}

#[test]
fn threat_11_an_older_signature_counts_only_where_a_person_chose_it() {
    let secrets = [Secret::new("main", "hush")];
    let github = provider("github").unwrap();
    let made = signed("github", "hush");
    let mut lines: Vec<_> = made.headers.iter().map(|line| (line.name, line.value.to_vec())).collect();
    lines.push(("X-Hub-Signature", b"sha1=0".to_vec()));
    let both = Request { headers: HeaderLines::from_pairs(lines).unwrap(), ..made.clone() };
    // Re-signing also renews the legacy line.
    let both = sign(&SignBy::new(github, b"hush", AT), &both).unwrap();
    let legacy = edited(&both, "X-Hub-Signature-256", None);
    let judgement = judge(&inquiry(&legacy, "github", &secrets));
    assert_eq!((judgement.verdict, code(&judgement)), (Verdict::Invalid, "unknown_algorithm"));
    let set = [("scheme".to_owned(), "github-hmac-sha1-legacy".to_owned())];
    let chosen = judge(&Inquiry { params: &set, ..inquiry(&legacy, "github", &secrets) });
    assert_eq!((chosen.verdict, chosen.scheme), (Verdict::Valid, Some("github-hmac-sha1-legacy")));
    let forged = edited(&both, "X-Hub-Signature-256", Some(&format!("sha256={}", "0a".repeat(32))));
    assert_eq!(judge(&inquiry(&forged, "github", &secrets)).verdict, Verdict::Invalid);
    let named = Inquiry { scheme: Some("github-hmac-sha1-legacy"), ..inquiry(&forged, "github", &secrets) };
    assert_eq!(judge(&named).verdict, Verdict::Valid);
    let unknown = Inquiry { scheme: Some("nothing"), ..inquiry(&both, "github", &secrets) };
    assert_eq!(judge(&unknown).verdict, Verdict::Unsupported);
}

#[test]
fn the_clock_is_judged_at_receipt_and_by_the_source_s_own_tolerance() {
    let request = signed("slack", "hush");
    let secrets = [Secret::new("main", "hush")];
    let at = |seconds: i64, tolerance: Option<u64>| {
        let late = Inquiry {
            at: Timestamp::from_seconds(1_750_000_000 + seconds),
            tolerance: tolerance.map(Duration::from_secs),
            ..inquiry(&request, "slack", &secrets)
        };
        let judgement = judge(&late);
        (judgement.verdict, code(&judgement).to_owned())
    };
    let invalid = |code: &str| (Verdict::Invalid, code.to_owned());
    let valid = (Verdict::Valid, String::new());
    assert_eq!(at(300, None), valid);
    assert_eq!(at(301, None), invalid("timestamp_old"));
    assert_eq!(at(-301, None), invalid("timestamp_future"));
    assert_eq!(at(301, Some(3600)), valid);
    assert_eq!(at(61, Some(60)), invalid("timestamp_old"));
}

#[test]
fn milliseconds_are_named() {
    let slack = provider("slack").unwrap();
    let made = sample(slack, None, "0197-a", AT).unwrap();
    // Signed with milliseconds where seconds belong.
    let late = Timestamp::from_seconds(1_750_000_000_000);
    let request = sign(&SignBy::new(slack, b"hush", late), &made).unwrap();
    let judgement = judge(&inquiry(&request, "slack", &[Secret::new("main", "hush")]));
    assert_eq!((judgement.verdict, code(&judgement)), (Verdict::Invalid, "timestamp_unit"));
}

#[test]
fn an_old_timestamp_is_told_beside_the_other_cause() {
    let request = signed("stripe", "whsec_right");
    let secrets = [Secret::new("main", "whsec_wrong")];
    let late =
        Inquiry { at: Timestamp::from_seconds(1_750_009_000), ..inquiry(&request, "stripe", &secrets) };
    let codes: Vec<_> = judge(&late).causes.into_iter().map(|cause| cause.code).collect();
    assert_eq!(codes, ["no_match", "timestamp_old"]);
}

#[test]
fn ed25519_is_signed_and_verified_with_either_kind_of_key() {
    // RFC 8032, 7.1, test 1.
    let private = "whsk_nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A=";
    let public = "whpk_11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";
    let request = signed("svix", private);
    assert!(request.headers.get_str("svix-signature").unwrap().starts_with("v1a,"));
    let key = parse_public_key(public.as_bytes()).unwrap();
    for secret in [Secret::new("text", public), Secret::public_key("file", key)] {
        let judgement = judge(&inquiry(&request, "svix", std::slice::from_ref(&secret)));
        assert_eq!(
            (judgement.verdict, judgement.scheme),
            (Verdict::Valid, Some("standard-webhooks-ed25519"))
        );
        let tampered = Request { body: "{}".into(), ..request.clone() };
        let judgement = judge(&inquiry(&tampered, "svix", &[secret]));
        assert_eq!((judgement.verdict, code(&judgement)), (Verdict::Invalid, "no_match"));
    }
    // With only a shared secret, the verdict must not be a missing configuration, because the request would pass then.
    let shared = [Secret::new("main", "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3")];
    let judgement = judge(&inquiry(&request, "svix", &shared));
    assert_eq!((judgement.verdict, code(&judgement)), (Verdict::Invalid, "signature_format"));
}

#[test]
fn a_generic_source_is_signed_and_verified() {
    let table = [
        ("hmac-sha256", "hex", "sha256=", "{body}"),
        ("hmac-sha1", "base64", "", "{timestamp}.{body}"),
        ("hmac-sha512", "hex", "v1=", "{id}:{timestamp}:{body}"),
        ("token", "hex", "Bearer ", "{body}"),
    ];
    for (algorithm, encoding, prefix, content) in table {
        let generic = GenericScheme {
            signature_header: Some("X-Signature".to_owned()),
            algorithm: Some(algorithm.to_owned()),
            encoding: Some(encoding.to_owned()),
            prefix: Some(prefix.to_owned()),
            signed_content: Some(content.to_owned()),
            timestamp_header: Some("X-Time".to_owned()),
            id_at: Some("header:X-GitHub-Delivery".to_owned()),
            ..GenericScheme::default()
        };
        let github = provider("github").unwrap();
        let made = sample(github, None, "0197-a", AT).unwrap();
        let request =
            sign(&SignBy { generic: Some(&generic), ..SignBy::new(github, b"hush", AT) }, &made).unwrap();
        let secrets = [Secret::new("main", "hush")];
        let own =
            Inquiry { provider: None, generic: Some(&generic), ..inquiry(&request, "github", &secrets) };
        assert_eq!(judge(&own).verdict, Verdict::Valid, "{algorithm} {content}");
        assert_eq!(judge(&own).scheme, Some("generic"));
        let wrong = [Secret::new("main", "hash")];
        assert_eq!(judge(&Inquiry { secrets: &wrong, ..own }).verdict, Verdict::Invalid, "{algorithm}");
    }
}

#[test]
fn a_generic_source_signs_wherever_its_settings_say() {
    let set = |text: &str| Some(text.to_owned());
    let body = r#"{"id":"a","sent":0,"proof":"","data":{}}"#;
    let fields = GenericScheme {
        signature_header: set("X-Signature"),
        format: set("fields"),
        version: set("s"),
        separator: set(";"),
        timestamp_at: set("field:time"),
        timestamp_unit: set("ms"),
        signed_content: set("{method} {url}\n{timestamp}\n{body}"),
        encoding: set("base64url"),
        key: set("base64"),
        ..GenericScheme::default()
    };
    let in_body = GenericScheme {
        signature_at: set("/proof"),
        timestamp_at: set("/sent"),
        algorithm: set("sha256"),
        signed_content: set("{secret}{/id}{/sent}"),
        ..GenericScheme::default()
    };
    let unsealed = GenericScheme { signed_content: set("{secret}{header:X-Data}"), ..in_body.clone() };
    assert_eq!(validate_generic(&unsealed).unwrap_err().code(), "bad-signed-content");
    for (generic, covers_url) in [(fields, true), (in_body, false)] {
        let made = Request {
            method: "PUT".to_owned(),
            path: "/x".to_owned(),
            query: None,
            version: HttpVersion::Http11,
            headers: HeaderLines::from_pairs([("Host", "a")]).unwrap(),
            body: body.into(),
        };
        let url = Some("https://example.com/x");
        let by = SignBy {
            generic: Some(&generic),
            url,
            ..SignBy::new(provider("github").unwrap(), b"aHVzaA==", AT)
        };
        let request = sign(&by, &made).unwrap();
        let secrets = [Secret::new("main", "aHVzaA==")];
        let own =
            Inquiry { provider: None, generic: Some(&generic), url, ..inquiry(&request, "github", &secrets) };
        assert_eq!(judge(&own).verdict, Verdict::Valid, "{:?}", judge(&own).causes);
        let late = Inquiry { at: Timestamp::from_seconds(1_750_000_900), ..own };
        assert_eq!(judge(&late).causes[0].code, "timestamp_old");
        let elsewhere = Inquiry { url: Some("https://example.com/y"), ..own };
        assert_eq!(judge(&elsewhere).verdict == Verdict::Invalid, covers_url);
    }
}

#[test]
fn signing_replaces_lines_in_their_place_and_keeps_the_rest() {
    let request = signed("standardwebhooks", "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3");
    let standard = provider("standardwebhooks").unwrap();
    let mut lines = vec![("Webhook-Signature", "v1,old"), ("X-Odd", "  kept "), ("WEBHOOK-TIMESTAMP", "1")];
    lines.extend([("webhook-id", "msg_kept"), ("webhook-signature", "v1,twice")]);
    let block: String = lines.iter().map(|(name, value)| format!("{name}:{value}\r\n")).collect();
    let old = Request { headers: HeaderLines::from_wire(block.into()).unwrap(), ..request };
    let later = Timestamp::from_seconds(1_750_000_777);
    let fresh = sign(&SignBy::new(standard, b"whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3", later), &old).unwrap();
    assert_eq!(names(&fresh), ["Webhook-Signature", "X-Odd", "WEBHOOK-TIMESTAMP", "webhook-id"]);
    assert_eq!(fresh.headers.iter().nth(1).unwrap().line, b"X-Odd:  kept ");
    assert_eq!(fresh.headers.get_str("webhook-timestamp"), Some("1750000777"));
    assert_eq!(fresh.headers.get_str("webhook-id"), Some("msg_kept"));
    let other = sign(
        &SignBy {
            fresh_id: Some("9"),
            ..SignBy::new(standard, b"whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3", later)
        },
        &old,
    )
    .unwrap();
    let id = other.headers.get_str("webhook-id").unwrap();
    assert!(id.starts_with("msg_") && id != "msg_kept", "{id}");
}

#[test]
fn a_fresh_id_is_the_one_that_tells_events_apart() {
    for id in ["github", "shopify", "standardwebhooks", "svix", "openai"] {
        let provider = provider(id).unwrap();
        let made = sample(provider, None, "0197-a", AT).unwrap();
        let secret = test_secret(provider).value.as_bytes();
        let fresh =
            sign(&SignBy { fresh_id: Some("0197-b"), ..SignBy::new(provider, secret, AT) }, &made).unwrap();
        let id_of =
            |request: &Request| hookmitt_verify::facts(request, Some(provider), None).event_id.unwrap();
        let (old, new) = (id_of(&made), id_of(&fresh));
        assert!(new != old && new.len() == old.len(), "{id}: {new}");
    }
}

#[test]
fn what_can_t_be_signed_says_why() {
    let svix = provider("svix").unwrap();
    let made = sample(svix, None, "0197-a", AT).unwrap();
    let bare = edited(&made, "svix-id", None);
    let sign = |request: &Request, secret: &[u8]| sign(&SignBy::new(svix, secret, AT), request).unwrap_err();
    assert_eq!(sign(&made, b""), SignError::EmptySecret);
    assert_eq!(sign(&made, b"whsec_%%%"), SignError::BadSecret("Svix".to_owned()));
    assert_eq!(sign(&bare, b"whsec_MDEy"), SignError::IdNeeded("Svix".to_owned()));
    let telegram = provider("telegram").unwrap();
    let forged = hookmitt_verify::sign(&SignBy::new(telegram, b"a\r\nX: b", AT), &made);
    assert!(matches!(forged, Err(SignError::Header(_))), "{forged:?}");
}

#[test]
fn a_fresh_id_is_of_the_kind_that_the_old_one_is() {
    let telegram = provider("telegram").unwrap();
    let old = sample(telegram, None, "0197abc-1", AT).unwrap();
    let by = SignBy { fresh_id: Some("0197abc-2"), ..SignBy::new(telegram, b"token", AT) };
    let fresh = sign(&by, &old).unwrap();
    let id = |request: &Request| {
        let update: serde_json::Value = serde_json::from_slice(&request.body).unwrap();
        update["update_id"].as_u64().unwrap()
    };
    assert_ne!(id(&fresh), id(&old));
}
