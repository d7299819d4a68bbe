//! The providers whose own SDK is available, with the keys and bodies that it accepts.

use hookmitt_verify::{PairKind, PublicForm};

use crate::peer::Language::{self, Node, Python};

/// One SDK, tested with one of its provider's schemes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row {
    /// The provider, which is also the SDK's name in the peer.
    pub(crate) id: &'static str,
    pub(crate) language: Language,
    pub(crate) key: Key,
    pub(crate) bodies: Bodies,
    /// The scheme, if it isn't the provider's first.
    pub(crate) scheme: Option<&'static str>,
    /// Header lines that select the scheme.
    pub(crate) lines: &'static [(&'static str, &'static str)],
    /// What the query contains to select the scheme.
    pub(crate) query: &'static str,
    pub(crate) params: &'static [(&'static str, &'static str)],
    /// Whether a changed body makes the signature invalid.
    pub(crate) covers_body: bool,
}

/// The keys of a row.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Key {
    /// A secret of the kind that the provider issues, and a wrong one.
    Secret(&'static str, &'static str),
    /// A key pair whose public half the provider shows in this form.
    Pair(PairKind, PublicForm),
}

/// The bodies that an SDK can verify. Some SDKs parse the body before they check the signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bodies {
    /// Any bytes.
    Bytes,
    /// Any text, including an empty one.
    Text,
    /// Any text that is not empty.
    NotEmpty,
    Json,
    /// JSON exactly as `JSON.stringify` writes it, because the SDK hashes its own serialisation.
    Canonical,
    /// The bodies that the provider sends: its samples.
    Samples,
    /// Forms with any fields.
    Forms,
}

const WHSEC: Key =
    Key::Secret("whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3", "whsec_enl4d3Z1dHNycXBvbm1sa2ppaGdmZWRj");
const SLACK: Key = Key::Secret("8f742231b10e8888abcd99e0e2285a55", "0f742231b10e8888abcd99e0e2285a55");
const STRIPE: Key = Key::Secret("whsec_dGhpcyBpcyBhIHN0cmlwZSBrZXk", "whsec_other");
const POLAR: Key = Key::Secret("polar_whs_2bNq8vQk", "polar_whs_other");
const TWILIO: Key = Key::Secret("12345678901234567890123456789012", "22345678901234567890123456789012");
const ADYEN: Key = Key::Secret(
    "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056",
    "54782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056",
);
const CONTENTFUL: Key = Key::Secret(
    "jJ0X1eVpq2mTz7Rk9YwLs4Hn6Bd3Cf8GaUoI5EtSxQvWyKlMhNrPbDcZgFuAiOe_",
    "kJ0X1eVpq2mTz7Rk9YwLs4Hn6Bd3Cf8GaUoI5EtSxQvWyKlMhNrPbDcZgFuAiOe_",
);
const TEXT: Key = Key::Secret("a secret of the hook: söhngk", "another");

const fn row(id: &'static str, language: Language, key: Key, bodies: Bodies) -> Row {
    Row { id, language, key, bodies, scheme: None, lines: &[], query: "", params: &[], covers_body: true }
}

/// Returns a row for another scheme of the same SDK.
const fn also(row: Row, scheme: &'static str) -> Row {
    Row { scheme: Some(scheme), ..row }
}

const TWILIO_NODE: Row = row("twilio", Node, TWILIO, Bodies::Forms);
const TWILIO_PYTHON: Row = row("twilio", Python, TWILIO, Bodies::Forms);
const ADYEN_PYTHON: Row = row("adyen", Python, ADYEN, Bodies::Samples);
const HUBSPOT: Row = row("hubspot", Python, TEXT, Bodies::Text);
/// The Node SDK turns characters other than hex into other key bytes than the Python SDK. Braintree's keys are hex.
const BRAINTREE: Key = Key::Secret("aabbccddeeff00112233445566778899", "bbbbccddeeff00112233445566778899");
const BRAINTREE_PARAMS: &[(&str, &str)] = &[("public_key_id", "integration_public_key")];

/// All rows. Node is used for SDKs that are small there.
pub(crate) const ROWS: &[Row] = &[
    row("github", Node, Key::Secret("c2VjcmV0IG9mIHRoZSBob29r", "another"), Bodies::NotEmpty),
    row("stripe", Node, STRIPE, Bodies::NotEmpty),
    row("stripe", Python, STRIPE, Bodies::Text),
    row("slack", Node, SLACK, Bodies::Text),
    row("slack", Python, SLACK, Bodies::Text),
    row("shopify", Node, Key::Secret("shpss_0a1b2c3d", "shpss_other"), Bodies::NotEmpty),
    row("standardwebhooks", Node, WHSEC, Bodies::Text),
    row("standardwebhooks", Python, WHSEC, Bodies::Json),
    row("svix", Node, WHSEC, Bodies::Json),
    row("svix", Python, WHSEC, Bodies::Json),
    row("clerk", Node, WHSEC, Bodies::Json),
    row("resend", Node, WHSEC, Bodies::Json),
    row("openai", Node, WHSEC, Bodies::Text),
    row("anthropic", Python, WHSEC, Bodies::Json),
    row("replicate", Node, WHSEC, Bodies::NotEmpty),
    row("liveblocks", Node, WHSEC, Bodies::Json),
    row("polar", Node, POLAR, Bodies::Text),
    row("polar", Python, POLAR, Bodies::Text),
    Row { covers_body: false, ..row("telegram", Node, Key::Secret("A1_b-2", "A1_b-3"), Bodies::Bytes) },
    TWILIO_NODE,
    Row { query: "&bodySHA256=0", bodies: Bodies::Json, ..also(TWILIO_NODE, "twilio-json-bodysha256") },
    TWILIO_PYTHON,
    Row { query: "&bodySHA256=0", bodies: Bodies::Json, ..also(TWILIO_PYTHON, "twilio-json-bodysha256") },
    Row {
        lines: &[("X-Twilio-Webhooks-Signature-Settings", "key=webhooks_sharedkey_1,algorithm=HMAC_SHA256")],
        ..also(TWILIO_PYTHON, "twilio-sharedkey")
    },
    row("sendgrid", Node, Key::Pair(PairKind::P256, PublicForm::Spki), Bodies::Text),
    row("discord", Node, Key::Pair(PairKind::Ed25519, PublicForm::Hex), Bodies::Text),
    row("line", Node, TEXT, Bodies::Bytes),
    row("zoom", Node, TEXT, Bodies::Canonical),
    row("paddle", Node, Key::Secret("pdl_ntfset_01h_x+/y", "pdl_ntfset_other"), Bodies::Text),
    row("square", Python, TEXT, Bodies::NotEmpty),
    ADYEN_PYTHON,
    Row { bodies: Bodies::Bytes, ..also(ADYEN_PYTHON, "adyen-header") },
    row("razorpay", Node, TEXT, Bodies::NotEmpty),
    row("razorpay", Python, TEXT, Bodies::Text),
    Row { params: BRAINTREE_PARAMS, ..row("braintree", Node, BRAINTREE, Bodies::Samples) },
    Row { params: BRAINTREE_PARAMS, ..row("braintree", Python, BRAINTREE, Bodies::Samples) },
    row("coinbase_commerce", Python, TEXT, Bodies::Samples),
    row("mux", Node, TEXT, Bodies::Text),
    row("linear", Node, Key::Secret("lin_wh_0a1b2c", "lin_wh_other"), Bodies::Samples),
    row("notion", Node, Key::Secret("secret_0a1b2c", "secret_other"), Bodies::Bytes),
    HUBSPOT,
    Row { lines: &[("X-HubSpot-Signature-Version", "v2")], ..also(HUBSPOT, "hubspot-v2") },
    Row { lines: &[("X-HubSpot-Signature-Version", "v1")], ..also(HUBSPOT, "hubspot-v1") },
    row("box", Python, TEXT, Bodies::Text),
    row("contentful", Node, CONTENTFUL, Bodies::Text),
    row("sanity", Node, TEXT, Bodies::NotEmpty),
    row("workos", Node, TEXT, Bodies::Canonical),
    Row {
        params: &[("topic_arn", "arn:aws:sns:eu-central-1:123456789012:greenhouse-alarms")],
        ..row("aws_sns", Node, Key::Pair(PairKind::Rsa, PublicForm::Pem), Bodies::Samples)
    },
    Row {
        params: &[
            ("audience", "https://example.com/push"),
            ("service_account_email", "push@example.iam.gserviceaccount.com"),
        ],
        covers_body: false,
        ..row("google_pubsub", Node, Key::Pair(PairKind::Rsa, PublicForm::Pem), Bodies::Samples)
    },
    Row {
        params: &[("webhook_id", "8PT597110X687430LKGECATA")],
        ..row("paypal", Python, Key::Pair(PairKind::Rsa, PublicForm::Pem), Bodies::Text)
    },
    row("gocardless", Node, TEXT, Bodies::Bytes),
    row("gocardless", Python, TEXT, Bodies::Samples),
    row("elevenlabs", Python, Key::Secret("wsec_0a1b2c", "wsec_other"), Bodies::Json),
];
