//! HTTP as bytes on a real socket.

use std::net::SocketAddr;

use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::wait::within;

/// An answer, read from the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// Header names (lower case) and values, in order.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Reply {
    /// Returns the first header with this name, which must be given in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// Returns the body as JSON, or null if it is not JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// Writes `bytes` on a new connection, closes our side, and reads until the other side closes.
pub async fn exchange(address: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).await.expect("a connection");
    let mut answer = Vec::new();
    let (mut reader, mut writer) = stream.split();
    // A server may answer and close before it has read everything. That is not a failure of the exchange.
    let write = async {
        let _cut = writer.write_all(bytes).await;
        let _cut = writer.shutdown().await;
    };
    let read = async {
        let _cut = reader.read_to_end(&mut answer).await;
    };
    within("an answer has come", async { tokio::join!(write, read) }).await;
    answer
}

/// Posts a body with these header lines, and returns the answer.
pub async fn post(address: SocketAddr, target: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
    parse_reply(&exchange(address, &request("POST", target, headers, body)).await)
}

/// Returns a request as bytes, with Host, Content-Length and `Connection: close` added.
pub fn request(method: &str, target: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut bytes =
        format!("{method} {target} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n").into_bytes();
    for (name, value) in headers {
        bytes.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
    }
    bytes.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
    bytes.extend_from_slice(body);
    bytes
}

/// Reads an answer that has a Content-Length or ends with the connection.
pub fn parse_reply(bytes: &[u8]) -> Reply {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
    let end = end.unwrap_or_else(|| panic!("no answer: {:?}", String::from_utf8_lossy(bytes)));
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|status| status.parse().ok());
    let headers: Vec<_> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length =
        headers.iter().find(|(name, _)| name == "content-length").and_then(|(_, value)| value.parse().ok());
    let rest = &bytes[end + 4..];
    let body = rest[..length.unwrap_or(rest.len()).min(rest.len())].to_vec();
    Reply { status: status.expect("a status"), headers, body }
}

/// Reads one answer from a connection that stays open. Returns `None` if the connection ends early or the answer has no
/// Content-Length.
pub async fn read_reply(stream: &mut (impl AsyncRead + Unpin)) -> Option<Reply> {
    let mut bytes = Vec::new();
    loop {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let reply = parse_reply(&bytes);
        let length: usize = reply.header("content-length")?.parse().ok()?;
        if bytes.len() >= end + 4 + length {
            return Some(reply);
        }
    }
}
