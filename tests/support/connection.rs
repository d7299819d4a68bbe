//! A connection that stays open, for what a single exchange can't show.

use std::net::SocketAddr;

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use crate::{Reply, parse_reply};

/// A TCP connection that the story writes to and reads from step by step.
pub struct Connection {
    stream: TcpStream,
    read: Vec<u8>,
}

impl Connection {
    /// Connects.
    pub async fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.expect("a connection");
        stream.set_nodelay(true).expect("an option of sockets");
        Self { stream, read: Vec::new() }
    }

    /// Writes these bytes. Returns `false` if the other side is gone.
    pub async fn send(&mut self, bytes: &[u8]) -> bool {
        self.stream.write_all(bytes).await.is_ok()
    }

    /// Closes our side for writing.
    pub async fn finish(&mut self) {
        self.stream.shutdown().await.expect("an open connection");
    }

    /// Waits for the next head, and returns it without its empty line.
    pub async fn head(&mut self) -> String {
        let end = self.until(|read| read.windows(4).position(|four| four == b"\r\n\r\n")).await;
        let head = self.read.drain(..end + 4).collect::<Vec<_>>();
        String::from_utf8_lossy(&head[..end]).into_owned()
    }

    /// Waits for the next answer, which must have a Content-Length.
    pub async fn reply(&mut self) -> Reply {
        let head = self.head().await + "\r\n\r\n";
        let reply = parse_reply(head.as_bytes());
        let length = reply.header("content-length").expect("a length").parse().expect("a number");
        self.until(|read| (read.len() >= length).then_some(())).await;
        let body = self.read.drain(..length).collect();
        Reply { body, ..reply }
    }

    /// Waits for the next line, and returns it without white space at its end.
    pub async fn line(&mut self) -> String {
        let end = self.until(|read| read.iter().position(|byte| *byte == b'\n')).await;
        let line = self.read.drain(..=end).collect::<Vec<_>>();
        String::from_utf8_lossy(&line).trim_end().to_owned()
    }

    /// Waits until the other side closes. Returns everything that was not read before.
    pub async fn rest(mut self) -> Vec<u8> {
        let _reset = self.stream.read_to_end(&mut self.read).await;
        self.read
    }

    async fn until<T>(&mut self, mut found: impl FnMut(&[u8]) -> Option<T>) -> T {
        loop {
            if let Some(found) = found(&self.read) {
                return found;
            }
            let count = self.stream.read_buf(&mut self.read).await.expect("bytes");
            assert!(count > 0, "closed after {:?}", String::from_utf8_lossy(&self.read));
        }
    }
}
