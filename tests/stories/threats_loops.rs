//! Nothing is sent in circles, or through a proxy to this machine (Threat 4).

use hookmitt_stories::{App, LocalServer, Serving, hookmitt, post};
use serde_json::{Value, json};

/// Ways to write an address of this machine.
const NAMES: [&str; 13] = [
    "127.0.0.1",
    "localhost",
    "LOCALHOST",
    "localhost.",
    "app.localhost",
    "[::1]",
    "0.0.0.0",
    "[::]",
    "[::ffff:127.0.0.1]",
    "127.1",
    "0",
    "2130706433",
    "0x7f.1",
];

#[tokio::test(flavor = "multi_thread")]
async fn threat_4_our_own_addresses_are_no_targets_however_they_are_written() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    let id = app.target(None, &server.url(), json!({})).await;
    post(app.capture(), "/demo", &[], b"{}").await;
    let mut urls = vec![format!("{}", app.capture().port()), format!(":{}/demo", app.api().port())];
    for port in [app.capture().port(), app.api().port()] {
        urls.extend(NAMES.map(|name| format!("http://{name}:{port}/demo")));
    }
    for url in &urls {
        let calls = [
            ("POST", "/api/targets".to_owned(), json!({ "url": url })),
            ("PATCH", format!("/api/targets/{id}"), json!({ "url": url })),
            ("POST", "/api/events/last/replay".to_owned(), json!({ "to": url })),
            ("POST", "/api/listen".to_owned(), json!({ "url": url })),
        ];
        for (method, path, body) in calls {
            let (status, answer) = app.call(method, &path, body).await;
            assert_eq!(
                (status, &answer["code"]),
                (400, &json!("own-address")),
                "{method} {path} {url}: {answer}"
            );
            assert!(answer["hint"].as_str().unwrap().contains("your own server"));
        }
    }
    let targets = app.ask("GET", "/api/targets", Value::Null).await["items"].clone();
    assert_eq!(targets.as_array().unwrap().len(), 1);
    assert_eq!(targets[0]["url"], server.url());
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_4_a_target_that_turns_out_to_be_ourselves_gets_nothing() {
    let app = App::start().await;
    let db = rusqlite::Connection::open(app.folder.path().join("inbox.db")).unwrap();
    db.busy_timeout(std::time::Duration::from_secs(60)).unwrap();
    // As if another process had added the target before this port was ours.
    const SQL: &str = "INSERT INTO target (url, settings, kind, created_at) VALUES (?1, '{}', 0, 0)";
    db.execute(SQL, [format!("http://127.0.0.1:{}/again", app.capture().port())]).unwrap();
    db.execute("UPDATE meta SET value = value + 1 WHERE key = 'config'", []).unwrap();
    hookmitt_stories::eventually("the target is seen", async || {
        let targets = app.ask("GET", "/api/targets", Value::Null).await;
        (targets["items"].as_array().unwrap().len() == 1).then_some(())
    })
    .await;
    let reply = post(app.capture(), "/demo", &[], b"{}").await;
    let event = app.status(reply.json()["id"].as_str().unwrap(), "failed").await;
    assert!(event["deliveries"][0]["last_error"].as_str().unwrap().contains("own address"));
    assert_eq!(app.events().await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_4_a_delivery_of_ours_that_comes_back_is_kept_and_goes_no_further() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.target(None, &server.url(), json!({})).await;
    post(app.capture(), "/one", &[], b"{}").await;
    let seen = server.wait_for(1).await;
    let delivery = seen[0].header("x-hookmitt-delivery-id").expect("a delivery's id");
    // The last two are names as CGI and PHP may write them; a line before them doesn't hide them.
    let by_hand = ("X-Hookmitt-Delivery-Id", "nonsense");
    for (number, name) in
        ["X-Hookmitt-Delivery-Id", "X_HOOKMITT_DELIVERY_ID", "x.hookmitt.delivery.id"].into_iter().enumerate()
    {
        let body = format!("{{\"a\":{number}}}");
        let back = post(app.capture(), "/two/again", &[by_hand, (name, &delivery)], body.as_bytes()).await;
        let event = app.event(back.json()["id"].as_str().unwrap()).await;
        assert_eq!((back.status, &event["status"]), (202, &json!("skipped")), "{name}");
        assert!(event["deliveries"][0]["last_error"].as_str().unwrap().contains("loop"), "{name}");
    }
    for made_up in ["00000000-0000-7000-8000-000000000000.1", "nonsense", ""] {
        let body = format!("{{\"made_up\":{made_up:?}}}");
        let reply =
            post(app.capture(), "/two", &[("x-hookmitt-delivery-id", made_up)], body.as_bytes()).await;
        app.status(reply.json()["id"].as_str().unwrap(), "completed").await;
    }
    assert_eq!(server.seen().len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_4_targets_on_this_machine_are_reached_without_a_proxy() {
    let (folder, server, proxy) =
        (tempfile::tempdir().unwrap(), LocalServer::start().await, LocalServer::start().await);
    let mut command = hookmitt(folder.path());
    for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy", "ALL_PROXY"] {
        command.env(name, proxy.url());
    }
    command
        .args(["serve", "--no-open", "--port", "0", "--api-port", "0"])
        .env_remove("no_proxy")
        .env_remove("NO_PROXY");
    let serving = Serving::spawn(command).await;
    let added = hookmitt(folder.path()).args(["source", "add", "demo"]).output().await.unwrap();
    assert!(added.status.success(), "{added:?}");
    let added =
        hookmitt(folder.path()).args(["target", "add", "demo", &server.url()]).output().await.unwrap();
    assert!(added.status.success(), "{added:?}");
    assert_eq!(post(serving.capture, "/demo", &[], b"{}").await.status, 202);
    server.wait_for(1).await;
    assert!(proxy.seen().is_empty());
    serving.kill().await;
}
