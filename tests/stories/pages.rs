//! The web page on the API's port: open to callers that use the port's own name, closed in every other way.

use hookmitt_api::{Host, HostOptions};
use hookmitt_engine::StoreChoice;
use hookmitt_stories::{App, Reply, Serving, hookmitt, parse_reply};
use serde_json::json;

async fn get(app: &App, target: &str, lines: &[(&str, &str)]) -> Reply {
    app.api_raw("GET", target, lines, b"").await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_needs_no_token_and_allows_nothing_from_elsewhere() {
    let app = App::start().await;
    let host = app.api().to_string();
    let own = [("Host", host.as_str())];
    let page = get(&app, "/", &own).await;
    assert_eq!(page.status, 200);
    let header = |name: &str| page.header(name).unwrap_or_default().to_owned();
    let policy = header("content-security-policy");
    for part in ["default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'"] {
        assert!(policy.split("; ").any(|found| found == part), "{policy}");
    }
    assert!(!policy.contains("unsafe") && !policy.contains('*') && !policy.contains("http"), "{policy}");
    assert_eq!(header("content-type"), "text/html; charset=utf-8");
    assert_eq!(
        (header("x-content-type-options"), header("referrer-policy")),
        ("nosniff".into(), "no-referrer".into())
    );
    assert_eq!(header("cache-control"), "no-store");
    let head = app.api_raw("HEAD", "/", &own, b"").await;
    assert_eq!((head.status, head.header("content-security-policy")), (200, Some(policy.as_str())));
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_1_the_page_is_not_handed_to_another_host_or_origin() {
    let app = App::start().await;
    let host = app.api().to_string();
    for foreign in ["evil.example", "127.0.0.1", "localhost:1", ""] {
        let refused = get(&app, "/", &[("Host", foreign)]).await;
        assert_eq!((refused.status, &refused.json()["code"]), (403, &json!("foreign-host")), "{foreign}");
    }
    let lines = [("Host", host.as_str()), ("Origin", "https://evil.example")];
    assert_eq!(get(&app, "/", &lines).await.status, 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn beside_the_page_everything_needs_the_token() {
    let app = App::start().await;
    let (host, bearer) = (app.api().to_string(), format!("Bearer {}", app.token()));
    for target in ["/nowhere", "/assets/nothing.js", "/assets/../index.html", "/index.html", "/events"] {
        assert_eq!(get(&app, target, &[("Host", &host)]).await.status, 401, "{target}");
        let reply = get(&app, target, &[("Host", &host), ("Authorization", &bearer)]).await;
        let kind = reply.header("content-type").unwrap_or_default();
        assert_eq!((reply.status, kind), (404, "application/problem+json"), "{target}");
    }
    assert_eq!(app.api_raw("POST", "/", &[("Host", &host)], b"").await.status, 405);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fresh_url_comes_through_the_socket_and_never_over_tcp() {
    let app = App::start().await;
    let refused = app.api_call("POST", "/api/session/code", b"{}").await;
    assert_eq!((refused.status, &refused.json()["code"]), (404, &json!("no-such-route")));
    let (first, second) = (url(&app).await, url(&app).await);
    assert_ne!(first, second);
    for url in [first, second] {
        let (base, code) = url.split_once("/#code=").unwrap();
        assert_eq!(base, format!("http://{}", app.api()));
        let host = app.api().to_string();
        let body = json!({ "code": code }).to_string();
        let reply = app.api_raw("POST", "/api/session", &[("Host", &host)], body.as_bytes()).await;
        assert_eq!(reply.status, 200);
        let bearer = format!("Bearer {}", reply.json()["token"].as_str().unwrap());
        let stats = get(&app, "/api/stats", &[("Host", &host), ("Authorization", &bearer)]).await;
        assert_eq!(stats.status, 200);
    }
}

/// Returns what `hookmitt url --ui` prints beside a running app.
async fn url(app: &App) -> String {
    app_delivers(app).await;
    let output = hookmitt(app.folder.path()).args(["url", "--ui"]).output().await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

/// Waits until commands can attach to the app.
async fn app_delivers(app: &App) {
    let socket = app.folder.path().join("hookmitt.sock");
    hookmitt_stories::eventually("its socket is there", async || socket.exists().then_some(())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_has_no_port_for_its_api_and_commands_attach_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let data_dir = folder.path().to_owned();
    let options = HostOptions {
        data_dir: data_dir.clone(),
        secrets: Some(StoreChoice::File),
        ..HostOptions::default()
    };
    let host = Host::start(options).await.unwrap();
    assert_eq!((host.api_urls(), host.open_url()), (Vec::new(), None));
    assert!(!data_dir.join("token").exists(), "what nobody can use isn't made");
    let socket = data_dir.join("hookmitt.sock");
    hookmitt_stories::eventually("its socket is there", async || socket.exists().then_some(())).await;
    let listed = hookmitt(&data_dir).args(["url", "--json"]).output().await.unwrap();
    assert!(listed.status.success());
    assert_eq!(String::from_utf8_lossy(&listed.stderr), "", "it is attached: something catches there");
    let none = hookmitt(&data_dir).args(["url", "--ui", "--json"]).output().await.unwrap();
    assert_eq!(none.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&none.stderr).contains("no-page"));
    host.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn serve_says_where_the_page_is() {
    let folder = tempfile::tempdir().unwrap();
    let mut serving = Serving::start(folder.path()).await;
    let line = loop {
        let line = serving.lines.next_line().await.unwrap().expect("it goes on");
        if line.contains("  UI ") {
            break line;
        }
    };
    let url = line.split_whitespace().last().unwrap();
    let (base, code) = url.split_once("/#code=").unwrap();
    let host = base.trim_start_matches("http://");
    let body = json!({ "code": code }).to_string();
    let head = format!(
        "POST /api/session HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {}",
        body.len()
    );
    let request = format!("{head}\r\n\r\n{body}");
    let reply = parse_reply(&hookmitt_stories::exchange(host.parse().unwrap(), request.as_bytes()).await);
    assert_eq!(reply.status, 200, "{reply:?}");
    serving.kill().await;
}
