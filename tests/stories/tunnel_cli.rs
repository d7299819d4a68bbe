//! The tunnel commands as users type them.

use std::path::Path;

use hookmitt_stories::{LocalServer, Process, Ran, RelayProcess, Server, eventually, hookmitt, post, within};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Runs `hookmitt tunnel …` with this standard input.
async fn typed(data_dir: &Path, arguments: &[&str], input: &str) -> Ran {
    let mut command = hookmitt(data_dir);
    command.arg("tunnel").args(arguments).env_remove("HOOKMITT_RELAY_TOKEN");
    Ran::with_input(command, input.as_bytes()).await
}

struct Set {
    _dir: TempDir,
    relay: RelayProcess,
    url: String,
    token: String,
    data: TempDir,
}

async fn set() -> Set {
    let dir = tempfile::tempdir().unwrap();
    let token = RelayProcess::token(dir.path()).await;
    let relay = RelayProcess::start(dir.path(), &[]).await;
    let url = format!("http://{}", relay.address);
    Set { _dir: dir, relay, url, token, data: tempfile::tempdir().unwrap() }
}

async fn connected(data_dir: &Path) -> Value {
    eventually("the tunnel is connected", async || {
        let listed = typed(data_dir, &["list", "--json"], "").await.exits(0).json();
        listed.into_iter().next().filter(|tunnel| tunnel["state"] == "connected")
    })
    .await
}

#[tokio::test]
async fn a_tunnel_is_added_shown_shared_and_removed() {
    let set = set().await;
    let data = set.data.path();
    let serving = Server::start(data).await;
    serving.delivers().await;
    let added =
        typed(data, &["add", &set.url, "--name", "acme-dev"], &format!("{}\n", set.token)).await.exits(0);
    assert_eq!(added.text(), format!("{}/acme-dev\n", set.url), "the public URL and nothing else");
    assert!(!added.err.contains(&set.token));
    let tunnel = connected(data).await;
    assert_eq!((&tunnel["label"], &tunnel["tunnel"]), (&json!("acme-dev"), &json!("acme-dev")));
    let line = typed(data, &["list"], "").await.exits(0).text();
    assert!(line.starts_with("acme-dev ") && line.contains("connected since"), "{line}");
    let status = typed(data, &["status", "acme-dev"], "").await.exits(0).text();
    assert!(status.contains("waiting") && status.contains("0 at the relay"), "{status}");

    let invited = typed(data, &["invite", "acme-dev"], "").await.exits(0);
    let mate = tempfile::tempdir().unwrap();
    let joined = typed(mate.path(), &["join", "--label", "team"], &invited.text()).await.exits(0);
    assert_eq!(joined.text(), added.text());
    assert!(joined.err.contains("hookmitt serve"), "what comes waits: {}", joined.err);
    let again = typed(tempfile::tempdir().unwrap().path(), &["join"], &invited.text()).await.exits(2);
    assert!(again.err.contains("error:") && !again.err.contains(invited.text().trim()), "{}", again.err);

    serving.ask("POST", "/api/sources", json!({ "slug": "s" })).await;
    let mut url = hookmitt(data);
    url.args(["url", "s"]);
    let printed = Ran::of(url).await.exits(0).text();
    assert_eq!(
        printed.lines().next(),
        Some(format!("{}/acme-dev/s", set.url).as_str()),
        "the public one first"
    );
    let mut doctor = hookmitt(data);
    doctor.arg("doctor");
    let checked = Ran::of(doctor).await.exits(0).text();
    assert!(checked.contains("acme-dev is connected to 127.0.0.1"), "{checked}");

    let removed = typed(data, &["remove", "acme-dev", "--json"], "").await.exits(0);
    assert_eq!(removed.json()[0], json!({ "relay_told": true }));
    for verb in ["list", "status"] {
        let empty = typed(data, &[verb], "").await.exits(0);
        assert!(empty.text().is_empty() && empty.err.contains("no tunnels yet"), "{}", empty.err);
    }
    let gone = typed(data, &["status", "acme-dev", "--json"], "").await.exits(2);
    assert!(gone.err.contains("unknown-tunnel"), "{}", gone.err);
    let said = serving.said();
    assert!(!said.contains("ERROR") && !said.contains("WARN"), "a removal is nothing to worry about: {said}");
}

#[tokio::test]
async fn what_is_wrong_is_said_with_the_next_step() {
    let set = set().await;
    let data = set.data.path();
    let none = typed(data, &["add", &set.url], "").await.exits(2);
    assert!(none.err.contains("hookmitt relay token create"), "{}", none.err);
    let wrong = typed(data, &["add", &set.url, "--json"], "hmr_wrong\n").await.exits(2);
    assert!(
        serde_json::from_str::<Value>(&wrong.err).unwrap()["code"].is_string()
            && !wrong.err.contains("hmr_wrong")
    );
    let plain = typed(data, &["add", "http://relay.example.com"], "hmr_x\n").await.exits(2);
    assert!(plain.err.contains("https://"), "{}", plain.err);
    let address = set.relay.address;
    let http = typed(data, &["add", &format!("https://{address}")], "hmr_x\n").await.exits(2);
    assert!(http.err.contains("this relay speaks http"), "{}", http.err);
    assert!(http.err.contains(&format!("use http://{address}")), "{}", http.err);
    set.relay.process.stop().await;
    let gone = typed(data, &["add", &format!("http://{address}")], "hmr_x\n").await.exits(3);
    assert!(gone.err.contains("hint:"), "{}", gone.err);
    assert_eq!(typed(data, &["list", "--json"], "").await.exits(0).text(), "");
}

#[tokio::test]
async fn listen_opens_a_tunnel_once_and_forwards_what_comes_through_it() {
    let (set, server) = (set().await, LocalServer::start().await);
    let listen = |token: &str| {
        let mut command = hookmitt(set.data.path());
        command.args([
            "listen",
            &server.url(),
            "--source",
            "gh",
            "--create",
            "--relay",
            &set.url,
            "--no-open",
        ]);
        command.args(["--port", "0", "--api-port", "0"]).env("HOOKMITT_RELAY_TOKEN", token);
        Process::start(command)
    };
    let mut listening = listen(&set.token);
    listening.says("  public   ").await;
    let tunnel = connected(set.data.path()).await;
    eventually("it is said", async || listening.out().contains("connected since").then_some(())).await;
    let name = tunnel["tunnel"].as_str().unwrap();
    let target = format!("/{name}/gh");
    let taken = async || {
        Some(post(set.relay.address, &target, &[], b"{}").await.status).filter(|status| *status != 404)
    };
    assert_eq!(eventually("the relay knows the source", taken).await, 202);
    server.wait_for(1).await;
    listening.stop().await.exits(0);

    let mut again = listen("not needed any more");
    again.says(&format!("/{name}/gh")).await;
    connected(set.data.path()).await;
    again.stop().await.exits(0);
    let tunnels = typed(set.data.path(), &["list", "--json"], "").await.exits(0).json();
    assert_eq!(tunnels.len(), 1);
    assert_eq!((&tunnels[0]["state"], &tunnels[0]["why"]), (&json!("offline"), &json!("app_closed")));
}

#[tokio::test]
async fn a_tunnel_that_is_removed_while_its_relay_is_away_says_that_the_relay_goes_on() {
    let set = set().await;
    let data = set.data.path();
    let serving = Server::start(data).await;
    serving.delivers().await;
    typed(data, &["add", &set.url, "--name", "acme-dev"], &format!("{}\n", set.token)).await.exits(0);
    connected(data).await;
    set.relay.process.kill().await;
    eventually("it is seen to be gone", async || {
        let listed = typed(set.data.path(), &["list", "--json"], "").await.exits(0).json();
        listed.first().filter(|tunnel| tunnel["state"] != "connected").map(drop)
    })
    .await;
    let removed = typed(set.data.path(), &["remove", "acme-dev"], "").await.exits(0);
    assert!(removed.err.contains("could not be told") && removed.err.contains("30 days"), "{}", removed.err);
    assert_eq!(typed(set.data.path(), &["list"], "").await.exits(0).text(), "");
}

#[tokio::test]
async fn listen_ends_when_it_is_told_to_while_its_relay_keeps_silent_or_nobody_types_a_token() {
    let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let listen = |data: &Path, relay: &str| {
        let mut command = hookmitt(data);
        command.args(["listen", "3000", "--relay", relay, "--no-open", "--port", "0", "--api-port", "0"]);
        command.env_remove("HOOKMITT_RELAY_TOKEN");
        command
    };
    let relay = format!("http://{}", silent.local_addr().unwrap());
    let mut asking = listen(dirs[0].path(), &relay);
    asking.env("HOOKMITT_RELAY_TOKEN", "hmr_x");
    let asking = Process::start(asking);
    let asked = within("the relay is asked", silent.accept()).await.unwrap();
    asking.stop().await.exits(0);
    drop(asked);

    let mut waiting = listen(dirs[1].path(), &relay);
    let (typed, _nobody_types) = std::io::pipe().unwrap();
    waiting.stdin(typed);
    let waiting = Process::start(waiting);
    let lock = dirs[1].path().join("owner.lock");
    eventually("it serves", async || lock.exists().then_some(())).await;
    waiting.stop().await.exits(0);
}
