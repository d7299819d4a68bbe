//! A relay as a process, and a device that speaks to it in frames.

use std::{net::SocketAddr, path::Path, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use ed25519_dalek::{Signer as _, SigningKey};
use futures_util::{SinkExt as _, StreamExt as _};
use hookmitt_seal::{KeyPair, Opener};
use hookmitt_wire::{
    AppFrame, Depth, Hold, Letter, Parcel, RelayFrame, SourceOffer, decode, encode, hello_text,
};
use serde_json::{Value, json};
use tokio::{net::TcpStream, process::Command};
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async_with_config,
    tungstenite::{Message, protocol::WebSocketConfig},
};

use crate::{Process, Ran, Reply, eventually, exchange, hookmitt, parse_reply, post, request, within};

/// A running `hookmitt relay`.
pub struct RelayProcess {
    /// The process.
    pub process: Process,
    /// Where it listens.
    pub address: SocketAddr,
}

impl RelayProcess {
    /// Starts a relay on a free port with its store in `dir`, and waits until it prints where it listens.
    pub async fn start(dir: &Path, flags: &[&str]) -> Self {
        Self::start_at(dir, "127.0.0.1:0", flags).await
    }

    /// Starts a relay at this address.
    pub async fn start_at(dir: &Path, address: &str, flags: &[&str]) -> Self {
        Self::spawn(Self::command(dir, address, flags)).await
    }

    /// Returns the command, for [`spawn`](Self::spawn).
    pub fn command(dir: &Path, address: &str, flags: &[&str]) -> Command {
        let mut command = hookmitt(dir);
        command.args(["relay", "--listen", address]).args(flags);
        command
    }

    /// Starts a command made by [`command`](Self::command), and waits until it prints where it listens.
    pub async fn spawn(command: Command) -> Self {
        let mut process = Process::start(command);
        process.says("listens  ").await;
        let address = eventually("it says where it listens", async || listens(&process.err())).await;
        Self { process, address }
    }

    /// Fetches its metrics. It must have been started with `--metrics 127.0.0.1:0`.
    pub async fn metrics(&self) -> String {
        let said = self.process.err();
        let url = said.lines().find_map(|line| line.split_once("metrics  http://")).expect("it says where").1;
        let address = url.strip_suffix("/metrics").and_then(|address| address.parse().ok());
        let asked = request("GET", "/metrics", &[], b"");
        let reply = parse_reply(&exchange(address.expect("an address"), &asked).await);
        String::from_utf8(reply.body).expect("text")
    }

    /// Makes a new token, with a second process that uses the same store.
    pub async fn token(dir: &Path) -> String {
        relay_token(dir, &["create"]).await.exits(0).text().trim().to_owned()
    }
}

/// Runs `hookmitt relay token …`.
pub async fn relay_token(dir: &Path, arguments: &[&str]) -> Ran {
    let mut command = hookmitt(dir);
    command.args(["relay", "token"]).args(arguments);
    Ran::of(command).await
}

fn listens(said: &str) -> Option<SocketAddr> {
    let line = said.split_inclusive('\n').find(|line| line.contains("listens  ") && line.ends_with('\n'))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Returns a source for which the relay answers by itself, except for set-up requests.
pub fn offer(slug: &str) -> SourceOffer {
    SourceOffer {
        slug: slug.to_owned(),
        provider: None,
        hold: Hold::Handshakes,
        status: None,
        headers: Vec::new(),
        body: None,
        delay_ms: 0,
    }
}

/// A device of a tunnel: its keys, and its relay's address.
#[derive(Clone)]
pub struct Device {
    /// The relay's address.
    pub relay: SocketAddr,
    /// The tunnel's name.
    pub tunnel: String,
    /// The key with which the device signs.
    pub key: SigningKey,
    /// The tunnel's secret key, which opens letters.
    pub sealing: [u8; 32],
}

impl Device {
    /// Opens a tunnel with a token.
    pub async fn open(relay: SocketAddr, token: &str, name: Option<&str>) -> Self {
        let key = SigningKey::from_bytes(&rand::random());
        let sealing = KeyPair::fresh();
        let order = json!({
            "name": name,
            "sealing_key": STANDARD.encode(sealing.public),
            "device_key": STANDARD.encode(key.verifying_key().as_bytes()),
            "device_name": "laptop",
        });
        let reply = open_tunnel(relay, token, &order).await;
        assert_eq!(reply.status, 201, "{}", String::from_utf8_lossy(&reply.body));
        let tunnel = reply.json()["tunnel"].as_str().expect("a name").to_owned();
        Self { relay, tunnel, key, sealing: *sealing.secret }
    }

    /// Adds another device to the tunnel with a one-time code. Returns the relay's answer if it refuses.
    pub async fn join(&self, code: &str) -> Result<Self, Reply> {
        let key = SigningKey::from_bytes(&rand::random());
        let order = json!({
            "tunnel": self.tunnel,
            "code": code,
            "device_key": STANDARD.encode(key.verifying_key().as_bytes()),
            "device_name": "desktop",
        });
        let headers = [("Content-Type", "application/json")];
        let reply = post(self.relay, "/-/v1/join", &headers, order.to_string().as_bytes()).await;
        if reply.status == 200 { Ok(Self { key, ..self.clone() }) } else { Err(reply) }
    }

    /// Connects, identifies the device, and waits for the welcome.
    pub async fn connect(&self) -> Line {
        self.connect_with(1_024, 16 * 1024 * 1024).await
    }

    /// Like [`connect`](Self::connect), with this window: how many letters, and how many bytes, may be unacknowledged.
    pub async fn connect_with(&self, window: u32, window_bytes: u32) -> Line {
        let mut line = Line::dial(self.relay).await;
        let nonce = line.challenge().await;
        line.say(&self.hello(&nonce, window, window_bytes)).await;
        let opener = Opener::new(&self.sealing, &self.tunnel).expect("a key");
        match line.next().await {
            Some(RelayFrame::Welcome { depth, newest, .. }) => {
                (line.depth, line.newest, line.opener) = (depth, newest, Some(opener));
                line
            }
            other => panic!("no welcome: {other:?}"),
        }
    }

    /// Returns the signed frame with which the device identifies itself.
    pub fn hello(&self, nonce: &[u8; 32], window: u32, window_bytes: u32) -> AppFrame {
        let signature = self.key.sign(&hello_text(&self.tunnel, nonce));
        AppFrame::Hello {
            tunnel: self.tunnel.clone(),
            device: *self.key.verifying_key().as_bytes(),
            signature: Bytes::copy_from_slice(&signature.to_bytes()),
            app: "story".to_owned(),
            window,
            window_bytes,
        }
    }

    /// Connects, sends the sources, and waits until the relay has taken them.
    pub async fn offering(&self, sources: Vec<SourceOffer>) -> Line {
        let mut line = self.connect().await;
        line.say(&AppFrame::Sources(sources)).await;
        line.pong().await; // the relay handles frames in order
        line
    }
}

/// Sends `POST /-/v1/tunnels` with a token.
pub async fn open_tunnel(relay: SocketAddr, token: &str, order: &Value) -> Reply {
    let bearer = format!("Bearer {token}");
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    post(relay, "/-/v1/tunnels", &headers, order.to_string().as_bytes()).await
}

/// A device's connection.
pub struct Line {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    /// What was waiting at the welcome.
    pub depth: Depth,
    /// The newest position at the welcome.
    pub newest: u64,
    opener: Option<Opener>,
}

/// A letter that has arrived completely.
pub struct Came {
    /// Its position in the mailbox.
    pub position: u64,
    /// The sealed parcel.
    pub parcel: Parcel,
    /// The opened content.
    pub letter: Letter,
}

impl Line {
    /// Connects, and sends nothing yet.
    pub async fn dial(relay: SocketAddr) -> Self {
        let url = format!("ws://{relay}/-/v1/tunnel");
        let config = WebSocketConfig::default();
        let dialled = connect_async_with_config(url, Some(config), true);
        let (socket, _) = within("the relay upgrades", dialled).await.expect("a WebSocket");
        Self { socket, depth: Depth::default(), newest: 0, opener: None }
    }

    /// Waits for the relay's challenge, and returns the nonce that the device must sign.
    pub async fn challenge(&mut self) -> [u8; 32] {
        match self.next().await {
            Some(RelayFrame::Challenge { nonce }) => nonce,
            other => panic!("no challenge: {other:?}"),
        }
    }

    /// Sends a frame. It is no failure if the relay is gone.
    pub async fn say(&mut self, frame: &AppFrame) {
        self.say_bytes(encode(frame)).await;
    }

    /// Sends these bytes as one message. It is no failure if the relay is gone.
    pub async fn say_bytes(&mut self, bytes: Bytes) {
        let _unheard = within("it is sent", self.socket.send(Message::Binary(bytes))).await;
    }

    /// Waits for the next frame. Returns `None` if the connection has ended.
    pub async fn next(&mut self) -> Option<RelayFrame> {
        loop {
            match within("the relay speaks", self.socket.next()).await?.ok()? {
                Message::Binary(message) => return Some(decode(&message).expect("a frame")),
                Message::Close(_) => return None,
                _ => {}
            }
        }
    }

    /// Waits for the next letter, and joins its pieces. Pieces of other letters and other frames are dropped.
    pub async fn letter(&mut self) -> Came {
        let (position, mut parcel, size) = loop {
            match self.next().await.expect("a letter, not the end") {
                RelayFrame::Parcel { position, parcel, size } => break (position, parcel, size),
                RelayFrame::Refused { code, message } => panic!("refused: {code}: {message}"),
                _ => {}
            }
        };
        let mut data = parcel.data.to_vec();
        while data.len() < usize::try_from(size).expect("small enough") {
            match self.next().await.expect("a piece, not the end") {
                RelayFrame::Piece { position: of, data: piece } if of == position => data.extend(piece),
                _ => {}
            }
        }
        parcel.data = data.into();
        self.open(position, parcel)
    }

    /// Opens a letter.
    pub fn open(&self, position: u64, parcel: Parcel) -> Came {
        let opener = self.opener.as_ref().expect("it is welcome");
        let plain = opener.open(&parcel.epoch, parcel.number, &parcel.data).expect("it is ours");
        Came { position, parcel, letter: Letter::from_bytes(&plain).expect("a letter") }
    }

    /// Acknowledges all letters up to this position.
    pub async fn ack(&mut self, through: u64) {
        self.say(&AppFrame::Ack { through, also: Vec::new() }).await;
    }

    /// Pings the relay, and returns what is waiting. Letters that arrive before the answer are lost.
    pub async fn pong(&mut self) -> Depth {
        self.say(&AppFrame::Ping { stamp: 7 }).await;
        loop {
            match self.next().await.expect("a pong, not the end") {
                RelayFrame::Pong { stamp: 7, depth } => return depth,
                RelayFrame::Refused { code, message } => panic!("refused: {code}: {message}"),
                _ => {}
            }
        }
    }

    /// Pings the relay until `is_so` is true of what is waiting. Letters that arrive meanwhile are lost.
    pub async fn until(&mut self, what: &str, is_so: impl Fn(&Depth) -> bool) -> Depth {
        let asked = async {
            loop {
                let depth = self.pong().await;
                if is_so(&depth) {
                    return depth;
                }
                // Only a polling interval. The relay takes more than ten pings a second for a flood.
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        within(what, asked).await
    }

    /// Waits until the relay refuses, and returns the code. Returns `None` if the connection ends without one.
    pub async fn refused(&mut self) -> Option<String> {
        loop {
            if let RelayFrame::Refused { code, .. } = self.next().await? {
                return Some(code);
            }
        }
    }
}
