//! A server that answers one connection by hand, and the envelope that the tests send.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    thread::JoinHandle,
    time::Duration,
};

use bytes::Bytes;
use hookmitt_event::{DeliveryId, EventId, HeaderLines, HttpVersion, Request, Verdict};
use hookmitt_forward::{Envelope, Outcome, TargetUrl, send, tls};

/// Returns a request with these header lines, each ended by CRLF.
pub(crate) fn request(method: &str, path: &str, lines: &'static [u8], body: impl Into<Bytes>) -> Request {
    let (path, query) = match path.split_once('?') {
        Some((path, query)) => (path, Some(query.to_owned())),
        None => (path, None),
    };
    Request {
        method: method.to_owned(),
        path: path.to_owned(),
        query,
        version: HttpVersion::Http11,
        headers: HeaderLines::from_wire(Bytes::from_static(lines)).expect("the lines are well formed"),
        body: body.into(),
    }
}

/// Returns the envelope of a first attempt, without our own lines.
pub(crate) fn bare(request: &Request) -> Envelope<'_> {
    let event_id = EventId::from_bytes([7; 16]);
    Envelope {
        request,
        event_id,
        delivery_id: DeliveryId { event: event_id, number: 2 },
        attempt: 3,
        verdict: Verdict::Valid,
        replay: false,
        preserve_host: false,
        hookmitt_headers: false,
    }
}

/// Starts a server for one connection: `serve` gets the accepted stream.
pub(crate) fn server<T: Send + 'static>(
    serve: impl FnOnce(TcpStream) -> T + Send + 'static,
) -> (SocketAddr, JoinHandle<T>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    let address = listener.local_addr().expect("a bound socket has an address");
    (address, std::thread::spawn(move || serve(listener.accept().expect("a connection comes").0)))
}

/// Reads a head and then `body` bytes.
pub(crate) fn read_request(stream: &mut TcpStream, body: usize) -> Vec<u8> {
    let mut got = Vec::new();
    let mut byte = [0];
    while !got.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).expect("the head comes whole");
        got.push(byte[0]);
    }
    let start = got.len();
    got.resize(start + body, 0);
    stream.read_exact(&mut got[start..]).expect("the body comes whole");
    got
}

/// Sends `envelope` to a path beneath the server's address.
pub(crate) async fn send_to(address: SocketAddr, path: &str, envelope: &Envelope<'_>) -> Outcome {
    let target = TargetUrl::parse(&format!("http://{address}{path}")).expect("an address is a target");
    send(&target, envelope, Duration::from_secs(60), &tls()).await
}

/// Returns the outcome of a plain POST that the server answers with these bytes before it closes the connection.
pub(crate) async fn answered_with(answer: impl Into<Vec<u8>>) -> Outcome {
    let answer = answer.into();
    let (address, served) = server(move |mut stream| {
        read_request(&mut stream, 2);
        stream.write_all(&answer)
    });
    let request = request("POST", "/", b"", "{}");
    let outcome = send_to(address, "", &bare(&request)).await;
    let _ = served.join().expect("the server does not panic"); // it may find that we closed first
    outcome
}
