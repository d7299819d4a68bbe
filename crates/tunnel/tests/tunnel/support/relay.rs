//! A relay that does what the story says.

use bytes::Bytes;
use ed25519_dalek::{Signature, Verifier as _, VerifyingKey};
use futures_util::{SinkExt as _, StreamExt as _};
use hookmitt_event::Timestamp;
use hookmitt_seal::{KeyPair, Sealed, Sealer};
use hookmitt_tunnel::Credentials;
use hookmitt_wire::{
    AppFrame, Depth, Letter, PIECE, Parcel, RelayFrame, WORDS_HEADER, decode, encode, hello_text,
};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::{
    WebSocketStream, accept_hdr_async,
    tungstenite::{
        Message,
        handshake::server::{Request, Response},
    },
};

use super::within;

/// Where the relay listens.
pub(crate) struct Relay {
    pub(crate) listener: TcpListener,
}

impl Relay {
    pub(crate) async fn start() -> Self {
        Self { listener: TcpListener::bind(("127.0.0.1", 0)).await.expect("a port") }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.listener.local_addr().expect("an address"))
    }

    /// Accepts the next TCP connection.
    pub(crate) async fn tcp(&self) -> TcpStream {
        within("the app calls", self.listener.accept()).await.expect("a connection").0
    }

    /// Accepts the next app that connects, before its hello.
    pub(crate) async fn call(&self) -> Caller {
        self.call_knowing(1).await
    }

    /// Like `call`, as a relay that knows this version of the protocol.
    pub(crate) async fn call_knowing(&self, words: u16) -> Caller {
        let tcp = self.tcp().await;
        tcp.set_nodelay(true).expect("a socket");
        #[expect(clippy::result_large_err, reason = "the library's own type")]
        let tell = |_: &Request, mut answer: Response| {
            if words > 1 {
                answer.headers_mut().insert(WORDS_HEADER, words.into());
            }
            Ok(answer)
        };
        let socket = within("the upgrade", accept_hdr_async(tcp, tell)).await.expect("a WebSocket");
        Caller { socket, depth: Depth::default() }
    }

    /// Accepts the next app and lets it in, as a relay that knows this version of the protocol. Returns the app's hello
    /// as well.
    pub(crate) async fn lets_in_knowing(&self, words: u16) -> (Caller, AppFrame) {
        let mut caller = self.call_knowing(words).await;
        caller.hello().await;
        caller.welcome(Depth::default(), 0).await;
        let introduced = caller.hear().await;
        (caller, introduced)
    }

    /// Accepts the next app and lets it in.
    pub(crate) async fn lets_in(&self) -> Caller {
        self.lets_in_to(Depth::default(), 0).await
    }

    /// Accepts the next app and lets it in to a mailbox with this content.
    pub(crate) async fn lets_in_to(&self, depth: Depth, newest: u64) -> Caller {
        let mut caller = self.call().await;
        caller.hello().await;
        caller.depth = depth;
        caller.welcome(depth, newest).await;
        caller
    }
}

/// A tunnel as its two ends know it.
pub(crate) struct Tunnel {
    pub(crate) credentials: Credentials,
    pub(crate) sealer: Sealer,
}

impl Tunnel {
    pub(crate) fn at(relay: &Relay) -> Self {
        let mut credentials = Credentials::fresh(relay.url().parse().expect("a URL"));
        credentials.tunnel = "acme-dev".to_owned();
        let sealer = sealer(&credentials, "acme-dev");
        Self { credentials, sealer }
    }

    pub(crate) fn parcel(&self, letter: &Letter) -> Parcel {
        self.sealed(&letter.to_bytes())
    }

    pub(crate) fn sealed(&self, plain: &[u8]) -> Parcel {
        parcel(&self.sealer, plain)
    }

    /// Returns the first frame of a letter with this text.
    pub(crate) fn says(&self, position: u64, text: &'static str) -> RelayFrame {
        whole(position, self.parcel(&letter(text)))
    }

    /// Returns a letter that is sealed with the right key, but for a tunnel of another name.
    pub(crate) fn for_another(&self, text: &'static str) -> Parcel {
        parcel(&sealer(&self.credentials, "globex"), &letter(text).to_bytes())
    }
}

/// Returns one frame with a whole parcel.
pub(crate) fn whole(position: u64, parcel: Parcel) -> RelayFrame {
    let size = u32::try_from(parcel.data.len()).expect("a small letter");
    RelayFrame::Parcel { position, parcel, size }
}

/// Returns the frames of a parcel that is sent in pieces.
pub(crate) fn pieces(position: u64, mut parcel: Parcel) -> Vec<RelayFrame> {
    let size = u32::try_from(parcel.data.len()).expect("a letter");
    let mut rest = parcel.data.split_off(PIECE.min(parcel.data.len()));
    let mut frames = vec![RelayFrame::Parcel { position, parcel, size }];
    while !rest.is_empty() {
        let data = rest.split_to(PIECE.min(rest.len()));
        frames.push(RelayFrame::Piece { position, data });
    }
    frames
}

fn sealer(credentials: &Credentials, tunnel: &str) -> Sealer {
    let public = KeyPair::from_secret(&credentials.sealing).expect("a key").public;
    Sealer::new(public, tunnel).expect("a key")
}

pub(crate) fn parcel(sealer: &Sealer, plain: &[u8]) -> Parcel {
    let Sealed { epoch, number, data } = sealer.seal(plain).expect("a sealed letter");
    Parcel { epoch, number, received_at: Timestamp::now().as_micros(), held: false, data: data.into() }
}

/// Returns a letter with this body.
pub(crate) fn letter(body: impl Into<Bytes>) -> Letter {
    Letter {
        id: [7; 16],
        slug: "github".to_owned(),
        method: "POST".to_owned(),
        path: "/a//b".to_owned(),
        query: None,
        http10: false,
        headers: Bytes::from_static(b"Host: relay.example.com\r\n"),
        body: body.into(),
        sha256: [0; 32],
        url: "https://relay.example.com/acme-dev/github/a//b".to_owned(),
        remote: "192.0.2.7".to_owned(),
        forwarded: Bytes::new(),
        received: None,
    }
}

/// Returns the depth of a mailbox in which this many letters wait.
pub(crate) fn many_letters(letters: u64) -> Depth {
    Depth { letters, bytes: letters * 100, ..Depth::default() }
}

/// An app that has connected.
pub(crate) struct Caller {
    socket: WebSocketStream<TcpStream>,
    /// What the app is told about waiting letters.
    pub(crate) depth: Depth,
}

impl Caller {
    /// Sends the challenge, and checks the app's signature.
    pub(crate) async fn hello(&mut self) -> AppFrame {
        let nonce = [42; 32];
        self.say(RelayFrame::Challenge { nonce }).await;
        let hello = self.hear_any().await;
        let AppFrame::Hello { tunnel, device, signature, .. } = &hello else { panic!("{hello:?}") };
        let signature = Signature::from_slice(signature).expect("a signature");
        let key = VerifyingKey::from_bytes(device).expect("a key");
        key.verify(&hello_text(tunnel, &nonce), &signature).expect("its own signature");
        hello
    }

    pub(crate) async fn welcome(&mut self, depth: Depth, newest: u64) {
        let public_url = "https://relay.example.com/acme-dev".to_owned();
        self.say(RelayFrame::Welcome { public_url, depth, newest, now: 0 }).await;
    }

    pub(crate) async fn say(&mut self, frame: RelayFrame) {
        self.send(Message::Binary(encode(&frame))).await.expect("the app listens");
    }

    /// Sends a frame to an app that may have gone.
    pub(crate) async fn say_perhaps(&mut self, frame: RelayFrame) {
        let _ = self.send(Message::Binary(encode(&frame))).await;
    }

    pub(crate) async fn send(
        &mut self,
        message: Message,
    ) -> Result<(), tokio_tungstenite::tungstenite::Error> {
        within("the app reads", self.socket.send(message)).await
    }

    /// Returns the next frame other than heartbeats and sources; heartbeats are answered.
    pub(crate) async fn hear(&mut self) -> AppFrame {
        loop {
            match self.hear_any().await {
                AppFrame::Ping { stamp } => {
                    let depth = self.depth;
                    self.say_perhaps(RelayFrame::Pong { stamp, depth }).await;
                }
                AppFrame::Sources(_) => {}
                frame => return frame,
            }
        }
    }

    /// Returns the next frame of any kind.
    pub(crate) async fn hear_any(&mut self) -> AppFrame {
        self.hear_or_end().await.expect("the app speaks")
    }

    /// Returns the next frame, or `None` if the app has gone.
    pub(crate) async fn hear_or_end(&mut self) -> Option<AppFrame> {
        loop {
            match within("the app speaks, or goes", self.socket.next()).await? {
                Ok(Message::Binary(bytes)) => return Some(decode(&bytes).expect("a frame")),
                Ok(Message::Close(_)) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    /// Waits until everything up to `position` is acknowledged, and nothing else ever was.
    pub(crate) async fn acknowledged(&mut self, position: u64) {
        loop {
            match self.hear().await {
                AppFrame::Ack { through, also } => {
                    assert!(
                        through <= position && also.iter().all(|&also| also <= position),
                        "{through} {also:?}"
                    );
                    if through == position {
                        return;
                    }
                }
                frame => panic!("{frame:?}"),
            }
        }
    }

    /// Waits until the app has gone, and answers its heartbeats meanwhile.
    pub(crate) async fn gone(&mut self) {
        while let Some(frame) = self.hear_or_end().await {
            if let AppFrame::Ping { stamp } = frame {
                let depth = self.depth;
                self.say_perhaps(RelayFrame::Pong { stamp, depth }).await;
            }
        }
    }

    pub(crate) async fn close(mut self) {
        self.send(Message::Close(None)).await.expect("the app listens");
        self.gone().await;
    }
}
