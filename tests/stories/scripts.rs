//! What the commands print for scripts.

use std::process::Stdio;

use hookmitt_stories::{Process, exchange, parse_reply, post};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};

use super::listen::{command, folder, run, serving};

#[tokio::test(flavor = "multi_thread")]
async fn serve_prints_where_everything_is_as_its_first_line() {
    let folder = folder();
    let serve = ["serve", "--json", "--no-open", "--port", "0", "--api-port", "0"];
    let mut serve = Process::start(command(folder.path(), &serve));
    serve.says("\"ready\"").await;
    let first: Value = serde_json::from_str(serve.out().lines().next().unwrap()).unwrap();
    let ready = &first["ready"];
    assert_eq!(ready["capture"][0], format!("http://127.0.0.1:{}", ready["capture_port"]));
    assert_eq!(ready["api"][0], format!("http://127.0.0.1:{}", ready["api_port"]));
    assert_eq!((&ready["pid"], &ready["delivers"]), (&json!(serve.id()), &json!(true)));
    let ui = ready["ui"].as_str().unwrap();
    assert!(ui.starts_with(ready["api"][0].as_str().unwrap()), "{ui}");

    let capture = ready["capture"][0].as_str().unwrap().trim_start_matches("http://").parse().unwrap();
    assert_eq!(post(capture, "/demo", &[], b"{}").await.status, 202, "it takes events by then");
    let api = ready["api"][0].as_str().unwrap().trim_start_matches("http://").to_owned();
    let ask = format!("GET /healthz HTTP/1.1\r\nHost: {api}\r\nConnection: close\r\n\r\n");
    assert_eq!(parse_reply(&exchange(api.parse().unwrap(), ask.as_bytes()).await).status, 200);
    serve.says("\"event\"").await;
    let kinds: Vec<_> =
        serve.stop().await.exits(0).json().iter().map(|line| line.as_object().unwrap().len()).collect();
    assert!(kinds.len() >= 2 && kinds.iter().all(|keys| *keys == 1), "each line has one key: {kinds:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_that_reads_the_first_line_alone_does_not_end_serve() {
    let folder = folder();
    let arguments = ["serve", "--json", "--no-open", "--port", "0", "--api-port", "0"];
    let mut serve =
        command(folder.path(), &arguments).stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
    let mut first = String::new();
    BufReader::new(serve.stdout.take().unwrap()).read_line(&mut first).await.unwrap(); // and nobody reads on
    let ready: Value = serde_json::from_str(&first).unwrap();
    let capture = ready["ready"]["capture"][0].as_str().unwrap();
    let capture = capture.trim_start_matches("http://").parse().unwrap();
    for _ in 0..2 {
        assert_eq!(post(capture, "/demo", &[], b"{}").await.status, 202);
        run(folder.path(), &["wait", "--since", "1m", "source:demo"]).await.exits(0);
    }
    assert!(serve.try_wait().unwrap().is_none(), "it goes on");
    serve.kill().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_finds_the_url_before_there_is_a_source() {
    let folder = folder();
    let (serve, capture) = serving(folder.path()).await;
    let base = format!("http://{capture}");
    let found = run(folder.path(), &["url", "--json"]).await.exits(0).json();
    assert_eq!(found, [json!({ "source": null, "url": base, "public": [] })]);
    post(capture, "/demo", &[], b"{}").await;
    let found = run(folder.path(), &["url", "--json"]).await.exits(0).json();
    assert_eq!(found, [json!({ "source": "demo", "url": format!("{base}/demo"), "public": [] })]);
    serve.stop().await.exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_is_shown_with_its_body() {
    let folder = folder();
    let dir = folder.path();
    let (serve, capture) = serving(dir).await;
    let shown = async |more: &[&str]| {
        let ran = run(dir, &[&["show", "last", "--json"], more].concat()).await.exits(0);
        (ran.json().remove(0), ran.err)
    };
    post(capture, "/demo", &[], "{\"ä\": \"\u{1b}\"}".as_bytes()).await;
    let (event, _) = shown(&[]).await;
    assert_eq!((&event["body"], event.get("body_base64")), (&json!("{\"ä\": \"\u{1b}\"}"), None));
    let (event, _) = shown(&["--no-body"]).await;
    assert_eq!((event.get("body"), event["size"].clone()), (None, json!(11)));
    let text = run(dir, &["show", "last", "--no-body"]).await.exits(0).text();
    assert!(!text.contains("{\"ä\""), "{text}");

    post(capture, "/demo", &[], b"\xff\x00").await;
    let (event, _) = shown(&[]).await;
    assert_eq!((event.get("body"), &event["body_base64"]), (None, &json!("/wA=")));

    post(capture, "/demo", &[], &vec![b'x'; 9 << 20]).await;
    let (event, said) = shown(&[]).await;
    assert_eq!((event.get("body"), event.get("body_base64")), (None, None));
    assert!(said.contains("9.4 MB") && said.contains("--body"), "{said}");
    serve.stop().await.exits(0);
}
