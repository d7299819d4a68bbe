//! A web page whose name was made to resolve to this machine (DNS rebinding), and sign-ins that return here.

use std::net::SocketAddr;

use hookmitt_stories::{Answer, App, LocalServer, Reply, exchange, hookmitt, parse_reply};
use serde_json::{Value, json};

/// Sends a request without a body, with exactly these header lines.
async fn send(address: SocketAddr, line: &str, headers: &[(&str, &str)]) -> Reply {
    let mut head = format!("{line} HTTP/1.1\r\nConnection: close\r\n");
    headers.iter().for_each(|(name, value)| head.push_str(&format!("{name}: {value}\r\n")));
    parse_reply(&exchange(address, format!("{head}\r\n").as_bytes()).await)
}

async fn get(app: &App, target: &str, host: &str) -> Reply {
    send(app.capture(), &format!("GET {target}"), &[("Host", host)]).await
}

async fn withheld(app: &App) -> Value {
    let event = app.event("last").await;
    assert_eq!((&event["browser"], &event["status"]), (&json!(true), &json!("skipped")), "{event}");
    event
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_1_what_a_rebound_page_gets_and_heads_is_stored_and_not_forwarded() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.source("demo", json!({ "answer": { "respond": "app" } })).await;
    app.target(Some("demo"), &server.url(), json!({})).await;
    let port = app.capture().port();
    let foreign = [
        ("evil.example".to_owned(), "evil.example"),
        (format!("evil.example:{port}"), "evil.example"),
        ("EVIL.Example.".to_owned(), "evil.example"),
        ("localhost.evil.example".to_owned(), "localhost.evil.example"),
        ("127.0.0.1.evil.example".to_owned(), "127.0.0.1.evil.example"),
        ("notlocalhost.example".to_owned(), "notlocalhost.example"),
        ("evil-localhost.com".to_owned(), "evil-localhost.com"),
        ("evil.localhost.com".to_owned(), "evil.localhost.com"),
        ("a.b.local".to_owned(), "a.b.local"),
        ("my.internal.example".to_owned(), "my.internal.example"),
    ];
    for (host, name) in &foreign {
        for method in ["GET", "HEAD"] {
            let reply = send(app.capture(), &format!("{method} /demo/admin?x=1"), &[("Host", host)]).await;
            assert_eq!(reply.status, 202, "{host}: the local server isn't asked");
            let event = withheld(&app).await;
            assert_eq!(event["withheld"]["reason"], "foreign_host");
            assert_eq!(event["withheld"]["host"], *name);
            let said = event["withheld"]["message"].as_str().unwrap();
            assert_eq!(
                said,
                format!("Not forwarded: it was called as {name}, which isn't a name of this machine.")
            );
            assert!(
                event["withheld"]["fix"]
                    .as_str()
                    .unwrap()
                    .contains(&format!("source edit demo --allow-host {name}`"))
            );
            assert_eq!(
                event["deliveries"][0]["last_error"],
                "it was called by a name that is not this machine's"
            );
        }
    }
    assert!(server.seen().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_1_a_get_by_a_name_of_this_machine_is_forwarded() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.source("demo", json!({ "public_url": "https://hooks.example.com/demo" })).await;
    app.target(None, &server.url(), json!({})).await;
    let port = app.capture().port();
    let ours = [
        format!("127.0.0.1:{port}"),
        format!("localhost:{port}"),
        "LOCALHOST".to_owned(),
        "localhost.".to_owned(),
        format!("[::1]:{port}"),
        "192.168.0.7:4400".to_owned(),
        "2130706433".to_owned(),
        "0x7f.1:4400".to_owned(),
        "buildbox".to_owned(),
        "demo.localhost:4400".to_owned(),
        "host.docker.internal:4400".to_owned(),
        "hooks.shop.test".to_owned(),
        "hooks.example.com".to_owned(),
    ];
    for (number, host) in ours.iter().enumerate() {
        get(&app, &format!("/demo/{number}"), host).await;
        assert_eq!(app.event("last").await["browser"], false, "{host}");
    }
    // HTTP/1.0 doesn't require a Host line, but every browser sends one.
    exchange(app.capture(), b"GET /demo/old HTTP/1.0\r\n\r\n").await;
    server.wait_for(ours.len() + 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_1_a_post_by_any_name_is_forwarded_for_a_page_would_tell_its_origin() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.target(None, &server.url(), json!({})).await;
    app.source("demo", json!({})).await;
    send(app.capture(), "POST /demo", &[("Host", "abc.tunnel.example"), ("Content-Length", "0")]).await;
    server.wait_for(1).await;
    let rebound = [("Host", "evil.example"), ("Origin", "http://evil.example"), ("Content-Length", "0")];
    send(app.capture(), "POST /demo", &rebound).await;
    assert_eq!(withheld(&app).await["withheld"]["reason"], "web_page");
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_1_an_absolute_targets_authority_is_who_is_called() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.target(None, &server.url(), json!({})).await;
    app.source("demo", json!({})).await;
    send(app.capture(), "GET http://evil.example/demo", &[("Host", "localhost")]).await;
    let event = withheld(&app).await;
    assert_eq!(
        (&event["withheld"]["host"], &event["url"]),
        (&json!("evil.example"), &json!("http://evil.example/demo"))
    );
    send(app.capture(), "GET http://localhost:80/demo/a?b", &[("Host", "localhost:80")]).await;
    let event = app.event("last").await;
    assert_eq!((&event["browser"], &event["url"]), (&json!(false), &json!("http://localhost:80/demo/a?b")));
    server.wait_for(1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_3_a_rebound_page_makes_no_source() {
    let app = App::start().await;
    for line in ["GET /new/admin", "HEAD /new", "GET http://evil.example/new", "GET /new/admin?x"] {
        let reply = send(app.capture(), line, &[("Host", "evil.example")]).await;
        assert_eq!(reply.status, 404, "{line}");
    }
    assert_eq!(get(&app, "/", "evil.example").await.status, 200, "that it listens is no secret");
    assert_eq!(app.ask("GET", "/api/sources", Value::Null).await["items"], json!([]));
    assert!(app.events().await.is_empty());
    assert_eq!(app.refused().await.len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_1_a_host_is_allowed_in_words_and_what_was_withheld_is_offered() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.source("demo", json!({})).await;
    app.source("other", json!({})).await;
    get(&app, "/demo/before-there-was-a-target", "abc.tunnel.example").await;
    let event = app.event("last").await;
    assert_eq!(event["withheld"]["host"], "abc.tunnel.example", "no delivery is needed to say so");
    app.target(None, &server.url(), json!({})).await;
    for target in ["/demo/one", "/demo/two", "/other/one"] {
        get(&app, target, "ABC.tunnel.example:443").await;
    }
    get(&app, "/demo/three", "evil.example").await;

    let folder = app.folder.path();
    let run = async |arguments: &[&str]| {
        let done = hookmitt(folder).args(arguments).output().await.unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (done.status.code(), text(done.stdout), text(done.stderr))
    };
    let shown = run(&["show", "last"]).await.1;
    assert!(shown.contains("Not forwarded: it was called as evil.example, which isn't a name"), "{shown}");
    assert!(shown.contains("`hookmitt source edit demo --allow-host evil.example`"), "{shown}");
    let found = run(&["doctor"]).await.1;
    assert!(found.contains("demo withheld 3 requests called as abc.tunnel.example"), "{found}");
    let early = run(&["retry", "--withheld-host", "abc.tunnel.example", "--source", "demo"]).await;
    assert!(early.0 == Some(2) && early.2.contains("doesn't allow"), "{early:?}");

    let edited = run(&["source", "edit", "demo", "--allow-host", "Abc.Tunnel.Example."]).await;
    assert_eq!(edited.0, Some(0), "{edited:?}");
    assert!(edited.1.contains("abc.tunnel.example"), "{edited:?}");
    let offer = "3 events withheld because of that host name; to send: `hookmitt retry --withheld-host \
                 abc.tunnel.example --source demo`";
    assert!(edited.2.contains(offer), "{edited:?}");
    assert!(server.seen().is_empty(), "it is an offer");
    get(&app, "/demo/after", "abc.tunnel.example").await;
    server.wait_for(1).await;

    let sent = run(&["retry", "--withheld-host", "abc.tunnel.example", "--source", "demo"]).await;
    assert_eq!((sent.0, sent.1.lines().count()), (Some(0), 3), "{sent:?}");
    let mut lines: Vec<_> = server.wait_for(4).await.iter().map(|seen| seen.line().to_owned()).collect();
    lines[1..].sort();
    let paths = ["/after", "/before-there-was-a-target", "/one", "/two"];
    assert_eq!(lines, paths.map(|path| format!("GET {path} HTTP/1.1")), "of that source and that name alone");
    let again = run(&["retry", "--withheld-host", "abc.tunnel.example", "--source", "demo"]).await;
    assert_eq!((again.0, again.1.as_str()), (Some(0), ""), "{again:?}");

    run(&["source", "edit", "demo", "--disallow-host", "abc.tunnel.example"]).await;
    get(&app, "/demo/gone", "abc.tunnel.example").await;
    assert_eq!(withheld(&app).await["withheld"]["host"], "abc.tunnel.example");
    for name in ["*.example", "https://a.example", "10.0.0.1", "a b", ""] {
        let refused = run(&["source", "edit", "demo", "--allow-host", name]).await;
        assert!(refused.0 == Some(2) && refused.2.contains("can't be allowed"), "{name}: {refused:?}");
    }
}

const NAVIGATION: [(&str, &str); 3] =
    [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")];

#[tokio::test(flavor = "multi_thread")]
async fn threat_1_a_sign_in_that_comes_back_reaches_a_local_server_that_answers() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.source("login", json!({ "answer": { "respond": "app" } })).await;
    app.target(None, &server.url(), json!({})).await;
    let host = format!("127.0.0.1:{}", app.capture().port());
    let lines = [&[("Host", host.as_str())][..], &NAVIGATION].concat();
    server.will([Answer::Raw(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nsigned in".to_vec())]);
    let reply = send(app.capture(), "GET /login/callback?code=1&state=2", &lines).await;
    assert_eq!((reply.status, &reply.body[..]), (200, &b"signed in"[..]));
    let event = app.event("last").await;
    assert_eq!((&event["browser"], &event["withheld"]), (&json!(true), &Value::Null), "{event}");
    assert_eq!(server.wait_for(1).await[0].line(), "GET /callback?code=1&state=2 HTTP/1.1");

    // The same request again is no duplicate, because an event from a browser owns no dedupe key.
    send(app.capture(), "GET /login/callback?code=1&state=2", &lines).await;
    assert_eq!(app.event("last").await["duplicate_of"], Value::Null);
    server.wait_for(2).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_1_nothing_else_that_a_page_sends_reaches_a_local_server_that_answers() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.source("login", json!({ "answer": { "respond": "app" } })).await;
    app.source("plain", json!({})).await;
    app.target(None, &server.url(), json!({})).await;
    let with = |name, value| {
        let kept = NAVIGATION.iter().filter(|(other, _)| *other != name).copied();
        kept.chain([("Host", "localhost"), (name, value)]).collect::<Vec<_>>()
    };
    let odd = [
        with("Sec-Fetch-Dest", "iframe"),
        with("Sec-Fetch-Dest", "image"),
        with("Sec-Fetch-Mode", "cors"),
        with("Sec-Fetch-Mode", "no-cors"),
        with("Sec-Purpose", "prefetch"),
        with("Sec-Purpose", "prefetch;prerender"),
        with("Purpose", "prefetch"),
        with("Origin", "null"),
        with("Origin", "http://evil.example"),
    ];
    for lines in odd {
        send(app.capture(), "GET /login/callback", &lines).await;
        assert_eq!(withheld(&app).await["withheld"]["reason"], "web_page", "{lines:?}");
    }
    let usual = with("X-A", "1");
    for line in ["HEAD /login/callback", "GET /plain/callback"] {
        send(app.capture(), line, &usual).await;
        assert_eq!(withheld(&app).await["withheld"]["reason"], "web_page", "{line}");
    }
    let elsewhere = [&NAVIGATION[..], &[("Host", "evil.example")]].concat();
    send(app.capture(), "GET /login/callback", &elsewhere).await;
    assert_eq!(withheld(&app).await["withheld"]["reason"], "foreign_host");
    let kind = ("Content-Type", "application/x-www-form-urlencoded");
    let form = [&with("Origin", "https://idp.example")[..], &[kind, ("Content-Length", "0")]].concat();
    send(app.capture(), "POST /login/callback", &form).await;
    let event = withheld(&app).await;
    assert_eq!(event["withheld"]["reason"], "form_post");
    assert!(event["withheld"]["message"].as_str().unwrap().contains("form_post"), "{event}");
    let said = event["deliveries"][0]["last_error"].as_str().unwrap();
    assert!(said.contains("only GET callbacks are forwarded"), "{said}");
    assert!(server.seen().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_1_a_get_that_sets_a_source_up_is_answered_under_any_name_and_not_forwarded() {
    let (app, server) = (App::start().await, LocalServer::start().await);
    app.source("files", json!({ "provider": "dropbox" })).await;
    app.target(None, &server.url(), json!({})).await;
    let reply = get(&app, "/files?challenge=abc", "abc.tunnel.example").await;
    assert_eq!((reply.status, &reply.body[..]), (200, &b"abc"[..]));
    assert_eq!(
        (reply.header("x-content-type-options"), reply.header("content-type")),
        (Some("nosniff"), Some("text/plain"))
    );
    assert_eq!(withheld(&app).await["withheld"]["host"], "abc.tunnel.example");
    assert!(server.seen().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_1_the_explanation_says_who_vouches_for_the_host_of_a_signed_url() {
    let app = App::start().await;
    app.secret("tw", "main", "a-twilio-token").await;
    app.ask("PATCH", "/api/sources/tw", json!({ "provider": "twilio" })).await;
    let called = async || {
        let lines = [
            ("Host", "h.example"),
            ("X-Twilio-Signature", "AAAAAAAAAAAAAAAAAAAAAAAAAAA="),
            ("Content-Length", "0"),
        ];
        send(app.capture(), "POST /tw/a?b=1", &lines).await;
        app.ask("GET", "/api/events/last/explanation", Value::Null).await["called"].clone()
    };
    let by_host = called().await;
    assert_eq!(by_host["url"], "http://h.example/tw/a?b=1");
    assert!(by_host["note"].as_str().unwrap().contains("nobody vouches for it"), "{by_host}");
    app.ask("PATCH", "/api/sources/tw", json!({ "public_url": "https://hooks.example.com/tw" })).await;
    let by_setting = called().await;
    assert_eq!(by_setting["url"], "https://hooks.example.com/tw/a?b=1");
    assert_eq!(by_setting["note"], "The host comes from the source's public URL.");
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_1_a_name_that_is_allowed_lets_nothing_past_reject() {
    let app = App::start().await;
    app.source("demo", json!({ "on_invalid": "reject" })).await;
    app.secret("demo", "main", "hush").await;
    assert_eq!(get(&app, "/demo/forged", "abc.tunnel.example").await.status, 401);
    let server = LocalServer::start().await;
    app.target(Some("demo"), &server.url(), json!({})).await;
    let run = async |arguments: &[&str]| hookmitt(app.folder.path()).args(arguments).output().await.unwrap();
    run(&["source", "edit", "demo", "--allow-host", "abc.tunnel.example"]).await;
    let sent = run(&["retry", "--withheld-host", "abc.tunnel.example", "--source", "demo"]).await;
    assert_eq!((sent.status.code(), sent.stdout.as_slice()), (Some(0), &b""[..]));
    assert_eq!(app.event("last").await["deliveries"], json!([]));
    assert!(server.seen().is_empty());
}
