//! Every way in which an answer can arrive.

use std::io::{Read as _, Write as _};

use bytes::Bytes;
use hookmitt_event::ResponseHead;
use hookmitt_forward::{KEPT_BODY, Next, Outcome, TargetUrl, next_step, send, tls};

use crate::server::{answered_with, bare, read_request, request, send_to, server};

fn whole(outcome: Outcome) -> (ResponseHead, Bytes, bool) {
    match outcome {
        Outcome::Answered { response, body, truncated, .. } => (response, body, truncated),
        other => panic!("not a whole answer: {other:?}"),
    }
}

#[tokio::test]
async fn the_lines_of_an_answer_are_kept_as_they_came() {
    let answer = "HTTP/1.1 202 Fine\r\nX-ODD:  1\r\nx-odd: 2\r\nContent-length:2\r\nSet-Cookie: a\r\nx-odd: 3\r\n\r\nok";
    let (response, body, truncated) = whole(answered_with(answer).await);
    assert_eq!((response.status, &body[..], truncated), (202, &b"ok"[..], false));
    let want = &b"X-ODD:  1\r\nx-odd: 2\r\nContent-length:2\r\nSet-Cookie: a\r\nx-odd: 3\r\n"[..];
    assert_eq!(&response.headers.as_wire()[..], want);
}

#[tokio::test]
async fn interim_answers_are_passed_over() {
    let answer = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n\
                  HTTP/1.1 200 OK\r\nA: 1\r\nContent-Length: 1\r\n\r\nx";
    let (response, body, _) = whole(answered_with(answer).await);
    assert_eq!((response.status, &body[..]), (200, &b"x"[..]));
    assert_eq!(response.headers.get("a"), Some(&b"1"[..]));
    assert!(!response.headers.has("link"));
}

#[tokio::test]
async fn a_chunked_answer_is_put_together() {
    let answer =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nT: 1\r\n\r\n";
    assert_eq!(whole(answered_with(answer).await).1, "abcde");
}

#[tokio::test]
async fn an_answer_may_end_with_its_connection() {
    assert_eq!(whole(answered_with("HTTP/1.1 200 OK\r\n\r\nuntil the end").await).1, "until the end");
    assert_eq!(whole(answered_with("HTTP/1.0 200 OK\r\n\r\nold").await).1, "old");
}

#[tokio::test]
async fn an_answer_without_a_body_ends_at_its_head() {
    // The server keeps the connection open until the client closes it.
    for (method, head) in [
        ("HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n"),
        ("POST", "HTTP/1.1 204 No Content\r\n\r\n"),
        ("CONNECT", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
        ("POST", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n"),
    ] {
        let (address, served) = server(move |mut stream| {
            read_request(&mut stream, 0);
            stream.write_all(head.as_bytes()).unwrap();
            stream.read_to_end(&mut Vec::new()).unwrap()
        });
        let stored = request(method, "/", b"", "");
        let (_, body, _) = whole(send_to(address, "", &bare(&stored)).await);
        assert_eq!(body, "", "{method}");
        assert_eq!(served.join().unwrap(), 0);
    }
}

#[tokio::test]
async fn a_huge_answer_is_cut_at_a_mebibyte() {
    for size in [KEPT_BODY, KEPT_BODY + 1, 40 * KEPT_BODY] {
        let mut answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n").into_bytes();
        answer.resize(answer.len() + size, b'x');
        let (_, body, truncated) = whole(answered_with(answer).await);
        assert_eq!((body.len(), truncated), (KEPT_BODY, size > KEPT_BODY));
    }
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_not_followed() {
    let answer = "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n";
    let outcome = answered_with(answer).await;
    assert_eq!(next_step(&outcome, hookmitt_event::Timestamp::from_seconds(0)), Next::Final);
    assert_eq!(whole(outcome).0.status, 302);
}

#[tokio::test]
async fn a_server_that_refuses_a_large_body_early_is_heard() {
    let mut stored = request("POST", "/", b"", "");
    stored.body = vec![b'x'; 20 * 1024 * 1024].into();
    for _ in 0..10 {
        let (address, served) = server(|mut stream| {
            read_request(&mut stream, 0);
            stream.write_all(b"HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nbig")
        }); // closes with most of the body unread: a reset
        let (response, body, _) = whole(send_to(address, "", &bare(&stored)).await);
        assert_eq!((response.status, &body[..]), (413, &b"big"[..]));
        served.join().unwrap().unwrap();
    }
}

#[tokio::test]
async fn an_early_answer_is_taken_though_the_server_stops_reading() {
    let mut stored = request("POST", "/", b"", "");
    stored.body = vec![b'x'; 20 * 1024 * 1024].into();
    let (heard, wait) = std::sync::mpsc::channel::<()>();
    let (address, served) = server(move |mut stream| {
        read_request(&mut stream, 0);
        stream.write_all(b"HTTP/1.1 401 No\r\nContent-Length: 2\r\n\r\nno").unwrap();
        wait.recv().unwrap(); // neither reads nor closes until the answer was heard
    });
    assert_eq!(whole(send_to(address, "", &bare(&stored)).await).0.status, 401);
    heard.send(()).unwrap();
    served.join().unwrap();
}

#[tokio::test]
async fn an_answer_that_came_while_nothing_ran_here_is_read_though_the_time_is_over() {
    let (address, served) = server(|mut stream| {
        read_request(&mut stream, 0);
        std::thread::sleep(std::time::Duration::from_millis(300)); // meanwhile the sender is suspended
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine").unwrap();
        let _end = stream.read_to_end(&mut Vec::new()); // keeps the connection open
    });
    // This test's only thread is stopped from when the request is out until long after the time limit.
    let suspended = async {
        tokio::time::sleep(std::time::Duration::from_millis(150)).await;
        std::thread::sleep(std::time::Duration::from_millis(2_500));
    };
    let target = TargetUrl::parse(&format!("http://{address}/")).unwrap();
    let (request, tls) = (request("POST", "/", b"", ""), tls());
    let envelope = bare(&request);
    let sent = send(&target, &envelope, std::time::Duration::from_millis(600), &tls);
    let (outcome, ()) = tokio::join!(sent, suspended);
    assert_eq!(whole(outcome).1, "fine");
    served.join().unwrap();
}
