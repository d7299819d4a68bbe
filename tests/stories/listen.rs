//! `hookmitt listen`: from nothing to a delivered event in one command, and beside a running hookmitt.

use std::{net::SocketAddr, path::Path};

use hookmitt_stories::{
    Answer, Down, LocalServer, Process, Ran, Reply, eventually, hookmitt, post, signature,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::Command;

use super::delivery::bodies;

pub(crate) fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// `hookmitt` with these arguments.
pub(crate) fn command(data_dir: &Path, arguments: &[&str]) -> Command {
    let mut command = hookmitt(data_dir);
    command.args(arguments);
    command
}

pub(crate) async fn run(data_dir: &Path, arguments: &[&str]) -> Ran {
    Ran::of(command(data_dir, arguments)).await
}

/// A running `hookmitt serve` on free ports, to which other commands attach.
pub(crate) async fn serving(data_dir: &Path) -> (Process, SocketAddr) {
    let mut process =
        Process::start(command(data_dir, &["serve", "--no-open", "--port", "0", "--api-port", "0"]));
    let capture = process.capture().await;
    eventually("commands attach", async || {
        let doctor = run(data_dir, &["doctor"]).await.text();
        doctor.contains("a running hookmitt").then_some(())
    })
    .await;
    (process, capture)
}

/// Posts an event as GitHub does.
pub(crate) async fn github(capture: SocketAddr, source: &str, secret: &str, id: &str, body: &str) -> Reply {
    let signed = format!("sha256={}", signature(secret, body.as_bytes()));
    let headers = [("X-GitHub-Event", "push"), ("X-GitHub-Delivery", id), ("X-Hub-Signature-256", &signed)];
    post(capture, &format!("/{source}"), &headers, body.as_bytes()).await
}

/// Returns a command that runs `listen` with a server as its target, on free ports.
fn listening(data_dir: &Path, to: &str, more: &[&str]) -> Command {
    let mut command = command(data_dir, &["listen", to, "--no-open", "--port", "0", "--api-port", "0"]);
    command.args(more);
    command
}

async fn targets(data_dir: &Path) -> Vec<Value> {
    run(data_dir, &["target", "list", "--json"]).await.exits(0).json()
}

#[tokio::test(flavor = "multi_thread")]
async fn one_command_leads_from_nothing_to_a_delivered_and_verified_event() {
    let (folder, server) = (folder(), LocalServer::start().await);
    let port = server.address.port().to_string();
    let mut command =
        listening(folder.path(), &port, &["--path", "/hooks", "--provider", "github", "--secret-env", "GH"]);
    let mut listen = Process::start({
        command.env("GH", "s3cret");
        command
    });
    let capture = listen.capture().await;
    listen.says("/hooks").await; // the target exists
    let reply = github(capture, "gh", "s3cret", "d1", "{\"ref\":\"x\"}").await;
    assert_eq!(reply.status, 200);
    let seen = &server.wait_for(1).await[0];
    assert_eq!((seen.line().as_str(), seen.body()), ("POST /hooks HTTP/1.1", &b"{\"ref\":\"x\"}"[..]));
    assert_eq!(seen.header("x-hookmitt-verdict").as_deref(), Some("valid"));
    listen.says("valid").await;
    listen.says("200").await;
    assert!(!(listen.out() + &listen.err()).contains("s3cret"));
    let ran = listen.stop().await.exits(0);
    assert!(ran.text().contains("push"), "{}", ran.text());
    let event = run(folder.path(), &["show", "last", "--json"]).await.exits(0).json().remove(0);
    assert_eq!(
        (&event["verdict"], &event["status"], &event["provider"]),
        (&json!("valid"), &json!("completed"), &json!("github"))
    );
    assert!(targets(folder.path()).await.is_empty(), "the target ended with the command");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_process_attaches_tails_and_leaves_no_target_behind() {
    let (folder, server) = (folder(), LocalServer::start().await);
    let (serve, capture) = serving(folder.path()).await;
    for end in ["INT", "KILL"] {
        let before = server.seen().len();
        let mut listen =
            Process::start(listening(folder.path(), &server.url(), &["--source", "demo", "--create"]));
        listen.says(&server.url()).await;
        let target = targets(folder.path()).await.remove(0);
        assert_eq!((&target["source"], &target["kind"]), (&json!("demo"), &json!("session")));
        assert_eq!(post(capture, "/demo", &[], end.as_bytes()).await.status, 202);
        assert_eq!(server.wait_for(before + 1).await[before].body(), end.as_bytes());
        listen.says("demo").await;
        if end == "INT" {
            listen.stop().await.exits(0);
        } else {
            listen.kill().await;
        }
        eventually("the target is gone", async || targets(folder.path()).await.is_empty().then_some(()))
            .await;
        post(capture, "/demo", &[], b"nobody listens").await;
        let event = run(folder.path(), &["show", "last", "--json"]).await.exits(0).json().remove(0);
        assert_eq!(event["status"], "captured");
    }
    serve.stop().await.exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_has_nothing_at_its_root_is_a_hint_at_the_path() {
    let (folder, server) = (folder(), LocalServer::start().await);
    server.will([Answer::Status(404), Answer::Status(404), Answer::Status(404)]);
    let port = server.address.port().to_string();
    let mut listen = Process::start(listening(folder.path(), &port, &[]));
    let capture = listen.capture().await;
    listen.says("->").await;
    post(capture, "/demo/at/a/path", &[], b"1").await;
    post(capture, "/demo", &[], b"2").await;
    listen.says("--path").await;
    post(capture, "/demo", &[], b"3").await;
    server.wait_for(3).await;
    listen.says("#3").await;
    let ran = listen.stop().await.exits(0);
    let hints: Vec<_> = ran.err.lines().filter(|line| line.contains("hint:")).collect();
    assert_eq!(hints.len(), 1, "{}", ran.err);
    assert!(hints[0].contains(&format!("`hookmitt listen {port} --path /webhooks`")), "{}", hints[0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn listen_takes_over_when_the_owner_ends() {
    for end in ["INT", "KILL"] {
        let (folder, server) = (folder(), LocalServer::start().await);
        let (serve, capture) = serving(folder.path()).await;
        let mut listen = Process::start(listening(folder.path(), &server.url(), &[]));
        listen.says(&server.url()).await;
        post(capture, "/demo", &[], b"before").await;
        server.wait_for(1).await;
        if end == "INT" {
            serve.stop().await.exits(0);
        } else {
            serve.kill().await;
        }
        listen.says("takes over").await;
        let capture = listen.capture().await;
        let posted = eventually("it captures", async || {
            let open = tokio::net::TcpStream::connect(capture).await.is_ok();
            open.then_some(())
        });
        posted.await;
        eventually("its target is there", async || (targets(folder.path()).await.len() == 1).then_some(()))
            .await;
        assert_eq!(post(capture, "/demo", &[], b"after").await.status, 202);
        assert_eq!(bodies(&server.wait_for(2).await), ["before", "after"]);
        listen.stop().await.exits(0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_source_it_gets_the_events_of_every_source() {
    let (folder, server) = (folder(), LocalServer::start().await);
    let mut listen = Process::start({
        let mut command = listening(
            folder.path(),
            &server.url(),
            &["--provider", "github", "--secret-env", "GH", "--json"],
        );
        command.env("GH", "s3cret");
        command
    });
    let capture = listen.capture().await;
    listen.says("listening").await;
    for (at, source) in ["made-by-it", "and-another"].into_iter().enumerate() {
        github(capture, source, "s3cret", source, "{}").await;
        let seen = &server.wait_for(at + 1).await[at];
        assert_eq!(
            seen.header("x-hookmitt-verdict").as_deref(),
            Some("valid"),
            "the secret goes to each source made"
        );
        listen.says(&format!("\"{source}\"")).await;
    }
    let ran = listen.stop().await.exits(0);
    assert!(!ran.json().is_empty(), "one JSON object a line");
}

#[tokio::test(flavor = "multi_thread")]
async fn with_a_source_it_tells_of_no_others_attached_and_serving() {
    let (folder, server, others) = (folder(), LocalServer::start().await, LocalServer::start().await);
    let mut first = Process::start(listening(folder.path(), &others.url(), &["--source", "one", "--create"]));
    let capture = first.capture().await;
    first.says("->").await;
    let mut second =
        Process::start(listening(folder.path(), &server.url(), &["--source", "two", "--create"]));
    second.says(&server.url()).await;
    let mut program = Process::start(listening(folder.path(), &server.url(), &["--source", "two", "--json"]));
    program.says("listening").await;
    // Messages keep their order: if "one" is reported at all, then before "two" is.
    post(capture, "/one", &[], b"1").await;
    others.wait_for(1).await;
    first.says("  200  ").await;
    post(capture, "/two", &[], b"2").await;
    server.wait_for(2).await;
    second.says("  200  ").await;
    program.says("\"completed\"").await;
    post(capture, "/one", &[], b"3").await;
    others.wait_for(2).await;
    eventually("its second is told of", async || (first.out().matches("  200  ").count() == 2).then_some(()))
        .await;
    let (attached, told) = (second.stop().await.exits(0).text(), program.stop().await.exits(0).json());
    assert!(attached.contains("  two") && !attached.contains("  one"), "{attached}");
    let sources: Vec<_> = ["event", "delivery"]
        .into_iter()
        .flat_map(|kind| told.iter().filter_map(move |news| news[kind]["source"].as_str()))
        .collect();
    assert!(!sources.is_empty() && sources.iter().all(|source| *source == "two"), "{sources:?}");
    let serving = first.stop().await.exits(0).text();
    assert!(serving.contains("  one") && !serving.contains("  two"), "{serving}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_came_while_the_server_was_down_drains_in_order() {
    let (folder, down) = (folder(), Down::somewhere());
    let mut listen = Process::start(listening(folder.path(), &down.url(), &[]));
    let capture = listen.capture().await;
    listen.says("->").await;
    for body in ["1", "2", "3"] {
        post(capture, "/demo", &[], body.as_bytes()).await;
    }
    eventually("nobody answers", async || {
        (targets(folder.path()).await[0]["state"]["is"] == "silent").then_some(())
    })
    .await;
    let server = down.up();
    assert_eq!(bodies(&server.wait_for(3).await), ["1", "2", "3"]);
    listen.stop().await.exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_request_is_told_once() {
    let (folder, server) = (folder(), LocalServer::start().await);
    let mut listen = Process::start(listening(folder.path(), &server.address.port().to_string(), &[]));
    let capture = listen.capture().await;
    listen.says("->").await; // the target exists
    assert_eq!(post(capture, "/", &[], b"{}").await.status, 404);
    assert_eq!(github(capture, "gh", "s3cret", "d1", "{}").await.status, 200);
    server.wait_for(1).await;
    let ran = listen.stop().await.exits(0);
    let said = format!("{}{}", ran.text(), ran.err);
    // A port may have the digits, too.
    let words = said.split(|letter: char| !letter.is_ascii_alphanumeric());
    assert_eq!(words.filter(|word| *word == "404").count(), 1, "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_target_that_is_ourselves_is_refused() {
    let folder = folder();
    let (serve, capture) = serving(folder.path()).await;
    let ran = run(folder.path(), &["listen", &format!("http://{capture}/x"), "--json"]).await.exits(2);
    let error: Value = serde_json::from_str(ran.err.trim()).unwrap();
    assert_eq!(error["code"], "own-address", "{error}");
    serve.stop().await.exits(0);
}
