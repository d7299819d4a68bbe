//! The set-up requests of every provider, and the answer that each must get.

/// A set-up request and the expected result.
pub(crate) struct Row {
    pub(crate) provider: &'static str,
    pub(crate) name: &'static str,
    pub(crate) method: &'static str,
    pub(crate) query: Option<&'static str>,
    pub(crate) headers: &'static [(&'static str, &'static str)],
    pub(crate) body: &'static str,
    /// The source's secret, with which the request is signed if the provider signs it.
    pub(crate) secret: Option<&'static str>,
    pub(crate) signed: bool,
    pub(crate) params: &'static [(&'static str, &'static str)],
    pub(crate) answer: (u16, &'static [(&'static str, &'static str)], &'static str),
}

const NONE: Row = Row {
    provider: "",
    name: "",
    method: "POST",
    query: None,
    headers: &[],
    body: "",
    secret: None,
    signed: false,
    params: &[],
    answer: (200, &[], ""),
};

const PLAIN: &[(&str, &str)] = &[("content-type", "text/plain"), ("x-content-type-options", "nosniff")];
const JSON: &[(&str, &str)] = &[("content-type", "application/json")];

pub(crate) const ROWS: &[Row] = &[
    Row {
        provider: "slack",
        name: "url_verification",
        body: r#"{"token":"x","type":"url_verification","challenge":"hookmitt-challenge-1"}"#,
        secret: Some("a-signing-secret-of-ours"),
        signed: true,
        answer: (200, PLAIN, "hookmitt-challenge-1"),
        ..NONE
    },
    Row {
        provider: "meta",
        name: "hub.challenge",
        method: "GET",
        query: Some("hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=me%20at"),
        params: &[("verify_token", "me at")],
        answer: (200, PLAIN, "1158201444"),
        ..NONE
    },
    Row {
        provider: "meta",
        name: "hub.challenge",
        method: "GET",
        query: Some("hub.mode=subscribe&hub.challenge=7&hub.verify_token=any"),
        answer: (200, PLAIN, "7"),
        ..NONE
    },
    Row {
        provider: "zoom",
        name: "endpoint.url_validation",
        body: r#"{"event":"endpoint.url_validation","payload":{"plainToken":"a-plain-token"},"event_ts":1654503849680}"#,
        secret: Some("zoom-secret"),
        signed: true,
        answer: (200, JSON, r#"{"plainToken":"a-plain-token","encryptedToken":"@hmac:a-plain-token@"}"#),
        ..NONE
    },
    Row {
        provider: "dropbox",
        name: "challenge",
        method: "GET",
        query: Some("challenge=abc%2Fdef"),
        answer: (200, PLAIN, "abc/def"),
        ..NONE
    },
    Row {
        provider: "asana",
        name: "x_hook_secret",
        headers: &[("X-Hook-Secret", "b537207f20cbfa02357cf448134da559")],
        body: "{}",
        answer: (200, &[("x-hook-secret", "b537207f20cbfa02357cf448134da559")], ""),
        ..NONE
    },
    Row {
        provider: "asana",
        name: "heartbeat",
        body: r#"{"events":[]}"#,
        secret: Some("b537207f20cbfa02357cf448134da559"),
        signed: true,
        ..NONE
    },
    Row {
        provider: "notion",
        name: "verification_token",
        body: r#"{"verification_token":"secret_of-our-own-making"}"#,
        ..NONE
    },
    Row {
        provider: "twitch",
        name: "webhook_callback_verification",
        headers: &[
            ("Twitch-Eventsub-Message-Id", "e76c6bd4"),
            ("Twitch-Eventsub-Message-Type", "webhook_callback_verification"),
        ],
        body: r#"{"challenge":"a-challenge-of-twitch","subscription":{"type":"channel.follow"}}"#,
        secret: Some("s3cRe7s3cRe7"),
        signed: true,
        answer: (200, PLAIN, "a-challenge-of-twitch"),
        ..NONE
    },
    Row {
        provider: "azure_eventgrid",
        name: "SubscriptionValidation",
        headers: &[("aeg-event-type", "SubscriptionValidation")],
        body: r#"[{"id":"2d1781af","topic":"/subscriptions/x","subject":"","data":{"validationCode":"a-validation-code"},"eventType":"Microsoft.EventGrid.SubscriptionValidationEvent","eventTime":"2026-01-01T00:00:00Z"}]"#,
        answer: (200, JSON, r#"{"validationResponse":"a-validation-code"}"#),
        ..NONE
    },
    Row {
        provider: "cloudevents",
        name: "options",
        method: "OPTIONS",
        headers: &[("WebHook-Request-Origin", "eventemitter.example.com"), ("WebHook-Request-Rate", "120")],
        answer: (200, &[("webhook-allowed-origin", "eventemitter.example.com")], ""),
        ..NONE
    },
    Row {
        provider: "azure_eventgrid",
        name: "options",
        method: "OPTIONS",
        headers: &[("WebHook-Request-Origin", "eventgrid.azure.net")],
        answer: (
            200,
            &[("webhook-allowed-origin", "eventgrid.azure.net"), ("webhook-allowed-rate", "*")],
            "",
        ),
        ..NONE
    },
    Row {
        provider: "line",
        name: "verify",
        body: r#"{"destination":"Uabc","events":[]}"#,
        secret: Some("8c570fa6dd201bb328f1c1eac23a96d8"),
        signed: true,
        ..NONE
    },
    Row {
        provider: "xero",
        name: "intent_to_receive",
        body: r#"{"events":[],"firstEventSequence":0,"lastEventSequence":0,"entropy":"S0m3r4Nd0mt3xt"}"#,
        secret: Some("xero-key"),
        signed: true,
        ..NONE
    },
    Row {
        provider: "woocommerce",
        name: "ping",
        headers: &[
            ("Content-Type", "application/x-www-form-urlencoded"),
            ("User-Agent", "WooCommerce/9.1 Hookshot (WordPress/6.5)"),
        ],
        body: "webhook_id=12",
        ..NONE
    },
    Row { provider: "trello", name: "head", method: "HEAD", ..NONE },
    Row { provider: "intercom", name: "head", method: "HEAD", ..NONE },
    Row {
        provider: "monday",
        name: "challenge",
        body: r#"{"challenge":"a \"quoted\""}"#,
        answer: (200, JSON, r#"{"challenge":"a \"quoted\""}"#),
        ..NONE
    },
    Row {
        provider: "braintree",
        name: "bt_challenge",
        method: "GET",
        query: Some("bt_challenge=0123456789abcdef0123456789abcdef"),
        secret: Some("a-private-key-of-ours"),
        params: &[("public_key_id", "a-public-key-id")],
        // HMAC-SHA1 with the SHA-1 of the private key as its key.
        answer: (200, PLAIN, "a-public-key-id|8bebad551dd1e258e27dd8fdf176c47b2e344526"),
        ..NONE
    },
    Row {
        provider: "figma",
        name: "ping",
        body: r#"{"event_type":"PING","passcode":"pass","timestamp":"2026-01-01T00:00:00Z","webhook_id":"22"}"#,
        secret: Some("pass"),
        ..NONE
    },
    Row {
        provider: "pagerduty",
        name: "ping",
        body: r#"{"event":{"id":"01","event_type":"pagey.ping","resource_type":"pagey","occurred_at":"2026-01-01T00:00:00Z","data":{"message":"Hello","type":"ping"}}}"#,
        secret: Some("pd-secret"),
        signed: true,
        ..NONE
    },
];
