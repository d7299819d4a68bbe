//! What a request says about its own signature, and what it omits.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hookmitt_event::{HeaderLines, Request, Verdict};
use hookmitt_verify::{Secret, SignBy, provider, sample, sign};

use crate::{AT, Case, RSA, URL, is_valid, paypal, refused};

fn hubspot() -> Case {
    let made = Case::of_sample("hubspot", "client-secret");
    // As HubSpot sends it: with the older signature beside the newer one.
    let with_older =
        made.with(&[("X-HubSpot-Signature", Some("0")), ("X-HubSpot-Signature-Version", Some("v1"))]);
    let by = SignBy { url: Some(URL), ..SignBy::new(made.provider, b"client-secret", AT) };
    Case { request: sign(&by, &with_older.request).unwrap(), ..with_older }
}

#[test]
fn threat_11_an_algorithm_that_a_request_names_and_that_is_not_checked_is_invalid() {
    let paypal = paypal();
    assert!(is_valid(&paypal));
    for name in ["SHA1withRSA", "SHA512withRSA", "none", "SHA256withRSA, none"] {
        let named = paypal.with(&[("PAYPAL-AUTH-ALGO", Some(name))]);
        assert_eq!(named.found(), refused("unknown_algorithm"), "{name}");
        assert!(named.sentence().contains("PAYPAL-AUTH-ALGO"), "{}", named.sentence());
        // The answer is the same without a key, because none is fetched for such a request.
        let keyless = Case { secrets: Vec::new(), ..named };
        assert_eq!(keyless.found(), refused("unknown_algorithm"), "{name}, without a key");
        assert_eq!(keyless.judged().wanted, None);
    }
    let twice = [("PAYPAL-AUTH-ALGO", Some("SHA256withRSA")), ("paypal-auth-algo", Some("MD5withRSA"))];
    assert_eq!(paypal.with(&twice).found(), refused("unknown_algorithm"), "each line counts");

    const SETTINGS: &str = "X-Twilio-Webhooks-Signature-Settings";
    let made = sample(provider("twilio").unwrap(), None, "0197-a", AT).unwrap();
    let lines = made
        .headers
        .iter()
        .map(|line| (line.name, line.value))
        .chain([(SETTINGS, &b"key=a,algorithm=HMAC_SHA256"[..])]);
    let made = Request { headers: HeaderLines::from_pairs(lines).unwrap(), ..made };
    let twilio = Case::new("twilio", made, "shared", Vec::new());
    assert!(is_valid(&twilio));
    for settings in [
        "key=a,algorithm=HMAC_SHA512",
        "key=a,algorithm=HMAC_SHA1",
        "key=a",
        "algorithm=HMAC_SHA256,algorithm=none",
    ] {
        let named = twilio.with(&[(SETTINGS, Some(settings))]);
        assert_eq!(named.found(), refused("unknown_algorithm"), "{settings}");
    }

    let docusign = Case::of_sample("docusign", "hush");
    assert!(is_valid(&docusign.with(&[("X-Authorization-Digest", Some("HMACSHA256"))])));
    assert_eq!(
        docusign.with(&[("X-Authorization-Digest", Some("HMACSHA1"))]).found(),
        refused("unknown_algorithm")
    );
}

#[test]
fn threat_11_a_token_that_names_another_algorithm_is_invalid_before_any_key_is_looked_for() {
    for (id, header, scheme) in [
        ("plaid", "Plaid-Verification", ""),
        ("google_pubsub", "Authorization", "Bearer "),
        ("netlify", "X-Webhook-Signature", ""),
    ] {
        for head in [r#"{"alg":"none"}"#, r#"{"alg":"HS512"}"#] {
            let part = |text: &str| URL_SAFE_NO_PAD.encode(text);
            let token = format!("{scheme}{}.{}.{}", part(head), part(r#"{"iss":"netlify"}"#), part("x"));
            let made = sample(provider(id).unwrap(), None, "0197-a", AT).unwrap();
            let lines =
                made.headers.iter().map(|line| (line.name, line.value)).chain([(header, token.as_bytes())]);
            let request = Request { headers: HeaderLines::from_pairs(lines).unwrap(), ..made };
            let case = Case {
                provider: provider(id).unwrap(),
                request,
                secrets: Vec::new(),
                params: Vec::new(),
                url: URL.to_owned(),
            };
            assert_eq!(case.found(), refused("algorithm_mismatch"), "{id} {head}");
        }
    }
}

#[test]
fn threat_11_a_hubspot_source_is_not_led_back_to_an_older_version() {
    let hubspot = hubspot();
    let judgement = hubspot.judged();
    assert_eq!((judgement.verdict, judgement.scheme), (Verdict::Valid, Some("hubspot-v3")));
    for gone in [None, Some("")] {
        let led_back =
            hubspot.with(&[("X-HubSpot-Signature-v3", gone), ("X-HubSpot-Request-Timestamp", gone)]);
        assert_eq!(led_back.found(), refused("unknown_algorithm"));
        assert!(led_back.sentence().contains("X-HubSpot-Signature-v3"), "{}", led_back.sentence());
    }
    // A valid version 1 doesn't help if version 3 beside it is invalid.
    let broken = hubspot.with(&[("X-HubSpot-Signature-v3", Some("AAAA"))]);
    assert_eq!(broken.judged().verdict, Verdict::Invalid);
    // A user who receives no version 3 can choose version 1, and the verdict says what that means.
    let params = vec![("scheme".to_owned(), "hubspot-v1".to_owned())];
    let chosen = Case { params, ..hubspot.with(&[("X-HubSpot-Signature-v3", None)]) };
    assert_eq!((chosen.judged().verdict, chosen.judged().scheme), (Verdict::Valid, Some("hubspot-v1")));
    assert!(chosen.sentence().contains("isn't protected"), "{}", chosen.sentence());
    let other = chosen.with(&[("X-HubSpot-Signature-Version", Some("v2"))]);
    let other = Case { params: chosen.params.clone(), ..other };
    assert_eq!(other.found(), refused("unknown_algorithm"));
    // A setting that names no scheme of the provider has no effect.
    let params = vec![("scheme".to_owned(), "hubspot-v0".to_owned())];
    let unknown = Case { params, ..hubspot.with(&[("X-HubSpot-Signature-v3", None)]) };
    assert_eq!(unknown.found(), refused("unknown_algorithm"));
}

#[test]
fn threat_11_a_gitlab_source_that_has_a_signing_token_takes_no_bare_token() {
    let signing = Secret::new("signing", "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3");
    let made = Case::of_sample("gitlab", "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3");
    assert!(is_valid(&made));
    let bare = made.with(&[("webhook-signature", None), ("X-Gitlab-Token", Some("plain"))]);
    let both = Case { secrets: vec![signing, Secret::new("token", "plain")], ..bare };
    assert_eq!(both.found(), refused("unknown_algorithm"));
    let alone = Case { secrets: vec![Secret::new("token", "plain")], ..both };
    assert!(is_valid(&alone), "a source with the token alone checks that");
    assert!(alone.sentence().contains("signs nothing"), "{}", alone.sentence());
}

fn sns(body: serde_json::Value) -> Case {
    let topic = body["TopicArn"].as_str().unwrap().to_owned();
    let made = sample(provider("aws_sns").unwrap(), None, "0197-a", AT).unwrap();
    let made = Request { body: body.to_string().into_bytes().into(), ..made };
    Case::new("aws_sns", made, &RSA.private_pem(), vec![("topic_arn".to_owned(), topic)])
}

fn sns_sample(kind: &str) -> serde_json::Value {
    let made = sample(provider("aws_sns").unwrap(), Some(kind), "0197-a", AT).unwrap();
    serde_json::from_slice(&made.body).unwrap()
}

#[test]
fn threat_6_a_confirmations_subject_is_not_signed_and_a_notifications_is() {
    for (kind, signed) in
        [("SubscriptionConfirmation", false), ("UnsubscribeConfirmation", false), ("Notification", true)]
    {
        let case = sns(sns_sample(kind));
        assert!(is_valid(&case), "{kind}");
        let mut body: serde_json::Value = serde_json::from_slice(&case.request.body).unwrap();
        body["Subject"] = "AWS Notification".into();
        let with_subject = case.with_body(body.to_string().as_bytes());
        assert_eq!(is_valid(&with_subject), !signed, "{kind}");
    }
}

#[test]
fn threat_6_an_envelope_that_says_a_field_twice_is_invalid() {
    let case = sns(sns_sample("Notification"));
    let text = String::from_utf8(case.request.body.to_vec()).unwrap();
    for field in [
        r#""TopicArn":"arn:aws:sns:eu-central-1:1:mine""#,
        r#""message":"forged""#,
        r#""Mes\u0073age":"forged""#,
    ] {
        let before = text.replacen('{', &format!("{{{field},"), 1);
        let after = format!("{},{field}}}", text.strip_suffix('}').unwrap());
        for body in [before, after] {
            assert_eq!(case.with_body(body.as_bytes()).found(), refused("signature_format"), "{field}");
        }
    }
}
