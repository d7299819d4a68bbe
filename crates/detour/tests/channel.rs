//! A smee channel, played by a server that sends what smee.io sends.
#![expect(clippy::unwrap_used, reason = "a test may fail at once")]

use std::{sync::Mutex, time::Duration};

use hookmitt_detour::{Channel, DetourError, Listener, MessageError, Progress, SmeeMessage};
use hookmitt_event::NoConnection;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::mpsc,
};
use tokio_util::sync::CancellationToken;

const HEAD: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\nconnection: close\r\n\r\n";

/// A listener that describes in words what it heard.
struct Ear(mpsc::UnboundedSender<String>, Mutex<Vec<SmeeMessage>>);

impl Listener for Ear {
    async fn message(&self, message: SmeeMessage) {
        let words = format!("message {}", String::from_utf8_lossy(&message.request.body));
        self.1.lock().unwrap().push(message);
        self.0.send(words).unwrap();
    }

    fn progress(&self, progress: Progress) {
        let words = match progress {
            Progress::Connected => "connected".to_owned(),
            Progress::Offline { why, .. } => format!("offline: {why}"),
        };
        self.0.send(words).unwrap();
    }

    fn heard(&self) {}

    fn unreadable(&self, error: &MessageError) {
        self.0.send(format!("unreadable: {error}")).unwrap();
    }
}

/// Keeps why a channel could not be opened, and stops there.
struct First(Mutex<Option<DetourError>>, CancellationToken);

impl Listener for First {
    async fn message(&self, _: SmeeMessage) {}

    fn progress(&self, progress: Progress) {
        if let Progress::Offline { why, .. } = progress {
            self.0.lock().unwrap().get_or_insert(why);
        }
        self.1.cancel();
    }

    fn heard(&self) {}

    fn unreadable(&self, _: &MessageError) {}
}

/// Returns why a channel can't be opened.
async fn why(url: String) -> NoConnection {
    let stop = CancellationToken::new();
    let ear = First(Mutex::default(), stop.clone());
    Channel::new(&url).unwrap().listen(&ear, |_| Duration::from_millis(1), &stop).await;
    match ear.0.into_inner().unwrap() {
        Some(DetourError::Unreachable { why, .. }) => why,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn why_a_channel_is_not_reached_is_told_apart() {
    let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = server.local_addr().unwrap();
    let speaks_no_tls = async {
        let (mut stream, _) = server.accept().await.unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
        stream
    };
    let (untrusted, _stream) = tokio::join!(why(format!("https://{address}/channel")), speaks_no_tls);
    assert_eq!(untrusted, NoConnection::Untrusted);

    let hangs_up = async { drop(server.accept().await.unwrap()) };
    let (broken_off, ()) = tokio::join!(why(format!("http://{address}/channel")), hangs_up);
    assert_eq!(broken_off, NoConnection::BrokenOff);

    drop(server);
    assert_eq!(why(format!("http://{address}/channel")).await, NoConnection::ConnectionRefused);
    assert_eq!(why("https://nobody.invalid/channel".to_owned()).await, NoConnection::UnknownName);
}

/// Waits for a request and answers it.
async fn answer(server: &TcpListener, text: &str) -> TcpStream {
    let (mut stream, _) = server.accept().await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    let head = String::from_utf8(head).unwrap();
    assert!(
        head.starts_with("GET /channel HTTP/1.1") && head.contains("accept: text/event-stream"),
        "{head}"
    );
    stream.write_all(text.as_bytes()).await.unwrap();
    stream
}

#[tokio::test]
async fn a_channel_is_listened_to_again_and_again() {
    let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let channel = Channel::new(&format!("http://{}/channel", server.local_addr().unwrap())).unwrap();
    let (tell, mut heard) = mpsc::unbounded_channel();
    let (ear, stop) = (Ear(tell, Mutex::default()), CancellationToken::new());
    let story = async {
        let first = r#"{"x-github-event":"push","body":{"n":1},"query":{},"timestamp":1700000000000}"#;
        let text = format!(
            "{HEAD}event: ready\ndata: {{}}\n\nevent: ping\ndata: {{}}\n\nid: 7\ndata: {first}\n\ndata: nonsense\n\n"
        );
        let stream = answer(&server, &text).await;
        assert_eq!(heard.recv().await.unwrap(), "connected");
        assert_eq!(heard.recv().await.unwrap(), r#"message {"n":1}"#);
        assert_eq!(heard.recv().await.unwrap(), "unreadable: it isn't a JSON object");
        drop(stream);
        assert!(heard.recv().await.unwrap().starts_with("offline: can't listen to 127.0.0.1"));
        let refused = answer(&server, "HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n").await;
        assert_eq!(heard.recv().await.unwrap(), "offline: can't listen to 127.0.0.1: it answered 502");
        drop(refused);
        let page = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 0\r\n\r\n";
        let _page = answer(&server, page).await;
        assert!(heard.recv().await.unwrap().contains("its content type is \"text/html\""));
        let _open = answer(&server, &format!("{HEAD}data: {{\"body\":\"second\"}}\n\n")).await;
        assert_eq!(heard.recv().await.unwrap(), "connected");
        assert_eq!(heard.recv().await.unwrap(), "message second");
        stop.cancel();
    };
    tokio::join!(channel.listen(&ear, |_| Duration::from_millis(50), &stop), story);
    assert_eq!(ear.1.lock().unwrap()[0].request.headers.get_str("x-github-event"), Some("push"));
}

#[test]
fn only_a_channels_url_is_taken() {
    for url in
        ["smee.io/x", "https://smee.io/", "http://smee.io/x", "ftp://smee.io/x", "https://u:p@smee.io/x", ""]
    {
        assert!(matches!(Channel::new(url), Err(DetourError::BadUrl(_))), "{url}");
    }
    assert_eq!(Channel::new("https://smee.io/aBc").unwrap().host(), "smee.io");
}
