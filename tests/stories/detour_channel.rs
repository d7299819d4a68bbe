//! A smee channel, played by a server that answers like smee.io.

use hookmitt_stories::{LocalServer, Ran, Server, SmeeChannel, eventually, hookmitt, signature};
use serde_json::{Value, json};
use tempfile::TempDir;

struct Set {
    data: TempDir,
    channel: SmeeChannel,
    server: Server,
}

/// Starts a hookmitt that listens to a channel for the source `shop`.
async fn set() -> Set {
    let (data, channel) = (tempfile::tempdir().unwrap(), SmeeChannel::start().await);
    let server = Server::start(data.path()).await;
    server.delivers().await;
    server.ask("POST", "/api/sources", json!({ "slug": "shop", "provider": "github" })).await;
    server.ask("PUT", "/api/sources/shop/secrets/first", json!({ "value_base64": "c2VjcmV0" })).await;
    let order = json!({ "kind": "smee", "url": channel.url(), "source": "shop" });
    server.ask("POST", "/api/tunnels", order).await;
    let set = Set { data, channel, server };
    set.is("limited").await;
    set
}

impl Set {
    /// Returns the tunnel as soon as it is in this state.
    async fn is(&self, state: &str) -> Value {
        eventually(&format!("the tunnel is {state}"), async || {
            let tunnels = self.server.ask("GET", "/api/tunnels", Value::Null).await;
            tunnels["items"].get(0).filter(|tunnel| tunnel["state"] == state).cloned()
        })
        .await
    }

    /// Sends `body` with GitHub's signature of `signed` by `secret`, and returns the resulting event.
    async fn github(&self, id: &str, signed: &str, body: &Value) -> Value {
        let signed = format!("sha256={}", signature("secret", signed.as_bytes()));
        let headers =
            [("X-GitHub-Event", "push"), ("X-GitHub-Delivery", id), ("X-Hub-Signature-256", signed.as_str())];
        let before = self.count().await;
        self.channel.pass_on(&headers, body).await;
        eventually("it is stored", async || (self.count().await > before).then_some(())).await;
        self.server.ask("GET", "/api/events/last", Value::Null).await
    }

    async fn count(&self) -> usize {
        let page = self.server.ask("GET", "/api/events?limit=1000", Value::Null).await;
        page["items"].as_array().unwrap().len()
    }
}

#[tokio::test]
async fn what_a_channel_passes_on_is_stored_judged_and_known_again() {
    let set = set().await;
    let tunnel = set.is("limited").await;
    assert_eq!((&tunnel["kind"], &tunnel["label"]), (&json!("smee"), &json!("smee-shop")));
    assert_eq!((&tunnel["public_url"], &tunnel["relay"]), (&json!(set.channel.url()), &Value::Null));
    let source = set.server.ask("GET", "/api/sources/shop", Value::Null).await;
    assert_eq!(
        (&source["public_url"], &source["public_url_set"]),
        (&json!(set.channel.url()), &json!(false))
    );

    let compact = set.github("one", r#"{"n":1}"#, &json!({ "n": 1 })).await;
    assert_eq!((&compact["source"], &compact["via"]), (&json!("shop"), &json!("tunnel")));
    assert_eq!(compact["answered"], json!({ "by": "channel", "status": null, "after_ms": null }));
    assert_eq!((&compact["type"], &compact["remote"]), (&json!("push"), &json!("203.0.113.9")));
    assert_eq!(compact["verdict"], "valid", "the bytes happen to be the same, and that is a proof");

    let again = set.github("one", r#"{"n":1}"#, &json!({ "n": 1 })).await;
    assert_eq!(again["duplicate_of"], compact["id"], "{again}");

    set.channel.ping().await;
    set.channel.say("data: no JSON\n\n").await;
    let after = set.github("two", r#"{"n":2}"#, &json!({ "n": 2 })).await;
    assert_eq!(after["verdict"], "valid");
    assert_eq!(set.is("limited").await["error"]["code"], "channel-nonsense", "what was left out is said");
}

#[tokio::test]
async fn a_signature_that_a_channel_spoilt_says_so_for_ever() {
    let set = set().await;
    let event = set.github("one", "{ \"n\" : 1 }\n", &json!({ "n": 1 })).await;
    let id = event["id"].as_str().unwrap().to_owned();
    let says_so = async |what: &str| {
        eventually(what, async || {
            let event = set.server.ask("GET", &format!("/api/events/{id}"), Value::Null).await;
            let first = &event["causes"][0];
            let message = first["message"].as_str().unwrap_or_default();
            let said = first["code"] == "channel_rewrote_body"
                && message.contains("aren't the bytes that were signed");
            (event["verdict"] == "invalid" && said).then_some(())
        })
        .await;
    };
    says_so("the verdict names the channel").await;
    let explained = set.server.ask("GET", &format!("/api/events/{id}/explanation"), Value::Null).await;
    assert_eq!(explained["causes"][0]["code"], "channel_rewrote_body", "{explained}");

    // Verified again with another secret, the verdict still names the channel.
    set.server.ask("PUT", "/api/sources/shop/secrets/second", json!({ "value_base64": "eA==" })).await;
    says_so("the new verdict names the channel").await;
    let mut command = hookmitt(set.data.path());
    command.args(["verify", "last"]);
    let verified = Ran::of(command).await.exits(1);
    let said = format!("{}{}", verified.text(), verified.err);
    assert!(said.contains("writes it again"), "{said}");
}

#[tokio::test]
async fn a_set_up_request_through_a_channel_is_kept_and_said_to_be_unanswered() {
    let set = set().await;
    let local = LocalServer::start().await;
    set.server.ask("PATCH", "/api/sources/shop", json!({ "provider": "asana" })).await;
    set.server.ask("POST", "/api/targets", json!({ "url": local.url() })).await;
    set.channel.pass_on(&[("X-Hook-Secret", "a-fresh-secret")], &json!({})).await;
    let event = eventually("it is stored", async || {
        (set.count().await == 1).then_some(())?;
        Some(set.server.ask("GET", "/api/events/last", Value::Null).await)
    })
    .await;
    assert_eq!(
        (&event["handshake"], &event["status"], &event["title"]),
        (&json!("x_hook_secret"), &json!("skipped"), &json!("handshake not answered")),
        "{event}"
    );
    assert_eq!(event["deliveries"][0]["last_error"], "a set-up request that a channel can't answer");

    let own = set.server.call("POST", "/api/targets", &json!({ "url": set.channel.url() })).await;
    assert_eq!(own.json()["code"], "own-address", "threat 4: it would come back");
}

#[tokio::test]
async fn a_channel_that_is_gone_is_said_to_be_and_comes_back() {
    let set = set().await;
    set.channel.breaks(true);
    let tunnel = set.is("offline").await;
    assert_eq!(
        (&tunnel["error"]["code"], &tunnel["why"]),
        (&json!("channel-unreachable"), &json!("relay")),
        "the network works: {tunnel}"
    );
    assert_eq!(tunnel["public_url"], json!(set.channel.url()), "it stays the URL that the provider has");
    set.channel.breaks(false);
    set.is("limited").await;
    let event = set.github("one", r#"{"n":1}"#, &json!({ "n": 1 })).await;
    assert_eq!(event["verdict"], "valid");

    set.server.ask("PATCH", "/api/tunnels/1", json!({ "enabled": false })).await;
    set.is("off").await;
    let source = set.server.ask("GET", "/api/sources/shop", Value::Null).await;
    assert_eq!(source["public_url"], Value::Null);
}

#[tokio::test]
async fn what_was_sent_while_nobody_listened_is_unknown_rather_than_nothing() {
    let Set { data, channel, server } = set().await;
    eventually("the connection is kept", async || is_kept(&data).then_some(())).await;
    server.kill().await;
    age_the_connection(&data);
    let server = Server::start(data.path()).await;
    let set = Set { data, channel, server };
    let gap = eventually("the gap is closed", async || {
        let gaps = set.server.ask("GET", "/api/tunnels/1/gaps", Value::Null).await;
        gaps["items"].get(0).filter(|gap| !gap["until"].is_null()).cloned()
    })
    .await;
    assert_eq!((&gap["why"], &gap["lost"]), (&json!("app_closed"), &Value::Null), "{gap}");
    let listed = set.server.ask("GET", "/api/gaps", Value::Null).await;
    assert_eq!(listed["items"][0]["id"], gap["id"], "the list has a line for it");
    let mut command = hookmitt(set.data.path());
    command.args(["tunnel", "status"]);
    let status = Ran::of(command).await.exits(0).text();
    assert!(status.contains("is unknown") && status.contains("signatures can't verify"), "{status}");
}

/// Moves the last connection back by an hour, because a test can't wait for a gap that is worth a line.
fn age_the_connection(data: &TempDir) {
    let aged =
        inbox(data).execute("UPDATE tunnel SET connected_until = connected_until - 3600000000", []).unwrap();
    assert_eq!(aged, 1);
}

/// Whether the inbox has stored that the channel was connected.
fn is_kept(data: &TempDir) -> bool {
    let until: Option<i64> =
        inbox(data).query_row("SELECT connected_until FROM tunnel", [], |row| row.get(0)).unwrap();
    until.is_some()
}

fn inbox(data: &TempDir) -> rusqlite::Connection {
    rusqlite::Connection::open(data.path().join("inbox.db")).unwrap()
}

#[tokio::test]
async fn the_verb_adds_a_channel_once() {
    let (data, channel) = (tempfile::tempdir().unwrap(), SmeeChannel::start().await);
    let typed = async |arguments: &[&str]| {
        let mut command = hookmitt(data.path());
        command.args(arguments);
        Ran::of(command).await
    };
    typed(&["source", "add", "shop"]).await.exits(0);
    let url = channel.url();
    let added =
        typed(&["tunnel", "add", "--smee", &url, "--source", "shop", "--label", "try"]).await.exits(0);
    assert_eq!(added.text(), format!("{url}\n"));
    assert!(
        added.err.contains("signatures can't verify") && added.err.contains("hookmitt serve"),
        "{}",
        added.err
    );
    let again = typed(&["tunnel", "add", "--smee", &url, "--source", "shop"]).await.exits(2);
    assert!(again.err.contains("\"try\""), "{}", again.err);
    let listed = typed(&["tunnel", "list", "--json"]).await.exits(0).json();
    assert_eq!((&listed[0]["kind"], &listed[0]["source"]), (&json!("smee"), &json!("shop")));
    typed(&["tunnel", "remove", "try"]).await.exits(0);
    assert_eq!(typed(&["tunnel", "list"]).await.exits(0).text(), "");
}

#[tokio::test]
async fn a_tunnel_that_could_not_begin_does_when_it_can() {
    let Set { data, channel, server } = set().await;
    // If there was no connection before, nothing has to be noted at the next start.
    eventually("the connection is kept", async || is_kept(&data).then_some(())).await;
    server.kill().await;
    let inbox = || rusqlite::Connection::open(data.path().join("inbox.db")).unwrap();
    let refuse =
        "CREATE TRIGGER full BEFORE INSERT ON tunnel_gap BEGIN SELECT RAISE(ABORT, 'disk full'); END";
    inbox().execute_batch(refuse).unwrap();
    let server = Server::start(data.path()).await;
    let set = Set { data, channel, server };
    let stuck = set.is("refused").await;
    assert!(!stuck["error"].is_null(), "{stuck}");
    rusqlite::Connection::open(set.data.path().join("inbox.db"))
        .unwrap()
        .execute_batch("DROP TRIGGER full")
        .unwrap();
    set.is("limited").await;
}
