//! What strangers' requests can do at the capture port, and what others can read of our files.

use std::{net::SocketAddr, os::unix::fs::PermissionsExt as _, path::Path, sync::Arc};

use bytes::Bytes;
use hookmitt_catch::{Address, Caught, Share, Sink as _, parse_head};
use hookmitt_clock::MachineClock;
use hookmitt_engine::{Engine, Network, Resources, StoreChoice};
use hookmitt_event::Timestamp;
use hookmitt_stories::{App, LocalServer, post};
use serde_json::{Value, json};
use tokio::task::JoinSet;

/// Opens an engine without ports.
async fn engine(folder: &Path) -> Arc<Engine> {
    let (data_dir, secrets) = (folder.to_owned(), StoreChoice::File);
    let (network, clock) = (Network::default(), Arc::new(MachineClock));
    Engine::open(Resources { data_dir, secrets, network, clock }).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_1_a_web_page_is_stored_and_marked_but_not_forwarded() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.source("demo", json!({})).await;
    app.target(Some("demo"), &server.url(), json!({})).await;
    let rebound = format!("http://evil.example:{}", app.capture().port());
    let foreign: [&[(&str, &str)]; 15] = [
        &[("Origin", "https://evil.example")],
        &[("origin", "null")],
        &[("Origin", "http://localhost:1")],
        &[("Origin", "http://127.0.0.1")],
        &[("Origin", &rebound), ("Sec-Fetch-Site", "same-origin")],
        &[("Sec-Fetch-Site", "cross-site")],
        &[("sec-fetch-site", "Same-Site")],
        &[("Sec-Fetch-Mode", "no-cors"), ("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Dest", "image")],
        &[("Origin", "https://evil.example"), ("Content-Type", "text/plain")],
        &[("Origin", &format!("http://{}", app.capture())), ("Origin", "https://evil.example")],
        &[("Origin", &format!("http://{}", app.capture()))],
        &[("Origin", &format!("http://localhost:{}", app.capture().port()))],
        &[("Sec-Fetch-Site", "same-origin")],
        &[("Sec-Fetch-Site", "none"), ("Sec-Fetch-Site", "cross-site")],
        &[("Sec-Fetch-Site", "none"), ("Sec-Purpose", "prefetch;prerender")],
    ];
    for (number, headers) in foreign.into_iter().enumerate() {
        let reply = post(app.capture(), "/demo", headers, format!("{number}").as_bytes()).await;
        assert_eq!((reply.status, reply.header("access-control-allow-origin")), (202, None), "{headers:?}");
        let event = app.event("last").await;
        assert_eq!((&event["browser"], &event["status"]), (&json!(true), &json!("skipped")), "{headers:?}");
        assert_eq!(event["deliveries"][0]["last_error"], "it was sent by a web page");
    }
    let last = app.event("last").await["id"].as_str().unwrap().to_owned();
    app.ask("POST", &format!("/api/events/{last}/retry"), Value::Null).await;
    app.status(&last, "completed").await;
    assert_eq!(server.seen().len(), 1, "only the one that was sent by hand");
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_1_what_no_foreign_page_sent_is_forwarded() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.target(None, &server.url(), json!({})).await;
    let api = format!("http://localhost:{}", app.api().port());
    let ours: [&[(&str, &str)]; 4] =
        [&[], &[("Sec-Fetch-Site", "none")], &[("Origin", &api)], &[("Referer", "https://github.com/")]];
    for (number, headers) in ours.into_iter().enumerate() {
        post(app.capture(), "/demo", headers, format!("{number}").as_bytes()).await;
        assert_eq!(app.event("last").await["browser"], false, "{headers:?}");
    }
    server.wait_for(ours.len()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_2_a_captured_page_is_handed_out_as_bytes_that_no_browser_renders() {
    let app = App::start().await;
    let page = b"<svg onload=alert(1)><script>alert(document.domain)</script>";
    for kind in ["text/html", "image/svg+xml", "application/javascript", "text/html; charset=utf-7"] {
        post(app.capture(), "/demo/x.html", &[("Content-Type", kind), ("X-A", "<script>\u{202e}")], page)
            .await;
        let reply = app.api_call("GET", "/api/events/last/body", b"").await;
        assert_eq!((reply.status, &reply.body[..]), (200, &page[..]));
        assert_eq!(reply.header("content-type"), Some("application/octet-stream"));
        assert!(reply.header("content-disposition").unwrap().starts_with("attachment;"));
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
        let policy = reply.header("content-security-policy").unwrap();
        assert!(policy.contains("sandbox") && !policy.contains("allow-"), "{policy}");
    }
    for path in ["/api/events", "/api/events/last", "/api/stats", "/api/events/%3Cscript%3E", "/%3Cscript%3E"]
    {
        let kind = app.api_call("GET", path, b"").await.header("content-type").unwrap().to_owned();
        assert!(matches!(kind.as_str(), "application/json" | "application/problem+json"), "{path}: {kind}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_3_a_web_page_makes_no_source() {
    let app = App::start().await;
    for headers in [[("Origin", "https://evil.example")], [("Sec-Fetch-Site", "cross-site")]] {
        let reply = post(app.capture(), "/new", &headers, b"{}").await;
        assert_eq!((reply.status, &reply.json()["code"]), (404, &json!("unknown-source")));
        assert!(reply.json()["hint"].is_string());
    }
    assert_eq!(app.refused().await.len(), 2);
    assert_eq!(app.ask("GET", "/api/sources", Value::Null).await["items"], json!([]));
    assert!(app.events().await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_3_only_senders_on_this_machine_make_a_source() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path()).await;
    let sent = async |slug: &str, remote: &str| {
        let (head, _) =
            parse_head(format!("POST /{slug} HTTP/1.1\r\nHost: h\r\n\r\n").as_bytes()).unwrap().unwrap();
        let address = Address { slug: slug.parse().unwrap(), path: String::new(), query: None };
        let caught = Caught {
            head,
            body: Bytes::new(),
            remote: remote.parse::<SocketAddr>().unwrap(),
            received_at: Timestamp::now(),
            share: Share::default(),
        };
        engine.capture_port().caught(address, caught).await.status
    };
    for remote in
        ["192.0.2.7:1", "10.0.0.1:1", "[2001:db8::1]:1", "[fe80::1]:1", "[::ffff:192.0.2.7]:1", "0.0.0.0:1"]
    {
        assert_eq!(sent("far", remote).await, 404, "{remote}");
    }
    for (slug, remote) in [("one", "127.0.0.1:1"), ("two", "[::1]:1"), ("three", "[::ffff:127.0.0.1]:1")] {
        assert_eq!((sent(slug, remote).await, sent(slug, "192.0.2.7:1").await), (202, 202), "{remote}");
    }
    assert_eq!((engine.sources.all().len(), engine.latest_refusals(100).await.unwrap().len()), (3, 6));
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_3_what_a_proxy_passed_on_makes_no_source_whatever_line_it_adds() {
    let app = App::start().await;
    for (number, line) in [
        "Forwarded: for=203.0.113.9",
        "Via: 1.1 proxy",
        "X-Forwarded-For: 203.0.113.9",
        "X-Forwarded-Host: hooks.example",
        "X-Forwarded-Proto: https",
        "X-Forwarded-Port: 443",
        "X-Forwarded-Server: proxy",
        "X-Real-IP: 203.0.113.9",
        "X-Client-IP: 203.0.113.9",
        "True-Client-IP: 203.0.113.9",
        "CF-Connecting-IP: 203.0.113.9",
        "CF-Ray: 8f",
        "CDN-Loop: cloudflare",
        "Fly-Client-IP: 203.0.113.9",
        "Fastly-Client-IP: 203.0.113.9",
    ]
    .into_iter()
    .enumerate()
    {
        let (name, value) = line.split_once(": ").unwrap();
        let reply = post(app.capture(), &format!("/new-{number}"), &[(name, value)], b"{}").await;
        assert_eq!(reply.status, 404, "{line}");
    }
    assert_eq!(app.ask("GET", "/api/sources", Value::Null).await["items"], json!([]));
    assert!(app.events().await.is_empty());
    // An existing source accepts forwarded requests.
    assert_eq!(post(app.capture(), "/here", &[], b"{}").await.status, 202);
    assert_eq!(post(app.capture(), "/here", &[("Via", "1.1 proxy")], b"{}").await.status, 202);
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_3_unknown_names_make_fifty_sources_and_no_more() {
    let app = App::start().await;
    let mut all = JoinSet::new();
    for number in 0..80 {
        let capture = app.capture();
        all.spawn(async move { post(capture, &format!("/s{number}"), &[], b"{}").await });
    }
    let replies = all.join_all().await;
    assert_eq!(replies.iter().filter(|reply| reply.status == 202).count(), 50);
    let refused = replies.iter().find(|reply| reply.status != 202).unwrap();
    assert_eq!((refused.status, &refused.json()["code"]), (404, &json!("too-many-sources")));
    assert!(refused.json()["hint"].as_str().unwrap().contains("source add"));
    assert_eq!((app.events().await.len(), app.refused().await.len()), (50, 30));
    // Sources made by hand don't count, and existing ones keep working.
    app.source("by-hand", json!({})).await;
    assert_eq!(post(app.capture(), "/by-hand", &[], b"{}").await.status, 202);
    let made = app.ask("GET", "/api/sources", Value::Null).await["items"].as_array().unwrap().clone();
    assert_eq!(made.iter().filter(|source| source["auto_created"] == true).count(), 50);
    let slug = made.iter().find(|source| source["auto_created"] == true).unwrap()["slug"].clone();
    app.ask(
        "PATCH",
        &format!("/api/sources/{}", slug.as_str().unwrap()),
        json!({ "on_duplicate": "forward" }),
    )
    .await;
    assert_eq!(post(app.capture(), "/again", &[], b"{}").await.status, 202, "one was made the user's own");
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_5_no_captured_path_or_query_leads_to_another_host() {
    for base in ["", "/", "/hooks", "/hooks?t=1"] {
        let (app, server) = (App::start().await, LocalServer::start().await);
        app.target(None, &format!("{}{base}", server.url()), json!({})).await;
        let paths = [
            "//evil.example/x",
            "/@evil.example",
            "/:81/x",
            "/../../x",
            "/\\evil.example",
            "/http://evil.example/",
            "?@evil",
            "/x?#@evil:81",
        ];
        for (number, path) in paths.into_iter().enumerate() {
            let reply = post(app.capture(), &format!("/demo{path}"), &[], b"{}").await;
            assert!(matches!(reply.status, 202 | 400), "{path}: {reply:?}");
            if reply.status == 202 {
                let event = app.status(reply.json()["id"].as_str().unwrap(), "completed").await;
                let seen = server.seen().pop().unwrap();
                assert_eq!(seen.header("host").unwrap(), server.address.to_string(), "{number}: {path}");
                let target = seen.line().split(' ').nth(1).unwrap().to_owned();
                assert!(
                    target.starts_with('/') && target.contains(event["path"].as_str().unwrap()),
                    "{target}"
                );
            }
        }
        for path in ["@evil.example", ":81", ":81/x", "@evil.example/x"] {
            assert_eq!(post(app.capture(), &format!("/demo{path}"), &[], b"{}").await.status, 404, "{path}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_5_a_fixture_leads_nowhere_else_either() {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.target(None, &server.url(), json!({})).await;
    post(app.capture(), "/demo", &[], b"{}").await;
    server.wait_for(1).await;
    let exported = app.ask("POST", "/api/export", json!({ "ids": ["last"], "raw": true })).await;
    let fixture: Value = serde_json::from_str(exported["items"][0]["content"].as_str().unwrap()).unwrap();
    let hostile = [
        ("path", "@evil.example/x"),
        ("path", ":81/x"),
        ("path", "//evil.example"),
        ("path", "/x HTTP/1.1\r\nHost: evil.example\r\n\r\n"),
        ("query", "a b\r\nX: y"),
        ("method", "GET / HTTP/1.1\r\nX: y\r\n"),
    ];
    for (field, value) in hostile {
        let mut bad = fixture.clone();
        bad[field] = json!(value);
        let before = server.seen().len();
        let file = json!({ "name": "bad", "content_base64": STANDARD.encode(bad.to_string()) });
        let (status, answer) =
            app.call("POST", "/api/import", json!({ "items": [file], "forward": true })).await;
        if status == 200 {
            app.status(answer["items"][0]["event_id"].as_str().unwrap(), "completed").await;
            let seen = server.seen().pop().unwrap();
            assert_eq!(seen.header("host").unwrap(), server.address.to_string());
            assert!(
                seen.line().starts_with("POST /") && seen.line().ends_with(" HTTP/1.1"),
                "{}",
                seen.line()
            );
        } else {
            assert_eq!((status, &answer["code"]), (400, &json!("bad-fixture")), "{value:?}");
            assert_eq!(server.seen().len(), before);
        }
        assert!(status != 200 || !value.contains('\n'), "{value:?} was taken");
    }
}

/// Returns every file and folder below a folder, with its mode.
fn modes(folder: &Path) -> Vec<(String, u32)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let (name, data) = (entry.file_name().to_string_lossy().into_owned(), entry.metadata().unwrap());
        all.push((name, data.permissions().mode() & 0o777));
        if data.is_dir() {
            all.extend(modes(&entry.path()));
        }
    }
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_8_the_data_directory_is_for_its_owner_alone() {
    let above = tempfile::tempdir().unwrap();
    let folder = tempfile::tempdir_in(above.path()).unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777)).unwrap();
    let app = App::start_on(folder).await;
    app.secret("demo", "main", "hush").await;
    post(app.capture(), "/demo", &[], b"{}").await;
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(app.folder.path()), 0o700, "it was open to all, and empty");
    let socket = app.folder.path().join("hookmitt.sock");
    hookmitt_stories::eventually("the socket is there, closed to others", async || {
        (socket.exists() && mode(&socket) == 0o600).then_some(())
    })
    .await;
    let found = modes(app.folder.path());
    assert!(found.iter().all(|(_, mode)| *mode == 0o600), "{found:?}");
    for name in ["inbox.db", "inbox.db-wal", "inbox.db-shm", "token", "owner.lock", "hookmitt.sock"] {
        assert!(found.iter().any(|(file, _)| file == name), "{name} is missing among {found:?}");
    }
    let folder = app.stop().await;
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let app = App::start_on(folder).await;
    assert_eq!(mode(app.folder.path()), 0o700, "it holds an inbox");
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_8_a_folder_that_is_made_is_closed_from_the_start() {
    let above = tempfile::tempdir().unwrap();
    let path = above.path().join("a/b");
    let engine = engine(&path).await;
    for folder in [path.clone(), path.parent().unwrap().to_owned()] {
        assert_eq!(
            std::fs::metadata(&folder).unwrap().permissions().mode() & 0o777,
            0o700,
            "{}",
            folder.display()
        );
    }
    engine.stop().await;
}
