//! The inbox in numbers: by hand, by the API, and for a monitor.

use hookmitt_stories::{App, Server, exchange, parse_reply, post, serve};
use serde_json::{Value, json};

use super::listen::{folder, run};

const HISTORY: &str = "/api/stats?by=source";

#[tokio::test(flavor = "multi_thread")]
async fn the_history_stays_when_its_events_are_deleted_for_good() {
    let app = App::start().await;
    app.source("demo", json!({})).await;
    for body in ["1", "2", "2"] {
        app.catch("demo", &[], body).await;
    }
    let before = app.ask("GET", HISTORY, Value::Null).await["history"].clone();
    assert_eq!((&before["events"], &before["duplicates"]), (&json!(3), &json!(1)));
    assert_eq!(before["groups"][0]["name"], "demo");
    assert_eq!(before["statuses"], json!({ "captured": 3 }));
    app.ask("POST", "/api/clear", json!({ "source": "demo" })).await;
    let gone = app.ask("POST", "/api/trash/empty", json!({})).await;
    assert_eq!(gone["gone"], 3);
    let stats = app.ask("GET", HISTORY, Value::Null).await;
    assert_eq!((&stats["events"], &stats["history"]["groups"]), (&json!(0), &before["groups"]));
    let past = app.ask("GET", "/api/stats?until=2020-01-01T00:00:00Z", Value::Null).await;
    assert_eq!((&past["history"]["events"], &past["failures"]), (&json!(0), &json!([])));
    assert_eq!(app.ask("GET", "/api/stats", Value::Null).await["history"], Value::Null, "only if asked for");
    assert_eq!(app.call("GET", "/api/stats?by=colour", Value::Null).await.0, 400);
    assert_eq!(app.call("GET", "/api/stats?since=soon", Value::Null).await.0, 400);
    let (swapped, _) = app
        .call("GET", "/api/stats?since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z", Value::Null)
        .await;
    assert_eq!(swapped, 400);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_monitor_reads_the_numbers_at_a_port_of_its_own_and_nothing_else() {
    let folder = folder();
    let dir = folder.path();
    let mut command = serve(dir);
    command.args(["--metrics", "0"]);
    let server = Server::spawn(command).await;
    for path in ["/demo", "/demo", "/other"] {
        assert_eq!(post(server.capture, path, &[], b"{}").await.status, 202);
    }
    let refused = post(server.capture, "/No!", &[("x", "planted\"label")], b"").await;
    assert_eq!(refused.status, 404);
    let said = server.said();
    let url = said.split("metrics  http://").nth(1).and_then(|rest| rest.split('/').next()).unwrap();
    let address = url.parse().unwrap();
    let asked = async |method: &str, path: &str, host: &str| {
        let asked = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        parse_reply(&exchange(address, asked.as_bytes()).await)
    };
    let told = asked("GET", "/metrics", url).await;
    let text = String::from_utf8(told.body.to_vec()).unwrap();
    for line in [
        r#"hookmitt_captured_total{source="demo",via="direct",verdict="unsigned"} 2"#,
        r#"hookmitt_captured_total{source="other",via="direct",verdict="unsigned"} 1"#,
        "hookmitt_capture_duration_seconds_count 3",
        r#"hookmitt_capture_duration_seconds_bucket{le="+Inf"} 3"#,
        "hookmitt_waiting 0",
        "# EOF",
    ] {
        assert!(text.lines().any(|told| told == line), "{line}\n{text}");
    }
    assert!(text.contains("hookmitt_refused_total{code=") && !text.contains("planted"), "{text}");
    assert_eq!(asked("GET", "/metrics", "evil.example").await.status, 403);
    assert_eq!(asked("GET", "/api/stats", url).await.status, 404);
    assert_eq!(asked("POST", "/metrics", url).await.status, 405);
    let said = run(dir, &["stats", "--by", "source"]).await.exits(0).text();
    assert!(said.contains("demo") && said.contains("captured 2"), "{said}");
    run(dir, &["stats", "--since", "soon"]).await.exits(2);
    let checks = run(dir, &["doctor"]).await.text();
    assert!(checks.contains("search index"), "{checks}");
}
