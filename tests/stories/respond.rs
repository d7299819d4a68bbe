//! `respond = app`: the sender gets the local server's answer, and waits no longer than allowed.

use std::sync::Arc;

use hookmitt_stories::{Answer, LocalServer, Reply, Server, eventually, hookmitt, post, serve};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{sync::Notify, task::JoinSet};

/// Longer than any story waits: an answer that arrives came before this time was over.
pub(super) const FOR_EVER: &str = "1h";

pub(super) const SLACK: &str = "token=t&command=%2Fweather&text=Oslo&trigger_id=1";
pub(super) const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");
pub(super) const TWIML: &str = "<?xml version=\"1.0\"?><Response><Say>Ahoy</Say></Response>";

/// Returns a local server's answer with a special header line.
pub(super) fn says(status: &str, kind: &str, body: &str) -> Answer {
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\nX-Own: 1\r\nContent-Length: {}\r\n",
        body.len()
    );
    Answer::Raw(format!("{head}Connection: close, X-Hop\r\nX-Hop: 1\r\n\r\n{body}").into_bytes())
}

/// Starts a hookmitt whose senders wait this long.
async fn waits(hold: &str) -> (TempDir, Server) {
    let dir = tempfile::tempdir().unwrap();
    let mut command = serve(dir.path());
    command.args(["--hold", hold]);
    let app = Server::spawn(command).await;
    (dir, app)
}

/// Adds a source whose senders wait, with a target.
pub(super) async fn asks(app: &Server, slug: &str, url: &str) -> Value {
    app.ask("POST", "/api/sources", json!({ "slug": slug, "answer": { "respond": "app" } })).await;
    app.ask("POST", "/api/targets", json!({ "source": slug, "url": url })).await
}

fn default_of(reply: &Reply) -> String {
    assert_eq!((reply.status, reply.json()["received"].clone()), (202, json!(true)));
    reply.json()["id"].as_str().unwrap().to_owned()
}

/// Returns the event once it has this status.
pub(super) async fn becomes(app: &Server, id: &str, status: &str) -> Value {
    eventually(status, async || {
        let event = app.ask("GET", &format!("/api/events/{id}"), Value::Null).await;
        (event["status"] == status).then_some(event)
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slash_command_a_call_and_a_redirect_get_the_local_servers_own_answer() {
    let ((_dir, app), server) = (waits(FOR_EVER).await, LocalServer::start().await);
    asks(&app, "local", &server.url()).await;
    let weather = r#"{"response_type":"in_channel","text":"Rain"}"#;
    let table = [
        ("200 OK", "application/json", weather),
        ("200 OK", "text/xml", TWIML),
        ("302 Found", "text/html", "signed in"),
        ("500 Oh", "text/plain", "it has said so itself"),
    ];
    for (number, (status, kind, body)) in table.into_iter().enumerate() {
        server.will([says(status, kind, body)]);
        let reply = post(app.capture, &format!("/local/{number}"), &[FORM], SLACK.as_bytes()).await;
        assert_eq!(format!("{}", reply.status), status[..3]);
        assert_eq!((reply.header("content-type"), &reply.body[..]), (Some(kind), body.as_bytes()));
        assert_eq!((reply.header("x-own"), reply.header("x-hop")), (Some("1"), None));
        let id = reply.header("x-hookmitt-event-id").unwrap().to_owned();
        let event = app.ask("GET", &format!("/api/events/{id}"), Value::Null).await;
        assert_eq!(event["path"], format!("/{number}"), "it was stored before");
    }
    let first = &server.seen()[0];
    assert_eq!((first.body(), first.header("x-hookmitt-attempt").as_deref()), (SLACK.as_bytes(), Some("1")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_local_server_costs_its_answer_and_nothing_else() {
    let ((_dir, app), server) = (waits("200ms").await, LocalServer::start().await);
    asks(&app, "slow", &server.url()).await;
    let go = Arc::new(Notify::new());
    server.will([Answer::When(Arc::clone(&go))]);
    let id = default_of(&post(app.capture, "/slow", &[FORM], SLACK.as_bytes()).await);
    go.notify_one();
    let event = becomes(&app, &id, "completed").await;
    assert_eq!(event["deliveries"][0]["attempts"].as_array().unwrap().len(), 1, "{event}");
    assert_eq!(server.seen().len(), 1, "it was sent once");
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_waits_where_nobody_will_answer() {
    let ((_dir, app), server) = (waits(FOR_EVER).await, LocalServer::start().await);
    let down = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let target = asks(&app, "down", &format!("http://{down}")).await;
    let send = async |source: &str, body: &str| {
        default_of(&post(app.capture, &format!("/{source}"), &[], body.as_bytes()).await)
    };
    for body in ["first", "and while it is known to be down"] {
        let id = send("down", body).await;
        let event = becomes(&app, &id, "pending").await;
        assert_eq!(event["deliveries"][0]["attempts"], json!([]), "it waits for the server: {event}");
    }
    let pause = format!("/api/targets/{}", target["id"]);
    app.ask("PATCH", &pause, json!({ "paused": true, "url": server.url() })).await;
    becomes(&app, &send("down", "paused").await, "pending").await;

    app.ask("POST", "/api/sources", json!({ "slug": "none", "answer": { "respond": "app" } })).await;
    becomes(&app, &send("none", "no target").await, "captured").await;

    asks(&app, "hub", &server.url()).await;
    let hub = [("X-GitHub-Event", "push"), ("X-GitHub-Delivery", "1")];
    assert_eq!(post(app.capture, "/hub", &hub, b"{}").await.body, b"ok", "the local server's");
    let repeat = post(app.capture, "/hub", &hub, b"{}").await;
    assert_eq!(repeat.json()["received"], true, "a repeat is not sent, and has no answer");
    let page = [("Origin", "https://evil.example")];
    assert_eq!(post(app.capture, "/hub", &page, b"a page").await.json()["received"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_breaks_off_is_no_answer_and_of_two_targets_the_first_that_answers_is_heard() {
    let (dir, app) = waits(FOR_EVER).await;
    let (broken, server) = (LocalServer::start().await, LocalServer::start().await);
    asks(&app, "local", &broken.url()).await;
    broken.will([Answer::Close]);
    let id = default_of(&post(app.capture, "/local", &[], b"alone").await);
    becomes(&app, &id, "completed").await; // by a second attempt
    assert_eq!(broken.seen().len(), 2);

    app.ask("POST", "/api/targets", json!({ "source": "local", "url": server.url() })).await;
    broken.will([Answer::Close]);
    server.will([says("201 Made", "text/plain", "by the other")]);
    let reply = post(app.capture, "/local", &[], b"two").await;
    assert_eq!((reply.status, &reply.body[..]), (201, &b"by the other"[..]));
    drop((app, dir));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_settled_without_the_local_server_is_not_left_to_it() {
    let ((dir, app), server) = (waits(FOR_EVER).await, LocalServer::start().await);
    asks(&app, "slack", &server.url()).await;
    let slack = [("X-Slack-Signature", "v0=00"), ("X-Slack-Request-Timestamp", "1")];
    let hello = br#"{"type":"url_verification","challenge":"c"}"#;
    assert_eq!(post(app.capture, "/slack", &slack, hello).await.body, b"c");

    let mut command = hookmitt(dir.path());
    command.args(["source", "edit", "slack", "--fail-next", "1"]);
    hookmitt_stories::Ran::of(command).await.exits(0);
    assert_eq!(post(app.capture, "/slack", &[], b"told to fail").await.status, 500);
    assert_eq!(post(app.capture, "/slack", &[], b"and then not").await.body, b"ok");

    let mut command = hookmitt(dir.path());
    command.args(["source", "edit", "slack", "--respond", "stored"]);
    let shown = hookmitt_stories::Ran::of(command).await.exits(0).text();
    assert!(
        shown.lines().any(|line| line.starts_with("answer.respond") && line.ends_with("stored")),
        "{shown}"
    );
    let reply = post(app.capture, "/slack", &[], b"as stored").await;
    assert_eq!(reply.json()["received"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_four_slash_commands_at_once_a_slow_one_holds_up_no_other() {
    let ((_dir, app), server) = (waits(FOR_EVER).await, LocalServer::start().await);
    asks(&app, "slack", &server.url()).await;
    let go = Arc::new(Notify::new());
    server.will([Answer::When(Arc::clone(&go))]);
    let capture = app.capture;
    let command =
        move |text: &'static str| async move { post(capture, "/slack", &[FORM], text.as_bytes()).await };
    let mut slow = JoinSet::new();
    slow.spawn(command("text=slow"));
    eventually("the slow one is under way", async || (server.seen().len() == 1).then_some(())).await;
    let (one, two, three) = tokio::join!(command("text=1"), command("text=2"), command("text=3"));
    for reply in [one, two, three] {
        assert_eq!((reply.status, &reply.body[..]), (200, &b"ok"[..]), "the local server's own answer");
    }
    go.notify_one();
    assert_eq!(slow.join_next().await.unwrap().unwrap().body, b"ok");
    assert_eq!(server.seen().len(), 4, "each was sent once");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_strict_order_lets_nothing_pass_and_says_so_where_it_is_set() {
    let ((dir, app), server) = (waits("200ms").await, LocalServer::start().await);
    let target = asks(&app, "strict", &server.url()).await;
    for order in ["fifo", "fifo-by-key"] {
        let set = run(&dir, &["target", "edit", &target["id"].to_string(), "--order", order]).await;
        assert!(set.err.contains("stands in the queue"), "{}", set.err);
        let set = run(&dir, &["source", "edit", "strict", "--respond", "app"]).await;
        assert!(set.err.contains("stands in the queue"), "{}", set.err);
    }
    run(&dir, &["target", "edit", &target["id"].to_string(), "--order", "fifo"]).await;
    let go = Arc::new(Notify::new());
    server.will([Answer::When(Arc::clone(&go))]);
    default_of(&post(app.capture, "/strict", &[], b"slow").await);
    let id = default_of(&post(app.capture, "/strict", &[], b"behind it").await);
    assert_eq!(server.seen().len(), 1, "the second stands in the queue");
    go.notify_one();
    becomes(&app, &id, "completed").await;
    let set = run(&dir, &["target", "edit", &target["id"].to_string(), "--order", "sequential"]).await;
    assert!(!set.err.contains("stands in the queue"), "{}", set.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_default_answer_to_slack_is_empty_because_people_would_read_it() {
    let ((_dir, app), server) = (waits("100ms").await, LocalServer::start().await);
    let source = json!({ "slug": "slack", "provider": "slack", "answer": { "respond": "app" } });
    app.ask("POST", "/api/sources", source).await;
    app.ask("POST", "/api/targets", json!({ "source": "slack", "url": server.url() })).await;
    let go = Arc::new(Notify::new());
    server.will([Answer::When(Arc::clone(&go))]);
    let reply = post(app.capture, "/slack", &[FORM], SLACK.as_bytes()).await;
    assert_eq!((reply.status, reply.body.len(), reply.header("content-type")), (200, 0, None));
    go.notify_one();
}

async fn run(dir: &TempDir, arguments: &[&str]) -> hookmitt_stories::Ran {
    let mut command = hookmitt(dir.path());
    command.args(arguments);
    hookmitt_stories::Ran::of(command).await.exits(0)
}
