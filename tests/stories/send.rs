//! `hookmitt send`: samples with genuine signatures, as checked by the providers' own SDKs.

use std::{collections::HashSet, path::Path};

use hookmitt_stories::{
    Answer, Down, LocalServer, MORE_SDKS, Peer, Process, Ran, Receiver, SDKS, Server, eventually, report,
};
use serde_json::{Value, json};

use super::{
    listen::{command, folder, run, serving},
    tunnel_announce::Set,
};

/// Runs `send` with a secret in the environment.
async fn send(data_dir: &Path, secret: &str, arguments: &[&str]) -> Ran {
    let mut command = command(data_dir, &["send", "--json", "--secret-env", "SECRET"]);
    command.args(arguments).env("SECRET", secret);
    Ran::of(command).await
}

#[tokio::test(flavor = "multi_thread")]
async fn every_sdk_takes_what_send_signs() {
    let (Some(mut peer), Some(mut receiver)) = (Peer::start().await, Receiver::start().await) else { return };
    let versions = peer.versions().await;
    let folder = folder();
    let (serve, _) = serving(folder.path()).await;
    for (sdk, secret) in SDKS.into_iter().chain(MORE_SDKS) {
        let ran = send(folder.path(), secret, &[sdk, "--to", &receiver.url(sdk)]).await;
        let seen = receiver.next().await;
        assert_eq!((&seen["status"], &seen["error"]), (&json!(200), &Value::Null), "{sdk}: {seen}");
        let line = ran.exits(0).json().remove(0);
        assert_eq!(
            (&line["status"], &line["response_status"], &line["error"]),
            (&json!("completed"), &json!(200), &Value::Null)
        );
        report(&format!("send: {} verified", versions[sdk]));
    }
    serve.stop().await.exits(0);
    // Several types of one provider whose SDK checks events strictly.
    for kind in ["invoice.paid", "checkout.session.completed"] {
        send(folder.path(), SDKS[1].1, &["stripe", kind, "--to", &receiver.url("stripe")]).await.exits(0);
        let body = receiver.next().await["body_base64"].as_str().unwrap().to_owned();
        let body = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, body).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&body).unwrap()["type"], kind);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_of_several_has_an_id_of_its_own() {
    let (folder, server) = (folder(), LocalServer::start().await);
    let ran = send(folder.path(), "s", &["github", "--to", &server.url(), "--times", "3"]).await.exits(0);
    let lines = ran.json();
    let events: HashSet<_> = lines.iter().map(|line| line["event_id"].as_str().unwrap().to_owned()).collect();
    let ids: HashSet<_> =
        server.seen().iter().map(|seen| seen.header("x-github-delivery").unwrap()).collect();
    assert_eq!((lines.len(), events.len(), ids.len()), (3, 3, 3));
    let stored = run(folder.path(), &["events", "--json"]).await.exits(0).json();
    assert!(
        stored.iter().all(|event| event["via"] == "send" && event["duplicate_of"].is_null()),
        "{stored:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_exit_code_says_what_was_answered() {
    let (folder, server, down) = (folder(), LocalServer::start().await, Down::somewhere());
    server.will([Answer::Status(400)]);
    let said_no =
        send(folder.path(), "s", &["github", "--to", &server.url()]).await.exits(1).json().remove(0);
    assert_eq!((&said_no["status"], &said_no["response_status"]), (&json!("failed"), &json!(400)));
    let none = send(folder.path(), "s", &["github", "--to", &down.url()]).await.exits(3).json().remove(0);
    assert_eq!((&none["status"], &none["response_status"]), (&json!("pending"), &Value::Null));
    assert!(none["error"].as_str().unwrap().contains("refused"), "{none}");
    let unknown = send(folder.path(), "s", &["nobody", "--to", &server.url()]).await.exits(2);
    assert!(unknown.err.contains("nobody"), "{}", unknown.err);
    for wrong in
        [&["github"][..], &["github", "--to", "ftp://x"], &["github", "--to", &server.url(), "--times", "0"]]
    {
        send(folder.path(), "s", wrong).await.exits(2);
    }
    let unset =
        run(folder.path(), &["send", "github", "--to", &server.url(), "--secret-env", "NOT_SET_ANYWHERE"])
            .await;
    assert!(unset.exits(2).err.contains("NOT_SET_ANYWHERE"));
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn it_says_which_secret_signed() {
    let (folder, server) = (folder(), LocalServer::start().await);
    let test = run(folder.path(), &["send", "github", "--to", &server.url()]).await.exits(0);
    assert!(test.err.contains("public test secret"), "{}", test.err);
    let given = send(folder.path(), "s3cret", &["github", "--to", &server.url()]).await.exits(0);
    assert!(given.err.contains("env:SECRET") && !given.err.contains("s3cret"), "{}", given.err);
    Ran::with_input(command(folder.path(), &["secret", "set", "github", "--label", "mine"]), b"own")
        .await
        .exits(0);
    let own = run(folder.path(), &["send", "github", "--to", &server.url()]).await.exits(0);
    assert!(own.err.contains("mine"), "{}", own.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sample_of_a_provider_that_signs_nothing_goes_out_unsigned_and_says_so() {
    let (folder, server) = (folder(), LocalServer::start().await);
    for (provider, name) in [("azure_eventgrid", "Azure Event Grid"), ("datadog", "Datadog")] {
        let ran = run(folder.path(), &["send", provider, "--to", &server.url(), "--json"]).await.exits(0);
        let reason = format!("{name} signs nothing");
        assert!(
            ran.err.contains(&format!("unsigned: {reason}")) && !ran.err.contains("signed with"),
            "{}",
            ran.err
        );
        let line = ran.json().remove(0);
        assert_eq!((&line["response_status"], &line["unsigned"]), (&json!(200), &json!(reason)));
        let event = run(folder.path(), &["show", "last", "--json"]).await.exits(0).json().remove(0);
        assert_eq!((&event["provider"], &event["verdict"]), (&json!(provider), &json!("unsigned")));
    }
    // A secret doesn't change that; for providers that sign, nothing is said about being unsigned.
    let given = send(folder.path(), "s3cret", &["datadog", "--to", &server.url()]).await.exits(0);
    assert_eq!(given.json().remove(0)["unsigned"], "Datadog signs nothing");
    let signed = send(folder.path(), "s3cret", &["github", "--to", &server.url()]).await.exits(0);
    assert_eq!(signed.json().remove(0).get("unsigned"), None);
    assert_eq!(server.seen().len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_became_of_a_sample_for_our_own_port_is_said() {
    let (folder, server) = (folder(), LocalServer::start().await);
    let dir = folder.path();
    let (serve, capture) = serving(dir).await;
    let to = format!("http://{capture}/github");
    let said = async |code: i32| run(dir, &["send", "github", "--to", &to]).await.exits(code).text();
    let stored = said(0).await;
    assert!(stored.contains("stored; its source has no target"), "{stored}");
    run(dir, &["target", "add", "github", &server.url(), "--attempts", "1"]).await.exits(0);
    server.will([Answer::Status(500)]);
    let refused = said(1).await;
    assert!(refused.contains("your server answered 500; no attempts are left"), "{refused}");
    let delivered = said(0).await;
    assert!(delivered.contains("delivered (200)"), "{delivered}");
    let json = run(dir, &["send", "github", "--to", &to, "--json", "--times", "2"]).await.exits(0).json();
    let became: Vec<_> = json.iter().map(|line| (&line["status"], &line["response_status"])).collect();
    assert_eq!(became, [(&json!("completed"), &json!(200)); 2]);
    assert!(json.iter().all(|line| line["delivery_id"].is_string()), "{json:?}");
    let _down = server.down().await;
    let waiting = said(3).await;
    assert!(waiting.contains("waiting: connection refused by"), "{waiting}");
    serve.stop().await.exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sample_for_our_own_port_arrives_like_a_providers() {
    let folder = folder();
    let (serve, capture): (Process, _) = serving(folder.path()).await;
    for (source, provider, secret) in [("gh", "github", "abc"), ("pay", "stripe", "whsec_abc")] {
        Ran::with_input(command(folder.path(), &["secret", "set", source, "--create"]), secret.as_bytes())
            .await
            .exits(0);
        let to = format!("http://{capture}/{source}");
        let ran = run(folder.path(), &["send", provider, "--to", &to, "--json"]).await.exits(0);
        let line = ran.json().remove(0);
        let event = run(folder.path(), &["show", "last", "--json"]).await.exits(0).json().remove(0);
        assert_eq!(
            (&event["id"], &event["verdict"], &event["via"]),
            (&line["event_id"], &json!("valid"), &json!("direct"))
        );
        assert_eq!((&event["source"], &event["provider"]), (&json!(source), &json!(provider)));
    }
    serve.stop().await.exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_of_ones_own_is_sent_byte_for_byte() {
    let (folder, server) = (folder(), LocalServer::start().await);
    let file = folder.path().join("body.json");
    std::fs::write(&file, b"{\"mine\": 1.0}\r\n").unwrap();
    send(folder.path(), "s", &["github", "--to", &server.url(), "--data", file.to_str().unwrap()])
        .await
        .exits(0);
    assert_eq!(server.seen()[0].body(), b"{\"mine\": 1.0}\r\n");
    send(folder.path(), "s", &["github", "--to", &server.url(), "--data", "/nowhere/x"]).await.exits(2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sample_through_the_relay_has_the_secret_of_the_source_that_it_calls() {
    let set = Set::new().await;
    let dir = set.data.path();
    let serving = Server::start(dir).await;
    serving.delivers().await;
    for (source, provider, secret) in [("gh", "github", "abc"), ("calls", "twilio", "token")] {
        run(dir, &["source", "add", source, "--provider", provider]).await.exits(0);
        Ran::with_input(command(dir, &["secret", "set", source]), secret.as_bytes()).await.exits(0);
        let to = format!("http://{}/acme/{source}", set.relay.address);
        let ran = run(dir, &["send", provider, "--to", &to]).await.exits(0);
        assert!(ran.err.contains(&format!("the secret \"default\" of {source}")), "{}", ran.err);
        // The relay has it when `send` ends; it is here a moment later.
        let event = eventually("it comes from the relay", async || {
            let page = serving.ask("GET", &format!("/api/events?source={source}"), Value::Null).await;
            page["items"].get(0).cloned()
        })
        .await;
        assert_eq!((&event["verdict"], &event["via"]), (&json!("valid"), &json!("tunnel")));
    }
}
