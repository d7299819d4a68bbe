//! Exit codes: 0 success, 1 the answer is no, 2 wrong usage or bad input, 3 something needed could not be reached.

use std::path::Path;

use hookmitt_stories::{Ran, post};
use serde_json::{Value, json};

use super::listen::{command, folder, github, run, serving};

async fn each_exits(data_dir: &Path, code: i32, verbs: &[&str]) {
    for verb in verbs {
        let arguments: Vec<_> = verb.split(' ').collect();
        let ran = run(data_dir, &arguments).await;
        assert_eq!(ran.code, code, "hookmitt {verb}\n{}{}", ran.text(), ran.err);
        assert!(code != 2 || !ran.err.is_empty(), "hookmitt {verb} says nothing");
    }
}

/// Command lines with wrong usage, or that name something that an empty inbox doesn't have.
const WRONG: &[&str] = &[
    "",
    "nonsense",
    "show",
    "show last",
    "show #1",
    "show 0199",
    "show xyz",
    "show last --body --json",
    "verify",
    "verify last",
    "replay last",
    "replay last --to 3000",
    "replay last --times 0",
    "retry",
    "retry last",
    "export last --raw",
    "export --source demo --raw",
    "export last --raw --format har",
    "import",
    "import /nowhere",
    "events --verdict good",
    "events --status odd",
    "events --since soon",
    "events --limit x",
    "events --limit 0",
    "events --limit -1",
    "events --source demo",
    "events --source demo --json",
    "events --source demo --follow",
    "source show demo",
    "source edit demo --provider github",
    "source remove demo",
    "source add BAD",
    "source add demo --provider nobody",
    "secret set BAD",
    "secret set demo --env NOT_SET_ANYWHERE",
    "target add",
    "target add * ftp://x",
    "target add demo 3000",
    "target add * 70000",
    "target pause 1",
    "target remove 1",
    "target edit 1 --attempts 3",
    "listen",
    "listen 0",
    "listen 3000 --create",
    "listen 3000 --source demo --no-open --port 0 --api-port 0",
    "listen 3000 --provider nobody",
    "listen 3000 --secret-env NOT_SET_ANYWHERE",
    "completions klingon",
    "url demo",
    "url demo --ui",
    "send github",
    "send nobody --to 3000",
    "send github nosuch --to 3000",
    "serve --port x",
];

#[tokio::test(flavor = "multi_thread")]
async fn wrong_usage_and_bad_input_are_2() {
    let folder = folder();
    each_exits(folder.path(), 2, WRONG).await;
    for args in [&["secret", "set", "demo"][..], &["secret", "remove", "demo", "--label", "none"]] {
        Ran::with_input(command(folder.path(), args), b"").await.exits(2);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_can_be_done_is_0() {
    let folder = folder();
    each_exits(
        folder.path(),
        0,
        &[
            "help",
            "--version",
            "serve --help",
            "events",
            "events --json",
            "url",
            "source list",
            "secret list",
            "target list",
            "doctor --port 0 --api-port 0",
            "source add demo --provider github --on-invalid reject --on-duplicate forward",
            "source show demo",
            "source edit demo --provider stripe",
            "target add made 3000 --create",
            "target add demo 3000 --order fifo --attempts 2 --timeout 5s",
            "target add * http://localhost:3001/x --order parallel:4",
            "target list demo",
            "target pause 1",
            "target resume 1",
            "target edit 1 --order fifo-by-key",
            "target remove 1",
            "events --source demo --since 1h",
            "retry --dead-letter",
            "url demo",
            "source remove demo",
        ],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mistyped_source_is_2_and_names_what_is_near() {
    let folder = folder();
    let dir = folder.path();
    run(dir, &["source", "add", "shop"]).await.exits(0);
    for verb in ["target add shpo 3000", "secret set shpo --env X", "events --source shpo", "url shpo"] {
        let arguments: Vec<_> = verb.split(' ').collect();
        let refused = run(dir, &arguments).await.exits(2);
        assert!(refused.err.contains("shop"), "{verb}: {}", refused.err);
    }
    run(dir, &["target", "add", "shop", "3000"]).await.exits(0);
    let again = run(dir, &["target", "add", "shop", "http://localhost:3000", "--json"]).await.exits(2);
    assert!(again.err.contains("\"target-exists\"") && again.err.contains("target edit 1"), "{}", again.err);
    run(dir, &["target", "add", "stripe", "3000"]).await.exits(0);
    run(dir, &["secret", "set", "github", "--env", "X"]).await.exits(0);
    run(dir, &["secret", "set", "mine", "--env", "X", "--create"]).await.exits(0);
    let made = run(dir, &["source", "list", "--json"]).await.exits(0).json();
    let made: Vec<_> = made.iter().map(|source| (&source["slug"], &source["provider"])).collect();
    let named = |slug: &str| (json!(slug), json!(slug));
    let wanted =
        [named("github"), (json!("mine"), Value::Null), (json!("shop"), Value::Null), named("stripe")];
    assert_eq!(made, wanted.each_ref().map(|(slug, provider)| (slug, provider)));
}

#[tokio::test(flavor = "multi_thread")]
async fn events_of_a_removed_source_can_be_listed() {
    let folder = folder();
    let (serve, capture) = serving(folder.path()).await;
    post(capture, "/gone", &[], b"a").await;
    run(folder.path(), &["source", "remove", "gone"]).await.exits(0);
    assert_eq!(run(folder.path(), &["events", "--source", "gone", "--json"]).await.exits(0).json().len(), 1);
    serve.stop().await.exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_id_that_names_nothing_or_several_is_2() {
    let folder = folder();
    let (serve, capture) = serving(folder.path()).await;
    let mut ids = Vec::new();
    for body in [b"a", b"b"] {
        ids.push(post(capture, "/demo", &[], body).await.json()["id"].as_str().unwrap().to_owned());
    }
    let prefix = &ids[0][..6]; // the part with the time, with which both ids begin
    let ambiguous = run(folder.path(), &["show", prefix]).await.exits(2);
    assert!(ambiguous.err.contains(prefix), "{}", ambiguous.err);
    for (name, id) in
        [("last", &ids[1]), ("last~1", &ids[0]), ("#1", &ids[0]), ("#2", &ids[1]), (ids[1].as_str(), &ids[1])]
    {
        let shown = run(folder.path(), &["show", name, "--json"]).await.exits(0).json().remove(0);
        assert_eq!(shown["id"], **id, "{name}");
    }
    let all_but_last = &ids[1][..35];
    assert_eq!(run(folder.path(), &["show", all_but_last, "--json"]).await.exits(0).json()[0]["id"], *ids[1]);
    each_exits(folder.path(), 2, &["show #3", "show last~2", "show ffff", "replay last #3 --to 3000"]).await;
    serve.stop().await.exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_verdict_decides_how_verify_ends() {
    let folder = folder();
    let dir = folder.path();
    let (serve, capture) = serving(dir).await;
    github(capture, "gh", "right", "d1", "{}").await;
    let none = run(dir, &["verify", "last"]).await.exits(2);
    assert!(none.text().contains("no_secret") || none.err.contains("secret"), "{}{}", none.text(), none.err);
    Ran::with_input(command(dir, &["secret", "set", "gh"]), b"right").await.exits(0);
    run(dir, &["verify", "last"]).await.exits(0);
    github(capture, "gh", "wrong", "d2", "{}").await;
    let no = run(dir, &["verify", "last", "--json"]).await.exits(1).json().remove(0);
    let fields: Vec<_> = no.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(fields, ["verdict", "provider", "scheme", "secret_label", "causes"]);
    let cause: Vec<_> = no["causes"][0].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(cause, ["code", "message", "fix"]);
    let mut with = command(dir, &["verify", "last", "--secret-env", "OTHER"]);
    with.env("OTHER", "wrong");
    Ran::of(with).await.exits(0);
    post(capture, "/gh", &[("X-GitHub-Event", "push")], b"{}").await;
    run(dir, &["verify", "last"]).await.exits(1);
    serve.stop().await.exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_taken_port_and_a_newer_data_directory_are_3() {
    let (one, other) = (folder(), folder());
    let (serve, capture) = serving(one.path()).await;
    let port = capture.port().to_string();
    for verb in ["serve", "listen"] {
        let mut arguments = vec![verb];
        arguments.extend(["listen"].contains(&verb).then_some("3000"));
        arguments.extend(["--no-open", "--port", &port, "--api-port", "0"]);
        let ran = run(other.path(), &arguments).await.exits(3);
        assert!(ran.err.contains(&port) && ran.err.contains("--port"), "{}", ran.err);
        #[cfg(target_os = "linux")] // elsewhere the system doesn't say whose it is
        assert!(ran.err.contains(&format!("is taken by hookmitt (process {})", serve.id())), "{}", ran.err);
    }
    let found = run(other.path(), &["doctor", "--port", &port, "--api-port", "0"]).await.exits(1).text();
    let taken = found.lines().find(|line| line.starts_with("bad ")).unwrap();
    assert!(taken.contains(&format!("capture port: port {port} is taken by")), "{found}");
    serve.stop().await.exits(0);
    let db = rusqlite::Connection::open(one.path().join("inbox.db")).unwrap();
    db.pragma_update(None, "user_version", 999).unwrap();
    drop(db);
    for verb in [
        "events",
        "serve --port 0 --api-port 0 --no-open",
        "listen 3000 --port 0 --api-port 0",
        "show last",
        "doctor",
    ] {
        let arguments: Vec<_> = verb.split(' ').collect();
        let ran = run(one.path(), &arguments).await.exits(3);
        assert!(format!("{}{}", ran.text(), ran.err).contains("999"), "{verb}: {}{}", ran.text(), ran.err);
    }
    std::fs::write(
        other.path().join("inbox.db"),
        "not a database, whatever it is called; longer than a header ".repeat(9),
    )
    .unwrap();
    each_exits(other.path(), 3, &["events", "serve --port 0 --api-port 0 --no-open"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_data_directory_comes_from_the_flag_or_the_environment() {
    let (one, other) = (folder(), folder());
    run(one.path(), &["source", "add", "from-env"]).await.exits(0);
    let flag = other.path().to_str().unwrap();
    run(one.path(), &["source", "add", "from-flag", "--data-dir", flag]).await.exits(0);
    let names = |ran: Ran| ran.json().iter().map(|source| source["slug"].clone()).collect::<Vec<_>>();
    assert_eq!(names(run(one.path(), &["source", "list", "--json"]).await), ["from-env"]);
    assert_eq!(
        names(run(one.path(), &["--data-dir", flag, "source", "list", "--json"]).await),
        ["from-flag"]
    );
}
