//! A signature that doesn't cover the body can be reused for another one; the id that it covers shows that (Threat 6).

use hookmitt_event::{HeaderLines, Request, Timestamp};
use hookmitt_stories::{App, LocalServer, ProviderHost};
use hookmitt_verify::{PairKind, PublicForm, SignBy, TestKeyPair, provider, sample, sign};
use serde_json::{Value, json};

use super::handshakes::send;

const WEBHOOK_ID: &str = "1JE4291016473214C";
const OTHER_BODY: &str = "another body came before under the same signed id, which covers only one";

/// Returns a PayPal event signed with this key.
fn transmission(pair: &TestKeyPair, id: &str) -> Request {
    let (paypal, now) = (provider("paypal").unwrap(), Timestamp::now());
    let params = [("webhook_id".to_owned(), WEBHOOK_ID.to_owned())];
    let private = pair.private_pem();
    let by = SignBy { params: &params, ..SignBy::new(paypal, private.as_bytes(), now) };
    sign(&by, &sample(paypal, None, id, now).unwrap()).unwrap()
}

/// Returns another event with the same signature and the same CRC-32: four extra bytes make up for the change.
fn forged(genuine: &Request) -> Request {
    let text = String::from_utf8(genuine.body.to_vec()).unwrap();
    let id = serde_json::from_str::<Value>(&text).unwrap()["id"].as_str().unwrap().to_owned();
    let other = text.replace(&id, &format!("{id}-FORGED"));
    Request { body: with_crc(other.as_bytes(), crc(&genuine.body)).into(), ..genuine.clone() }
}

fn table() -> Vec<u32> {
    let entry = |byte: u32| {
        (0..8).fold(byte, |crc, _| if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 })
    };
    (0..256).map(entry).collect()
}

fn crc(bytes: &[u8]) -> u32 {
    let table = table();
    !bytes.iter().fold(!0, |crc: u32, byte| (crc >> 8) ^ table[((crc ^ u32::from(*byte)) & 0xff) as usize])
}

/// Returns the body with four bytes at its end that give it the wanted CRC-32.
fn with_crc(body: &[u8], wanted: u32) -> Vec<u8> {
    let table = table();
    let (mut state, mut path) = (!wanted, Vec::new());
    for _ in 0..4 {
        let index = table.iter().position(|entry| entry >> 24 == state >> 24).unwrap();
        path.push(index);
        state = (state ^ table[index]) << 8;
    }
    let (mut state, mut out) = (!crc(body), body.to_vec());
    for index in path.into_iter().rev() {
        out.push(((state & 0xff) as u8) ^ u8::try_from(index).unwrap());
        state = (state >> 8) ^ table[index];
    }
    assert_eq!(crc(&out), wanted);
    out
}

async fn source(app: &App, on_invalid: &str) -> LocalServer {
    let server = LocalServer::start().await;
    let params = json!({ "webhook_id": WEBHOOK_ID });
    app.source("pay", json!({ "provider": "paypal", "params": params, "on_invalid": on_invalid })).await;
    app.target(Some("pay"), &server.url(), json!({})).await;
    server
}

async fn caught(app: &App, slug: &str, request: &Request) -> (u16, Value) {
    let reply = send(app, slug, request).await;
    (reply.status, app.event(reply.header("x-hookmitt-event-id").unwrap()).await)
}

fn id(event: &Value) -> &str {
    event["id"].as_str().unwrap()
}

/// Returns verdict, conflict, the first event of a duplicate, and why the event isn't sent.
fn told(event: &Value) -> (&Value, &Value, &Value, &Value) {
    (&event["verdict"], &event["conflict"], &event["duplicate_of"], &event["deliveries"][0]["last_error"])
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_6_another_body_under_one_transmission_is_a_conflict_that_reject_withholds() {
    let (app, pair) = (App::start().await, TestKeyPair::generate(PairKind::Rsa).unwrap());
    let server = source(&app, "reject").await;
    app.secret("pay", "default", &pair.private_pem()).await;
    let genuine = transmission(&pair, "0197-one");
    let (status, first) = caught(&app, "pay", &genuine).await;
    assert_eq!((status, &first["verdict"]), (200, &json!("valid")));
    app.status(id(&first), "completed").await;
    let (status, other) = caught(&app, "pay", &forged(&genuine)).await;
    assert_eq!(status, 401, "its signature holds, and it is another body");
    assert_ne!(other["dedupe_key"], first["dedupe_key"]);
    assert_eq!(told(&other), (&json!("valid"), &json!(true), &first["id"], &json!(OTHER_BODY)));
    // A genuine duplicate is no conflict, and PayPal's next event is delivered.
    let (status, again) = caught(&app, "pay", &genuine).await;
    assert_eq!((status, &again["conflict"], &again["duplicate_of"]), (200, &json!(false), &first["id"]));
    let (status, next) = caught(&app, "pay", &transmission(&pair, "0197-two")).await;
    assert_eq!((status, &next["conflict"]), (200, &json!(false)));
    // With another key, what was proved stays proved, and who owns an id does not change.
    let another = TestKeyPair::generate(PairKind::Rsa).unwrap();
    app.secret("pay", "default", &another.private_pem()).await;
    assert_eq!(told(&app.event(id(&other)).await), told(&other));
    app.until(id(&next), "settled", |event| event["status"] != "pending" && event["status"] != "processing")
        .await;
    let forgeries =
        server.seen().iter().filter(|seen| String::from_utf8_lossy(seen.body()).contains("FORGED")).count();
    assert_eq!(forgeries, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_6_another_body_is_turned_away_through_a_relay_too() {
    let (set, pair) = (super::tunnel::set(&[]).await, TestKeyPair::generate(PairKind::Rsa).unwrap());
    let server = source(&set.app, "reject").await;
    set.app.secret("pay", "default", &pair.private_pem()).await;
    let genuine = transmission(&pair, "0197-one");
    let other = forged(&genuine);
    assert_eq!(set.send("pay", &genuine).await.status, 200);
    assert_eq!(set.send("pay", &other).await.status, 401);
    let event = set.app.event("last").await;
    assert_eq!(told(&event).3, &json!(OTHER_BODY));
    server.wait_for(1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_6_another_body_that_waited_for_the_key_is_withheld_too() {
    let pair = TestKeyPair::generate(PairKind::Rsa).unwrap();
    let host = ProviderHost::start("api.paypal.com");
    host.publishes(&pair.public(PublicForm::Pem).unwrap());
    let app = App::start_reaching(host.network()).await;
    let server = source(&app, "reject").await;
    let unpublished = host.holds();
    let genuine = transmission(&pair, "0197-one");
    let (_, first) = caught(&app, "pay", &genuine).await;
    let (_, other) = caught(&app, "pay", &forged(&genuine)).await;
    assert_eq!((&first["verdict"], &other["verdict"]), (&json!("pending"), &json!("pending")));
    drop(unpublished);
    app.status(id(&first), "completed").await;
    let other = app.until(id(&other), "judged", |event| event["verdict"] == "valid").await;
    assert_eq!(told(&other), (&json!("valid"), &json!(true), &first["id"], &json!(OTHER_BODY)));
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_6_a_mailgun_token_counts_for_one_body() {
    let app = App::start().await;
    app.source("mail", json!({ "provider": "mailgun", "on_invalid": "reject" })).await;
    app.secret("mail", "default", "signing-key").await;
    let (mailgun, now) = (provider("mailgun").unwrap(), Timestamp::now());
    let made = sample(mailgun, None, "0197-one", now).unwrap();
    let genuine = sign(&SignBy::new(mailgun, b"signing-key", now), &made).unwrap();
    let mut body: Value = serde_json::from_slice(&genuine.body).unwrap();
    body["event-data"]["id"] = "forged".into();
    let other = Request { body: body.to_string().into(), ..genuine.clone() };
    assert_eq!(caught(&app, "mail", &genuine).await.0, 200);
    let (status, event) = caught(&app, "mail", &other).await;
    assert_eq!((status, &event["verdict"], &event["conflict"]), (401, &json!("valid"), &json!(true)));
    assert!(event["uncovered"].as_str().unwrap().contains("only its timestamp and token"), "{event}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_records_marks_another_body_as_a_conflict() {
    let (app, pair) = (App::start().await, TestKeyPair::generate(PairKind::Rsa).unwrap());
    let _server = source(&app, "record").await;
    app.secret("pay", "default", &pair.private_pem()).await;
    let genuine = transmission(&pair, "0197-one");
    let (_, first) = caught(&app, "pay", &genuine).await;
    let (status, other) = caught(&app, "pay", &forged(&genuine)).await;
    assert_eq!((status, &other["conflict"], &other["duplicate_of"]), (200, &json!(true), &first["id"]));
    // With an unknown algorithm the event is invalid, and isn't even compared with the first one.
    let lines = genuine.headers.iter().map(|line| match line.name {
        "PAYPAL-AUTH-ALGO" => (line.name, &b"SHA1withRSA"[..]),
        name => (name, line.value),
    });
    let named = Request { headers: HeaderLines::from_pairs(lines).unwrap(), ..genuine.clone() };
    let (_, event) = caught(&app, "pay", &named).await;
    assert_eq!(
        (&event["verdict"], &event["causes"][0]["code"]),
        (&json!("invalid"), &json!("unknown_algorithm"))
    );
}
