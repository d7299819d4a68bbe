//! Schemes with a key pair: signing with a local test key, and keys that providers publish (Threat 6).

#![expect(clippy::unwrap_used, reason = "a test stops at what is not as it should be, and says what it saw")]

use std::sync::LazyLock;

use hookmitt_event::{HeaderLines, Request, Timestamp, Verdict};
use hookmitt_verify::{
    Inquiry, Judgement, PairKind, PublicForm, Published, PublishedKeys, Secret, SignBy, TestKeyPair, judge,
    parse_public_key, provider, sample, sign,
};

const AT: Timestamp = Timestamp::from_seconds(1_750_000_000);
const URL: &str = "https://hooks.example.com/in";
const TOPIC: &str = "arn:aws:sns:eu-central-1:123456789012:greenhouse-alarms";

static ED25519: LazyLock<TestKeyPair> = LazyLock::new(|| TestKeyPair::generate(PairKind::Ed25519).unwrap());
static P256: LazyLock<TestKeyPair> = LazyLock::new(|| TestKeyPair::generate(PairKind::P256).unwrap());
static RSA: LazyLock<TestKeyPair> = LazyLock::new(|| TestKeyPair::generate(PairKind::Rsa).unwrap());

/// The providers that sign with a private key, a test key of that kind, and the form in which their handlers expect the
/// public half.
fn table() -> [(&'static str, &'static TestKeyPair, PublicForm); 7] {
    [
        ("discord", &ED25519, PublicForm::Hex),
        ("standardwebhooks", &ED25519, PublicForm::Whpk),
        ("sendgrid", &P256, PublicForm::Spki),
        ("plaid", &P256, PublicForm::Jwk),
        ("paypal", &RSA, PublicForm::Pem),
        ("aws_sns", &RSA, PublicForm::Pem),
        ("google_pubsub", &RSA, PublicForm::Jwk),
    ]
}

fn params() -> Vec<(String, String)> {
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    vec![
        pair("webhook_id", "1JE4291016473214C"),
        pair("audience", URL),
        pair("service_account_email", "push@demo.iam.gserviceaccount.com"),
        pair("topic_arn", TOPIC),
    ]
}

/// Returns a sample of the provider, signed with a test key.
fn signed(id: &str, pair: &TestKeyPair) -> Request {
    let provider = provider(id).unwrap();
    let made = sample(provider, None, "0197-sample", AT).unwrap();
    let (pem, params) = (pair.private_pem(), params());
    let by = SignBy { url: Some(URL), params: &params, ..SignBy::new(provider, pem.as_bytes(), AT) };
    sign(&by, &made).unwrap()
}

struct Asked<'a> {
    secrets: &'a [Secret],
    params: Vec<(String, String)>,
    published: Option<&'a dyn PublishedKeys>,
}

fn judged(id: &str, request: &Request, asked: &Asked<'_>) -> Judgement {
    judge(&Inquiry {
        request,
        url: Some(URL),
        provider: Some(provider(id).unwrap()),
        generic: None,
        scheme: None,
        secrets: asked.secrets,
        tolerance: None,
        at: AT,
        params: &asked.params,
        published: asked.published,
    })
}

fn code(judgement: &Judgement) -> &str {
    judgement.causes.first().map_or("", |cause| cause.code.as_str())
}

#[test]
fn what_a_test_key_signs_is_valid_with_its_public_half_and_with_nothing_else() {
    for (id, pair, form) in table() {
        let request = signed(id, pair);
        let public = pair.public(form).unwrap();
        let supplied = Secret::public_key("file", parse_public_key(public.as_bytes()).unwrap());
        let typed = Secret::new("typed", public);
        let private = Secret::new("test key", pair.private_pem());
        for secret in [supplied, typed, private] {
            let asked = Asked { secrets: std::slice::from_ref(&secret), params: params(), published: None };
            let found = judged(id, &request, &asked);
            assert_eq!(found.verdict, Verdict::Valid, "{id} {}: {:?}", secret.label, found.causes);
        }
        let other = Secret::new("other", TestKeyPair::generate(pair.kind()).unwrap().private_pem());
        let asked = Asked { secrets: &[other], params: params(), published: None };
        let found = judged(id, &request, &asked);
        assert_eq!((found.verdict, code(&found)), (Verdict::Invalid, "no_match"), "{id}");
        let shared = Secret::new("shared", "not a key at all");
        let asked = Asked { secrets: &[shared], params: params(), published: None };
        assert_ne!(judged(id, &request, &asked).verdict, Verdict::Valid, "{id}");
    }
}

#[test]
fn a_changed_body_never_verifies_where_the_signature_covers_it() {
    for (id, pair, _) in table().into_iter().filter(|(id, ..)| *id != "google_pubsub") {
        let request = signed(id, pair);
        let secret = [Secret::new("test key", pair.private_pem())];
        let asked = Asked { secrets: &secret, params: params(), published: None };
        let text = String::from_utf8(request.body.to_vec()).unwrap();
        for change in [text.replacen("e", "f", 1), text.replacen("\"a", "\"b", 1), format!("{text} ")] {
            if change == text || (id == "aws_sns" && change.ends_with(' ')) {
                continue; // SNS signs the values, not how they are written
            }
            let changed = Request { body: change.into_bytes().into(), ..request.clone() };
            let verdict = judged(id, &changed, &asked).verdict;
            assert_ne!(verdict, Verdict::Valid, "{id}");
        }
    }
}

/// Published keys as if they had been fetched.
struct Fetched(Published);

impl PublishedKeys for Fetched {
    fn find(&self, _url: &str, _kid: Option<&str>) -> Published {
        self.0.clone()
    }
}

/// The providers that publish their keys, and the start of their URLs.
const PUBLISHERS: [(&str, &str); 3] = [
    ("paypal", "https://api.paypal.com/"),
    ("aws_sns", "https://sns."),
    ("google_pubsub", "https://www.googleapis.com/oauth2/v3/certs"),
];

#[test]
fn a_published_key_is_waited_for_without_waiting() {
    for (id, url) in PUBLISHERS {
        let request = signed(id, &RSA);
        let found = |published: Option<&dyn PublishedKeys>| {
            judged(id, &request, &Asked { secrets: &[], params: params(), published })
        };
        let pending = found(Some(&Fetched(Published::Awaited)));
        assert_eq!((pending.verdict, code(&pending)), (Verdict::Pending, "key_pending"), "{id}");
        assert!(pending.wanted.unwrap().url.starts_with(url), "{id}");
        let gone = found(Some(&Fetched(Published::Unavailable("the answer was 404".to_owned()))));
        assert_eq!((gone.verdict, code(&gone)), (Verdict::Unsupported, "key_unavailable"), "{id}");
        assert!(gone.causes[0].message.contains("404"), "{id}: {:?}", gone.causes);
        assert_eq!(found(None).verdict, Verdict::Unsupported, "{id}");
        let valid = found(Some(&Fetched(Published::Key(RSA.public_key().clone()))));
        assert_eq!(valid.verdict, Verdict::Valid, "{id}: {:?}", valid.causes);
        let other = TestKeyPair::generate(PairKind::P256).unwrap();
        let invalid = found(Some(&Fetched(Published::Key(other.public_key().clone()))));
        assert_eq!(invalid.verdict, Verdict::Invalid, "{id}");
    }
}

fn without_header(request: &Request, name: &str) -> Request {
    let kept = request.headers.iter().filter(|line| !line.name.eq_ignore_ascii_case(name));
    let headers = HeaderLines::from_pairs(kept.map(|line| (line.name, line.value))).unwrap();
    Request { headers, ..request.clone() }
}

#[test]
fn threat_6_a_key_that_signs_for_everybody_needs_what_is_yours() {
    for (id, setting) in [
        ("paypal", "webhook_id"),
        ("aws_sns", "topic_arn"),
        ("google_pubsub", "audience"),
        ("google_pubsub", "service_account_email"),
    ] {
        let request = signed(id, &RSA);
        let published = Fetched(Published::Key(RSA.public_key().clone()));
        let mut without = params();
        without.retain(|(name, _)| name != setting);
        // The same key from a file or the vault still signs for every customer.
        let file = [Secret::public_key("file", RSA.public_key().clone())];
        let unlocated = without_header(&request, "PAYPAL-CERT-URL");
        for (secrets, request) in [(&[][..], &request), (&file, &request), (&file, &unlocated)] {
            let asked = Asked { secrets, params: without.clone(), published: Some(&published) };
            let found = judged(id, request, &asked);
            assert_eq!(
                (found.verdict, code(&found)),
                (Verdict::NoSecret, "wrong_configuration"),
                "{id} {setting}, {} from a file",
                secrets.len()
            );
            assert!(found.causes[0].fix.contains(setting), "{id}: {:?}", found.causes);
        }
        let mut others = params();
        others.iter_mut().filter(|(name, _)| name == setting).for_each(|(_, value)| value.push('x'));
        for secrets in [&[][..], &file] {
            let asked = Asked { secrets, params: others.clone(), published: Some(&published) };
            assert_eq!(judged(id, &request, &asked).verdict, Verdict::Invalid, "{id} {setting}");
        }
    }
}

#[test]
fn threat_6_a_request_that_names_a_key_elsewhere_is_invalid() {
    let published = Fetched(Published::Key(RSA.public_key().clone()));
    let sns = signed("aws_sns", &RSA);
    let text = String::from_utf8(sns.body.to_vec()).unwrap();
    let at = text.find("https://sns.").unwrap();
    let host = text[at..].split('/').nth(2).unwrap();
    for elsewhere in
        ["sns.s3-eu-west-1.amazonaws.com", "evil.example", "sns.eu-central-1.amazonaws.com.evil.example"]
    {
        let moved = text.replace(host, elsewhere);
        let request = Request { body: moved.into_bytes().into(), ..sns.clone() };
        let found = judged(
            "aws_sns",
            &request,
            &Asked { secrets: &[], params: params(), published: Some(&published) },
        );
        assert_eq!((found.verdict, code(&found)), (Verdict::Invalid, "untrusted_key"), "{elsewhere}");
        assert_eq!(found.wanted, None, "and it is not fetched");
    }
}

#[test]
fn plaid_s_key_is_never_fetched() {
    let request = signed("plaid", &P256);
    let nobody = Asked { secrets: &[], params: params(), published: None };
    let found = judged("plaid", &request, &nobody);
    assert_eq!((found.verdict, code(&found)), (Verdict::Unsupported, "key_unavailable"));
}
