//! Every way in which an attempt can fail.

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
    time::Duration,
};

use hookmitt_event::NoConnection;
use hookmitt_forward::{Outcome, TargetUrl, answers, send, tls};

use crate::server::{answered_with, bare, read_request, request, send_to, server};

/// A time limit that will be reached, but long enough to send the request first even on a slow machine.
const SHORT: Duration = Duration::from_secs(2);

/// A time limit that will not be reached.
const LONG: Duration = Duration::from_secs(60);

async fn sent_to(url: &str, timeout: Duration) -> Outcome {
    let stored = request("POST", "/", b"", "{}");
    send(&TargetUrl::parse(url).expect("a target"), &bare(&stored), timeout, &tls()).await
}

fn broken(outcome: Outcome) -> (String, Option<u16>, Vec<u8>) {
    match outcome {
        Outcome::Broken { error, response, body, .. } => {
            (error, response.map(|head| head.status), body.to_vec())
        }
        other => panic!("not broken: {other:?}"),
    }
}

fn unreachable(outcome: &Outcome) -> (NoConnection, &str) {
    match outcome {
        Outcome::Unreachable(silence) => (silence.why, &silence.error),
        other => panic!("not unreachable: {other:?}"),
    }
}

/// Returns a port on which nobody listens: it was bound and released.
fn closed_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    listener.local_addr().expect("a bound socket has an address").port()
}

#[tokio::test]
async fn a_closed_port_means_that_the_target_is_down() {
    let port = closed_port();
    for host in ["127.0.0.1", "localhost"] {
        let url = format!("http://{host}:{port}/");
        let outcome = sent_to(&url, LONG).await;
        let words = format!("connection refused by {host}:{port}");
        assert_eq!(unreachable(&outcome), (NoConnection::ConnectionRefused, words.as_str()));
        assert!(!answers(&TargetUrl::parse(&url).unwrap()).await);
    }
}

#[tokio::test]
async fn a_name_that_does_not_resolve_means_that_the_target_is_down() {
    let outcome = sent_to("http://nobody.invalid/", LONG).await;
    let (why, error) = unreachable(&outcome);
    assert!(why == NoConnection::UnknownName && error.contains("nobody.invalid"), "{outcome:?}");
    assert!(!answers(&TargetUrl::parse("http://nobody.invalid/").unwrap()).await);
}

#[tokio::test]
async fn localhost_is_found_on_either_address() {
    for address in ["127.0.0.1:0", "[::1]:0"] {
        let listener = match TcpListener::bind(address) {
            Ok(listener) => listener,
            // A machine without IPv6 has one address less, also as `localhost`.
            Err(error) => {
                assert!(address.starts_with('['), "{error}");
                continue;
            }
        };
        let port = listener.local_addr().unwrap().port();
        let target = TargetUrl::parse(&format!("http://localhost:{port}/")).unwrap();
        assert!(answers(&target).await, "{address}");
    }
}

/// A port whose queue is full, so that the system drops what comes, and the connections that fill it.
#[cfg(unix)]
async fn swallowing() -> (tokio::net::TcpListener, Vec<tokio::net::TcpStream>) {
    use tokio::net::{TcpSocket, TcpStream};
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind(([127, 0, 0, 1], 0).into()).expect("loopback has a free port");
    let listener = socket.listen(1).expect("a bound socket can listen");
    let address = listener.local_addr().expect("a bound socket has an address");
    let mut filling = Vec::new();
    while let Ok(next) = tokio::time::timeout(Duration::from_millis(500), TcpStream::connect(address)).await {
        filling.push(next.expect("a connection"));
    }
    (listener, filling)
}

#[cfg(unix)]
#[tokio::test]
async fn an_address_that_swallows_may_have_somebody_there() {
    let (listener, _filling) = swallowing().await;
    let address = listener.local_addr().unwrap();
    let outcome = sent_to(&format!("http://{address}/"), Duration::from_millis(300)).await;
    assert!(matches!(outcome, Outcome::Broken { sent: false, .. }), "{outcome:?}");
    let words = format!("no answer from {address} in time");
    assert_eq!(broken(outcome), (words, None, vec![]));
}

#[cfg(unix)]
#[tokio::test]
async fn a_server_on_the_other_address_of_localhost_is_found_though_the_first_swallows() {
    let (listener, _filling) = swallowing().await;
    let port = listener.local_addr().unwrap().port();
    let Ok(_there) = TcpListener::bind(("::1", port)) else { return }; // a machine without IPv6
    assert!(
        answers(&TargetUrl::parse(&format!("http://localhost:{port}/")).unwrap()).await,
        "within a second"
    );
}

#[tokio::test]
async fn a_silent_server_is_given_up_in_time() {
    let (address, served) = server(|mut stream| stream.read_to_end(&mut Vec::new()).map(drop));
    let outcome = sent_to(&format!("http://{address}"), SHORT).await;
    let Outcome::Broken { duration, sent: true, .. } = &outcome else { panic!("{outcome:?}") };
    assert!((SHORT..LONG).contains(duration), "{duration:?}");
    assert_eq!(broken(outcome), ("no answer within the time limit".to_owned(), None, vec![]));
    let _ = served.join().unwrap();
}

#[tokio::test]
async fn an_answer_that_never_ends_is_kept_as_far_as_it_came() {
    let (address, served) = server(|mut stream| {
        read_request(&mut stream, 2);
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf").unwrap();
        stream.read_to_end(&mut Vec::new()).map(drop)
    });
    let outcome = sent_to(&format!("http://{address}"), SHORT).await;
    let error = "the answer wasn't complete within the time limit".to_owned();
    assert_eq!(broken(outcome), (error, Some(200), b"half".to_vec()));
    let _ = served.join().unwrap();
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_no_whole_answer() {
    let (error, status, body) =
        broken(answered_with("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf").await);
    assert!(error.contains("closed before the answer was complete"), "{error}");
    assert_eq!((status, &body[..]), (Some(200), &b"half"[..]));
    for nothing in ["", "HTTP/1.1 200 OK\r\nA: 1\r\n"] {
        let (error, status, _) = broken(answered_with(nothing).await);
        assert!(error.contains("closed before the answer was complete"), "{error}");
        assert_eq!(status, None);
    }
}

#[tokio::test]
async fn garbage_is_not_taken_for_an_answer() {
    for garbage in ["SSH-2.0-OpenSSH_9\r\n", "HTTP/1.1 abc\r\n\r\n", "\u{16}\u{3}\u{1}\u{0}\u{1}\r\n\r\n"] {
        let (error, status, _) = broken(answered_with(garbage).await);
        assert!(error.contains("not HTTP/1.1"), "{error}");
        assert_eq!(status, None);
    }
}

#[tokio::test]
async fn the_head_of_an_answer_is_bounded() {
    let large = format!("HTTP/1.1 200 OK\r\nA: {}\r\n\r\n", "x".repeat(1 << 20));
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "A: 1\r\n".repeat(300));
    for head in [large, many] {
        let (error, _, _) = broken(answered_with(head).await);
        assert!(error.contains("head of the answer is larger"), "{error}");
    }
}

#[tokio::test]
async fn a_reset_is_a_real_attempt() {
    let mut stored = request("POST", "/", b"", "");
    stored.body = vec![b'x'; 20 * 1024 * 1024].into();
    let (address, served) = server(drop); // closes with the request unread
    let (error, status, _) = broken(send_to(address, "", &bare(&stored)).await);
    assert!(error.contains("the connection"), "{error}");
    assert_eq!(status, None);
    served.join().unwrap();
}

#[tokio::test]
async fn what_could_not_stand_on_a_wire_is_not_sent() {
    for (method, path) in [("GET", "/a b"), ("GET", "/\r\nX: y"), ("G T", "/"), ("", "/")] {
        let stored = request(method, path, b"", "");
        let target = TargetUrl::parse("http://127.0.0.1:1").unwrap();
        broken(send(&target, &bare(&stored), Duration::from_secs(1), &tls()).await);
    }
}
