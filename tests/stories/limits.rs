//! How much a sender may use, and the answer if it uses more (Threat 7).

use hookmitt_stories::{App, Connection, exchange, parse_reply, post};
use serde_json::json;

const MOST: usize = 25 * 1024 * 1024;

#[tokio::test(flavor = "multi_thread")]
async fn threat_7_a_body_of_25_mib_is_kept_and_one_byte_more_is_refused_and_logged() {
    let app = App::start().await;
    let body = vec![b'x'; MOST + 1];
    let kept = post(app.capture(), "/demo", &[], &body[..MOST]).await;
    assert_eq!((kept.status, app.event("last").await["size"].clone()), (202, json!(MOST)));
    assert_eq!(app.body("last").await, &body[..MOST]);
    let chunk = |body: &[u8]| [format!("{:x}\r\n", body.len()).as_bytes(), body, b"\r\n"].concat();
    let head = b"POST /demo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n";
    let chunked =
        |body: &[u8]| [&head[..], &chunk(&body[..7_000]), &chunk(&body[7_000..]), b"0\r\n\r\n"].concat();
    assert_eq!(parse_reply(&exchange(app.capture(), &chunked(&body[..MOST])).await).status, 202);
    for refused in [
        post(app.capture(), "/demo", &[], &body).await,
        parse_reply(&exchange(app.capture(), &chunked(&body)).await),
    ] {
        assert_eq!((refused.status, &refused.json()["code"]), (413, &json!("body-too-large")));
        assert!(refused.json()["hint"].is_string());
        let logged = app.refused().await[0].clone();
        assert_eq!((&logged["status"], &logged["target"]), (&json!(413), &json!("/demo")));
    }
    assert_eq!((app.events().await.len(), app.refused().await.len()), (2, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_7_who_asks_first_is_told_413_before_it_sends_too_much() {
    let app = App::start().await;
    for length in [MOST + 1, usize::MAX / 4] {
        let mut connection = Connection::open(app.capture()).await;
        let head = format!(
            "POST /demo HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: {length}\r\n\r\n"
        );
        assert!(connection.send(head.as_bytes()).await);
        let reply = connection.reply().await;
        assert_eq!((reply.status, reply.header("connection")), (413, Some("close")));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_7_too_many_or_too_large_header_lines_are_431() {
    let app = App::start().await;
    let lines = |count: usize| "A: b\r\n".repeat(count);
    // Three of the lines are the request's own.
    for (more, status) in [(253, 202), (254, 431), (5_000, 431)] {
        let sent = format!(
            "POST /demo HTTP/1.1\r\nHost: h\r\nConnection: close\r\n{}Content-Length: 1\r\n\r\nx",
            lines(more)
        );
        let reply = parse_reply(&exchange(app.capture(), sent.as_bytes()).await);
        assert_eq!(reply.status, status, "{more} lines more");
    }
    for (size, status) in [(60_000, 202), (65_536, 431), (1_000_000, 431)] {
        let reply = post(app.capture(), "/demo", &[("X-Large", &"v".repeat(size))], b"x").await;
        assert_eq!(reply.status, status, "{size} bytes");
        if status == 431 {
            assert!(reply.json()["hint"].as_str().unwrap().contains("256 header lines"));
        }
    }
    let target = format!("/demo?{}", "q".repeat(65_536));
    assert_eq!(post(app.capture(), &target, &[], b"x").await.status, 431);
    let refused = app.refused().await;
    assert_eq!(refused.len(), 5);
    assert!(refused.iter().all(|refused| refused["code"] == "bad-request-head" && refused["status"] == 431));
    assert_eq!(app.events().await.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_7_many_lines_about_the_connection_are_lines_like_others() {
    let app = App::start().await;
    let lines = "Connection: x\r\n".repeat(200);
    let sent = format!("POST /demo HTTP/1.1\r\nHost: h\r\n{lines}Content-Length: 1\r\n\r\nx");
    let reply = parse_reply(&exchange(app.capture(), sent.as_bytes()).await);
    assert_eq!(reply.status, 202);
    assert_eq!(app.event("last").await["headers"].as_array().unwrap().len(), 202);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_truncated_body_is_answered_400_and_nothing_is_stored() {
    let app = App::start().await;
    for sent in [
        "POST /demo HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nhello",
        "POST /demo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        "POST /demo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n",
    ] {
        let reply = parse_reply(&exchange(app.capture(), sent.as_bytes()).await);
        assert_eq!((reply.status, &reply.json()["code"]), (400, &json!("body-truncated")), "{sent:?}");
        assert!(reply.json()["detail"].as_str().unwrap().contains("after 5"), "{reply:?}");
        assert!(reply.json()["hint"].as_str().unwrap().contains("nothing was stored"));
    }
    // Half a head is not a request of any sender.
    assert_eq!(exchange(app.capture(), b"POST /demo HTTP/1.1\r\nHost").await, b"");
    assert!(app.events().await.is_empty());
    assert_eq!(app.refused().await.len(), 3);
}
