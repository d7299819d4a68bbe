//! Set-up requests that are confirmed by a call: it goes to the provider's own host, over TLS, once, when asked for.

use hookmitt_event::{Request, Timestamp};
use hookmitt_stories::{App, ProviderHost};
use hookmitt_verify::{PairKind, PublicForm, SignBy, TestKeyPair, provider, sample, sign};
use serde_json::{Value, json};

use super::handshakes::send;

const HOST: &str = "sns.eu-central-1.amazonaws.com";
const TOPIC: &str = "arn:aws:sns:eu-central-1:123456789012:greenhouse-alarms";

fn subscription(pair: &TestKeyPair, id: &str) -> Request {
    let (amazon, now) = (provider("aws_sns").unwrap(), Timestamp::now());
    let made = sample(amazon, Some("SubscriptionConfirmation"), id, now).unwrap();
    sign(&SignBy::new(amazon, pair.private_pem().as_bytes(), now), &made).unwrap()
}

/// Adds a topic's source that has the key of Amazon's certificate, so that no key is fetched.
async fn topic(app: &App, pair: &TestKeyPair, confirm: bool) {
    let settings = json!({ "provider": "aws_sns", "params": { "topic_arn": TOPIC }, "confirm": confirm });
    app.source("alarms", settings).await;
    app.secret("alarms", "certificate", &pair.public(PublicForm::Pem).unwrap()).await;
}

async fn confirm(app: &App, name: &str) -> (u16, Value) {
    app.call("POST", &format!("/api/events/{name}/confirm"), Value::Null).await
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_6_a_click_calls_the_url_of_a_genuine_subscription_once() {
    let (host, pair) = (ProviderHost::start(HOST), TestKeyPair::generate(PairKind::Rsa).unwrap());
    let app = App::start_reaching(host.network()).await;
    topic(&app, &pair, false).await;
    send(&app, "alarms", &subscription(&pair, "1")).await;
    let event = app.event("last").await;
    assert_eq!(
        (&event["verdict"], &event["handshake_offer"]),
        (&json!("valid"), &json!("confirm")),
        "{event}"
    );
    assert_eq!(host.asked(), [] as [&str; 0], "nobody clicked yet");

    let clicks = tokio::join!(confirm(&app, "last"), confirm(&app, "last"));
    let mut answers = [clicks.0, clicks.1];
    answers.sort_by_key(|(status, _)| *status);
    assert_eq!(answers[0], (200, json!({ "host": HOST, "status": 200 })));
    assert_eq!((answers[1].0, &answers[1].1["code"]), (400, &json!("already-confirmed")));

    let asked = host.asked();
    assert_eq!(asked.len(), 1, "{asked:?}");
    let line = "GET /?Action=ConfirmSubscription&TopicArn=arn:aws:sns:eu-central-1:123456789012:greenhouse-alarms&Token=2336412f";
    assert!(asked[0].starts_with(line) && asked[0].contains(&format!("host: {HOST}\r\n")), "{}", asked[0]);
    let event = app.event("last").await;
    assert!(event["handshake_answer"]["confirmed_at"].is_string(), "{event}");
    assert!(event.get("handshake_offer").is_none_or(Value::is_null), "{event}");
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_6_a_forged_subscription_calls_nobody() {
    let (host, pair) = (ProviderHost::start(HOST), TestKeyPair::generate(PairKind::Rsa).unwrap());
    let app = App::start_reaching(host.network()).await;
    topic(&app, &pair, true).await;
    let forger = TestKeyPair::generate(PairKind::Rsa).unwrap();
    send(&app, "alarms", &subscription(&forger, "1")).await;
    assert_eq!(app.event("last").await["verdict"], "invalid");
    let refused = confirm(&app, "last").await;
    assert_eq!((refused.0, &refused.1["code"]), (400, &json!("not-genuine")));

    // A genuine request is confirmed automatically, as the source is set: this is the only call so far.
    send(&app, "alarms", &subscription(&pair, "2")).await;
    let is_confirmed = |event: &Value| event["handshake_answer"]["confirmed_at"].is_string();
    app.until("last", "the subscription is confirmed by itself", is_confirmed).await;
    assert_eq!(host.asked().len(), 1, "{:?}", host.asked());
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_6_an_answer_that_is_no_yes_confirms_nothing_and_no_redirect_is_followed() {
    let (host, pair) = (ProviderHost::start(HOST), TestKeyPair::generate(PairKind::Rsa).unwrap());
    let app = App::start_reaching(host.network()).await;
    topic(&app, &pair, false).await;
    send(&app, "alarms", &subscription(&pair, "1")).await;
    for status in [302, 403] {
        host.answers(status);
        let (code, problem) = confirm(&app, "last").await;
        assert_eq!((code, &problem["code"]), (502, &json!("not-confirmed")), "{problem}");
        assert!(
            problem["detail"].as_str().unwrap().contains(&format!("{HOST} answered {status}")),
            "{problem}"
        );
        assert_eq!(app.event("last").await["handshake_offer"], "confirm");
    }
    assert_eq!(host.asked().len(), 2);
    host.answers(200);
    assert_eq!(confirm(&app, "last").await.0, 200, "a second try may");
}
