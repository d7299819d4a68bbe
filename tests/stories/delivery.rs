//! A target's answer decides what becomes of a delivery.

use hookmitt_event::Timestamp;
use hookmitt_stories::{Answer, App, LocalServer, Seen};
use serde_json::{Value, json};

/// Settings with which retries come at once.
pub(crate) fn eager() -> Value {
    json!({ "retry_base_ms": 1, "retry_cap_ms": 1 })
}

pub(crate) fn bodies(seen: &[Seen]) -> Vec<String> {
    seen.iter().map(|seen| String::from_utf8_lossy(seen.body()).into_owned()).collect()
}

pub(crate) fn numbers(delivery: &Value) -> Vec<u64> {
    let attempts = delivery["attempts"].as_array().expect("a list");
    attempts.iter().map(|attempt| attempt["number"].as_u64().expect("a number")).collect()
}

/// Starts a hookmitt whose source `demo` has one target: a server that gives these answers.
async fn forwarding(settings: Value, answers: Vec<Answer>) -> (App, LocalServer) {
    let (app, server) = (App::start().await, LocalServer::start().await);
    server.will(answers);
    app.source("demo", Value::Null).await;
    app.target(Some("demo"), &server.url(), settings).await;
    (app, server)
}

fn raw(head: &str, body: &str) -> Answer {
    let length = body.len();
    Answer::Raw(format!("{head}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}").into_bytes())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delivered_event_says_what_it_is() {
    let (app, server) = forwarding(json!({}), vec![]).await;
    let id = app.catch("demo", &[], "hello").await;
    let event = app.status(&id, "completed").await;
    let seen = &server.wait_for(1).await[0];
    assert_eq!(seen.line(), "POST / HTTP/1.1");
    assert_eq!(seen.body(), b"hello");
    let header = |name| seen.header(name).unwrap_or_default();
    assert_eq!(header("x-hookmitt-event-id"), id);
    assert_eq!(header("x-hookmitt-delivery-id"), event["deliveries"][0]["id"].as_str().unwrap());
    assert_eq!(
        (header("x-hookmitt-attempt").as_str(), header("x-hookmitt-verdict").as_str()),
        ("1", "unsigned")
    );
    assert_eq!(seen.header("x-hookmitt-replay"), None);
    let delivery = &event["deliveries"][0];
    assert_eq!((&delivery["last_error"], &delivery["replay"]), (&Value::Null, &json!(false)));
    assert!(delivery["completed_at"].is_string());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_target_can_do_without_our_lines() {
    let (app, server) = forwarding(json!({ "hookmitt_headers": false, "preserve_host": true }), vec![]).await;
    app.catch("demo", &[], "x").await;
    let seen = &server.wait_for(1).await[0];
    assert!(!seen.head().to_ascii_lowercase().contains("x-hookmitt"), "{}", seen.head());
    assert_eq!(seen.header("host").as_deref(), Some("127.0.0.1"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_target_gets_numbered_attempts_and_then_a_dead_letter() {
    let mut settings = eager();
    settings["attempts"] = json!(3);
    let (app, server) = forwarding(settings, vec![Answer::Status(500); 3]).await;
    let id = app.catch("demo", &[], "x").await;
    let event = app.status(&id, "dead_letter").await;
    let delivery = &event["deliveries"][0];
    assert_eq!(numbers(delivery), [1, 2, 3]);
    assert_eq!(
        (&delivery["last_error"], &delivery["next_attempt_at"]),
        (&json!("answered 500"), &Value::Null)
    );
    assert!(delivery["completed_at"].is_string());
    let sent: Vec<_> = server.seen().iter().map(|seen| seen.header("x-hookmitt-attempt").unwrap()).collect();
    assert_eq!(sent, ["1", "2", "3"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retry_by_hand_clears_the_attempts() {
    let mut settings = eager();
    settings["attempts"] = json!(2);
    let (app, server) = forwarding(settings, vec![Answer::Status(503); 3]).await;
    let id = app.catch("demo", &[], "x").await;
    app.status(&id, "dead_letter").await;
    let again = app.ask("POST", &format!("/api/events/{id}/retry"), Value::Null).await;
    assert_eq!(again["items"].as_array().map(Vec::len), Some(1));
    let event = app.status(&id, "completed").await;
    assert_eq!(numbers(&event["deliveries"][0]), [1, 2], "a 503, then a 200");
    let sent: Vec<_> = server.seen().iter().map(|seen| seen.header("x-hookmitt-attempt").unwrap()).collect();
    assert_eq!(sent, ["1", "2", "1", "2"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_dead_letter_can_be_taken_up_again_at_once() {
    let mut settings = eager();
    settings["attempts"] = json!(1);
    let (app, server) = forwarding(settings, vec![Answer::Status(500); 2]).await;
    for body in ["a", "b"] {
        let id = app.catch("demo", &[], body).await;
        app.status(&id, "dead_letter").await;
    }
    let order = json!({ "dead_letter": true, "source": "demo" });
    let again = app.ask("POST", "/api/retry", order).await;
    assert_eq!(again["items"].as_array().map(Vec::len), Some(2));
    assert_eq!(bodies(&server.wait_for(4).await), ["a", "b", "a", "b"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_final_status_ends_a_delivery_at_once() {
    let final_ones = [301, 302, 304, 400, 401, 404, 410, 422];
    let (app, _server) = forwarding(eager(), final_ones.map(Answer::Status).to_vec()).await;
    for status in final_ones {
        let id = app.catch("demo", &[], &status.to_string()).await;
        let event = app.status(&id, "failed").await;
        let delivery = &event["deliveries"][0];
        assert_eq!(numbers(delivery), [1], "{status}");
        assert_eq!(delivery["attempts"][0]["response_status"], status);
        assert_eq!(delivery["last_error"], format!("answered {status}"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_status_that_may_pass_is_tried_again() {
    let passing = [408, 409, 425, 429, 500, 502, 503];
    let answers = passing.iter().flat_map(|status| [Answer::Status(*status), Answer::Status(200)]).collect();
    let (app, _server) = forwarding(eager(), answers).await;
    for status in passing {
        let id = app.catch("demo", &[], &status.to_string()).await;
        let event = app.status(&id, "completed").await;
        let attempts = &event["deliveries"][0]["attempts"];
        let statuses = [&attempts[0]["response_status"], &attempts[1]["response_status"]];
        assert_eq!(statuses, [&json!(status), &json!(200)]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_target_may_ask_for_a_pause_up_to_an_hour() {
    let busy = |wait: &str| raw(&format!("HTTP/1.1 429 Busy\r\nRetry-After: {wait}\r\n"), "later");
    let (app, _server) = forwarding(eager(), vec![busy("600"), busy("86400")]).await;
    for (body, seconds) in [("a", 600), ("b", 3600)] {
        let before = Timestamp::now();
        let id = app.catch("demo", &[], body).await;
        let event =
            app.until(&id, "a retry is set", |event| event["deliveries"][0]["next_attempt_at"].is_string());
        let delivery = event.await["deliveries"][0].clone();
        let next: Timestamp = delivery["next_attempt_at"].as_str().unwrap().parse().unwrap();
        let waits = next.since(before).as_secs();
        assert!((seconds..seconds + 60).contains(&waits), "{waits} s");
        assert_eq!((&delivery["status"], numbers(&delivery)), (&json!("pending"), vec![1]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_attempt_keeps_the_answer() {
    let answer = raw("HTTP/1.1 418 Teapot\r\nX-Odd:  Two \r\nx-odd: 2\r\n", "short and stout");
    let (app, _server) = forwarding(eager(), vec![answer]).await;
    let id = app.catch("demo", &[], "x").await;
    let attempt = app.status(&id, "failed").await["deliveries"][0]["attempts"][0].clone();
    assert_eq!((&attempt["response_status"], &attempt["error"]), (&json!(418), &Value::Null));
    assert_eq!(attempt["response_headers"][0], json!(["X-Odd", "Two"]));
    assert_eq!(attempt["response_headers"][1], json!(["x-odd", "2"]));
    assert_eq!(
        (&attempt["response_body"], &attempt["response_truncated"]),
        (&json!("short and stout"), &json!(false))
    );
    assert!(attempt["duration_ms"].is_u64() && attempt["started_at"].is_string());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_answer_is_kept_up_to_a_mebibyte() {
    let (app, _server) =
        forwarding(eager(), vec![raw("HTTP/1.1 200 OK\r\n", &"x".repeat(1024 * 1024 + 1))]).await;
    let id = app.catch("demo", &[], "x").await;
    let attempt = app.status(&id, "completed").await["deliveries"][0]["attempts"][0].clone();
    assert_eq!((&attempt["response_status"], &attempt["response_truncated"]), (&json!(200), &json!(true)));
    let db = rusqlite::Connection::open(app.folder.path().join("inbox.db")).unwrap();
    let kept = db.query_row("SELECT length(body), truncated FROM attempt", [], |row| {
        Ok((row.get::<_, i64>(0)?, row.get::<_, bool>(1)?))
    });
    assert_eq!(kept.unwrap(), (1024 * 1024, true));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_target_that_says_nothing_in_time_is_tried_again() {
    let mut settings = eager();
    settings["timeout_ms"] = json!(200);
    let (app, server) = forwarding(settings, vec![Answer::When(std::sync::Arc::default())]).await;
    let id = app.catch("demo", &[], "x").await;
    // On a slow machine the second attempt may time out as well.
    let event = app.until(&id, "the delivery ends", |event| {
        event["status"] != "pending" && event["status"] != "processing"
    });
    let delivery = event.await["deliveries"][0].clone();
    let first = &delivery["attempts"][0];
    assert_eq!(
        (&first["response_status"], &first["error"]),
        (&Value::Null, &json!("no answer within the time limit"))
    );
    assert!(first["duration_ms"].as_u64() >= Some(200), "{first}");
    assert_eq!(delivery["status"], "completed");
    assert!(server.seen().len() >= 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_breaks_off_is_tried_again() {
    let cut = Answer::Raw(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nnot all".to_vec());
    let (app, _server) =
        forwarding(eager(), vec![Answer::Close, cut, Answer::Raw(b"mitt\r\n\r\n".to_vec())]).await;
    let id = app.catch("demo", &[], "x").await;
    let delivery = app.status(&id, "completed").await["deliveries"][0].clone();
    assert_eq!(numbers(&delivery), [1, 2, 3, 4]);
    let errors: Vec<_> = (0..4).map(|at| delivery["attempts"][at]["error"].as_str()).collect();
    assert!(errors[..3].iter().all(Option::is_some) && errors[3].is_none(), "{errors:?}");
    let second = &delivery["attempts"][1];
    assert_eq!((&second["response_status"], &second["response_body"]), (&json!(200), &json!("not all")));
}
