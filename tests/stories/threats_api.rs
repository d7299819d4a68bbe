//! Who may call the management API (Threat 1).

use hookmitt_stories::{App, Reply, exchange, parse_reply, post};
use serde_json::{Value, json};

/// Calls the API with this Host, this token and further lines.
async fn call(app: &App, host: &str, token: &str, more: &[(&str, &str)]) -> Reply {
    let mut headers = vec![("Host", host), ("Authorization", token)];
    headers.extend_from_slice(more);
    let reply = app.api_raw("GET", "/api/events", &headers, b"").await;
    assert!(
        reply.headers.iter().all(|(name, _)| !name.starts_with("access-control") && name != "set-cookie")
    );
    if reply.status != 200 {
        assert_eq!(reply.header("content-type"), Some("application/problem+json"));
        assert!(reply.json()["hint"].is_string());
    }
    reply
}

fn refused(reply: &Reply) -> (u16, String) {
    (reply.status, reply.json()["code"].as_str().unwrap_or_default().to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_1_the_api_answers_to_its_own_host_alone() {
    let app = App::start().await;
    let (token, port) = (format!("Bearer {}", app.token()), app.api().port());
    for name in ["127.0.0.1", "localhost", "[::1]"] {
        assert_eq!(call(&app, &format!("{name}:{port}"), &token, &[]).await.status, 200, "{name}");
    }
    let foreign = [
        "evil.example".to_owned(),
        "127.0.0.1".to_owned(),
        "localhost".to_owned(),
        String::new(),
        format!("evil.example:{port}"),
        format!("localhost.evil.example:{port}"),
        format!("127.0.0.1:{port}.evil.example"),
        format!("127.0.0.2:{port}"),
        format!("x@127.0.0.1:{port}"),
        format!("127.0.0.1:{}", app.capture().port()),
        format!("127.0.0.1:{port}, evil.example"),
    ];
    for host in foreign {
        assert_eq!(
            refused(&call(&app, &host, &token, &[]).await),
            (403, "foreign-host".to_owned()),
            "{host}"
        );
    }
    let own = app.api().to_string();
    let two = call(&app, &own, &token, &[("Host", "evil.example")]).await;
    assert!(matches!(two.status, 400 | 403), "{two:?}");
    let none = app.api_raw("GET", "/api/events", &[("Authorization", &token)], b"").await;
    assert!(matches!(none.status, 400 | 403), "{none:?}");
    let rebound = app.api_raw("GET", "/healthz", &[("Host", &format!("evil.example:{port}"))], b"").await;
    assert_eq!(rebound.status, 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_1_the_api_answers_to_no_page_of_another_origin() {
    let app = App::start().await;
    let (token, host) = (format!("Bearer {}", app.token()), app.api().to_string());
    for own in [format!("http://{host}"), format!("http://localhost:{}", app.api().port())] {
        assert_eq!(call(&app, &host, &token, &[("Origin", &own)]).await.status, 200, "{own}");
    }
    let foreign = [
        "https://evil.example".to_owned(),
        "null".to_owned(),
        String::new(),
        format!("https://{host}"),
        format!("http://{}", app.capture()),
        format!("http://{host}.evil.example"),
        format!("http://{host}/"),
        "http://127.0.0.1".to_owned(),
    ];
    for origin in foreign {
        let reply = call(&app, &host, &token, &[("Origin", &origin)]).await;
        assert_eq!(refused(&reply), (403, "foreign-origin".to_owned()), "{origin}");
    }
    let preflight = [
        ("Host", host.as_str()),
        ("Origin", "https://evil.example"),
        ("Access-Control-Request-Method", "GET"),
    ];
    let reply = app.api_raw("OPTIONS", "/api/events", &preflight, b"").await;
    assert_eq!(reply.status, 403);
    assert!(reply.headers.iter().all(|(name, _)| !name.starts_with("access-control")));
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_1_the_api_takes_a_bearer_token_and_nothing_else() {
    let app = App::start().await;
    let (token, host) = (app.token(), app.api().to_string());
    for good in [format!("Bearer {token}"), format!("bearer {token}")] {
        assert_eq!(call(&app, &host, &good, &[]).await.status, 200);
    }
    let wrong = [
        String::new(),
        "Bearer".to_owned(),
        "Bearer ".to_owned(),
        "Bearer wrong".to_owned(),
        token.clone(),
        format!("Bearer {}", &token[1..]),
        format!("Bearer {token}0"),
        format!("Basic {token}"),
        format!("Token {token}"),
    ];
    for line in wrong {
        assert_eq!(refused(&call(&app, &host, &line, &[]).await), (401, "bad-token".to_owned()), "{line}");
    }
    let cookie = format!("token={token}; session={token}; hookmitt={token}");
    let lines = [("Host", host.as_str()), ("Cookie", &cookie), ("X-Token", &token)];
    assert_eq!(app.api_raw("GET", "/api/events", &lines, b"").await.status, 401);
    for target in [format!("/api/events?token={token}"), format!("/api/events?access_token={token}")] {
        assert_eq!(app.api_raw("GET", &target, &lines, b"").await.status, 401);
    }
    for (method, target) in [
        ("POST", "/api/sources"),
        ("DELETE", "/api/events/last"),
        ("GET", "/api/openapi.json"),
        ("GET", "/nowhere"),
    ] {
        assert_eq!(app.api_raw(method, target, &lines[..1], b"{}").await.status, 401, "{method} {target}");
    }
    let health = app.api_raw("GET", "/healthz", &lines[..1], b"").await;
    assert_eq!((health.status, &health.json()["ok"]), (200, &Value::Bool(true)), "needs no token");
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_1_a_code_is_swapped_for_a_session_once() {
    let app = App::start().await;
    let url = app.open_url();
    let (base, code) = url.split_once("/#code=").expect("a code in the fragment");
    assert_eq!(base, format!("http://{}", app.api()));
    assert!(code.len() >= 32 && code != app.token());
    let host = app.api().to_string();
    let swap = async |code: &str, origin: &str| {
        let headers = [("Host", host.as_str()), ("Origin", origin)];
        app.api_raw("POST", "/api/session", &headers, json!({ "code": code }).to_string().as_bytes()).await
    };
    assert_eq!(swap(code, "https://evil.example").await.status, 403);
    assert_eq!(swap("0000", base).await.status, 401);
    let reply = swap(code, base).await;
    assert_eq!((reply.status, reply.header("set-cookie")), (200, None));
    let session = reply.json()["token"].as_str().expect("a token").to_owned();
    assert_ne!(session, app.token());
    assert_eq!(call(&app, &host, &format!("Bearer {session}"), &[("Origin", base)]).await.status, 200);
    assert_eq!(refused(&swap(code, base).await), (401, "bad-code".to_owned()));
    assert_eq!(call(&app, &host, &format!("Bearer {code}"), &[]).await.status, 401, "a code is no token");
    let folder = app.stop().await;
    let app = App::start_on(folder).await;
    let host = app.api().to_string();
    let status = call(&app, &host, &format!("Bearer {session}"), &[]).await.status;
    assert_eq!(status, 200, "an open page goes on after a restart");

    let folder = app.stop().await;
    std::fs::remove_file(folder.path().join("token")).expect("the token is kept in a file");
    let app = App::start_on(folder).await;
    let host = app.api().to_string();
    let status = call(&app, &host, &format!("Bearer {session}"), &[]).await.status;
    assert_eq!(status, 401, "with a new token every session has ended");
    assert_eq!(call(&app, &host, &format!("Bearer {}", app.token()), &[]).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_1_the_capture_port_serves_no_api() {
    let app = App::start().await;
    let token = format!("Bearer {}", app.token());
    for target in ["/api/events", "/api/openapi.json", "/api/session", "/healthz", "/api/stats"] {
        for method in ["GET", "POST", "DELETE"] {
            let bytes = hookmitt_stories::request(method, target, &[("Authorization", &token)], b"");
            let reply = parse_reply(&exchange(app.capture(), &bytes).await);
            assert_eq!((reply.status, &reply.json()["received"]), (202, &json!(true)), "{method} {target}");
        }
    }
    assert_eq!(app.events().await.len(), 15, "they are events like any other");
    assert_eq!(post(app.api(), "/demo", &[], b"{}").await.status, 403, "and the API's port captures nothing");
    assert_eq!(app.api_call("POST", "/demo", b"{}").await.status, 404);
    assert_eq!(app.events().await.len(), 15);
}
