//! `respond = app` through a relay: it holds the sender until the local server has answered behind the tunnel.

use std::sync::Arc;

use hookmitt_stories::{Answer, LocalServer, RelayProcess, Reply, Server, eventually, post, within};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::Notify;

use super::respond::{FOR_EVER, FORM, SLACK, TWIML, asks, becomes, says};

/// A relay and a hookmitt, each in its own process, with a tunnel between them.
struct Pair {
    dirs: [TempDir; 2],
    relay: RelayProcess,
    app: Server,
}

async fn pair(hold: &str) -> Pair {
    let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let token = RelayProcess::token(dirs[0].path()).await;
    let relay = RelayProcess::start(dirs[0].path(), &["--hold", hold]).await;
    let app = Server::start(dirs[1].path()).await;
    let order = json!({ "relay": format!("http://{}", relay.address), "token": token, "name": "acme-dev" });
    app.ask("POST", "/api/tunnels", order).await;
    eventually("the tunnel is connected", async || {
        let tunnels = app.ask("GET", "/api/tunnels", Value::Null).await;
        (tunnels["items"][0]["state"] == "connected").then_some(())
    })
    .await;
    Pair { dirs, relay, app }
}

impl Pair {
    /// Posts to a source at its public URL, as soon as the relay knows the source.
    async fn post(&self, source: &str, body: &[u8]) -> Reply {
        let target = format!("/acme-dev/{source}");
        let reply = async || Some(post(self.relay.address, &target, &[FORM], body).await);
        eventually("the relay knows the source", async || reply().await.filter(|reply| reply.status != 404))
            .await
    }
}

/// Checks that this is the relay's default answer; returns the event's id.
fn default_of(reply: &Reply) -> String {
    assert_eq!((reply.status, reply.json()["received"].clone()), (202, json!(true)));
    reply.json()["id"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slash_command_and_a_call_get_the_local_servers_own_answer_through_a_relay() {
    let (pair, server) = (pair(FOR_EVER).await, LocalServer::start().await);
    asks(&pair.app, "local", &server.url()).await;
    let weather = r#"{"response_type":"in_channel","text":"Rain"}"#;
    for (kind, body) in [("application/json", weather), ("text/xml", TWIML)] {
        server.will([says("200 OK", kind, body)]);
        let reply = pair.post("local", SLACK.as_bytes()).await;
        assert_eq!(
            (reply.status, reply.header("content-type"), &reply.body[..]),
            (200, Some(kind), body.as_bytes())
        );
        assert_eq!((reply.header("x-own"), reply.header("x-hop")), (Some("1"), None));
        let id = reply.header("x-hookmitt-event-id").unwrap().to_owned();
        becomes(&pair.app, &id, "completed").await;
        eventually("the answer is known", async || {
            let event = pair.app.ask("GET", &format!("/api/events/{id}"), Value::Null).await;
            let told = &event["answered"];
            (told["by"] == "relay" && told["status"] == 200 && told["after_ms"].is_u64()).then_some(())
        })
        .await;
    }
    assert_eq!(server.seen().len(), 2, "each was sent once");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_local_server_costs_its_answer_through_a_relay_and_nothing_else() {
    let (pair, server) = (pair("200ms").await, LocalServer::start().await);
    asks(&pair.app, "slow", &server.url()).await;
    let go = Arc::new(Notify::new());
    server.will([Answer::When(Arc::clone(&go))]);
    let id = default_of(&pair.post("slow", SLACK.as_bytes()).await);
    eventually("it is acknowledged all the same", async || {
        let tunnels = pair.app.ask("GET", "/api/tunnels", Value::Null).await;
        let tunnel = &tunnels["items"][0];
        (tunnel["to_acknowledge"] == 0 && tunnel["waiting"]["letters"] == 0).then_some(())
    })
    .await;
    server.wait_for(1).await;
    go.notify_one();
    let event = becomes(&pair.app, &id, "completed").await;
    assert_eq!(event["deliveries"][0]["attempts"].as_array().unwrap().len(), 1, "{event}");
    assert_eq!(server.seen().len(), 1, "it was sent once");
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_held_where_the_local_server_is_down() {
    let pair = pair(FOR_EVER).await;
    let down = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    asks(&pair.app, "down", &format!("http://{down}")).await;
    let id = default_of(&pair.post("down", SLACK.as_bytes()).await);
    let event = becomes(&pair.app, &id, "pending").await;
    assert_eq!(event["deliveries"][0]["attempts"], json!([]), "{event}");
    drop(pair.dirs);
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_held_for_an_app_that_goes_or_is_away() {
    let (mut pair, server) = (pair(FOR_EVER).await, LocalServer::start().await);
    asks(&pair.app, "local", &server.url()).await;
    assert_eq!(pair.post("local", b"while it is there").await.body, b"ok");
    server.will([Answer::When(Arc::new(Notify::new()))]);
    let (address, body) = (pair.relay.address, SLACK.as_bytes());
    let held = post(address, "/acme-dev/local", &[FORM], body);
    let goes = async {
        server.wait_for(2).await; // the sender is held while the local server works
        pair.app.process.kill().await.unwrap();
    };
    let (reply, ()) = within("the sender is answered", async { tokio::join!(held, goes) }).await;
    default_of(&reply);
    let away = post(address, "/acme-dev/local", &[FORM], b"while it is away");
    default_of(&within("the sender is answered", away).await);
}
