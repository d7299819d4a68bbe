//! Plays a stream to the real port, and compares what it stored with what is in the stream.

use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

use hookmitt_catch::{Address, Caught, Limits, Refusal, Reply, Sink, catch_stream};
use hookmitt_event::HttpVersion;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::oracle::{self, Read};

/// Building blocks of hostile streams. A byte from 0x80 on stands for one of these; other bytes stand for themselves.
const PIECES: [&[u8]; 64] = [
    b"POST /a HTTP/1.1\r\nHost: h\r\n",
    b"POST /decoy HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n",
    b"GET /b?c HTTP/1.1\r\nHost: h\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: h\r\n",
    b"POST /d HTTP/1.0\r\n",
    b"POST http://h.example/e/f?g HTTP/1.1\r\n",
    b"POST https://u@h/e HTTP/1.1\r\n",
    b"OPTIONS * HTTP/1.1\r\n",
    b"CONNECT h:443 HTTP/1.1\r\n",
    b"CONNECT /a HTTP/1.1\r\nHost: h\r\n",
    b"HEAD /a HTTP/1.1\r\nHost: h\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"POST ",
    b"/slug//x/../%2e",
    b" HTTP/1.1\r\n",
    b" HTTP/1.0\r\n",
    b"Host: h\r\n",
    b"Host: h/x\r\n",
    b"Host: [::1]:80\r\n",
    b"Host: a,b\r\n",
    b"hOST:\t h.example:8080 \r\n",
    b"Host :h\r\n",
    b"Content-Length: 5\r\n",
    b"content-length:5\r\n",
    b"Content-Length: 05\r\n",
    b"Content-Length: +5\r\n",
    b"Content-Length: 5, 5\r\n",
    b"Content-Length: 99999999999999999999\r\n",
    b"Content-Length: 26214401\r\n",
    b"Content_Length: 5\r\n",
    b"Content-Length: 0\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"transfer-encoding:\tCHUNKED \r\n",
    b"Transfer-Encoding: gzip, chunked\r\n",
    b"Transfer-Encoding: chunked, chunked\r\n",
    b"Transfer-Encoding: identity\r\n",
    b"Transfer-Encoding : chunked\r\n",
    b"Transfer-Encoding:\r\n chunked\r\n",
    b"Connection: close\r\n",
    b"Connection: keep-alive, X\r\n",
    b"Expect: 100-continue\r\n",
    b"Upgrade: websocket\r\nConnection: Upgrade\r\n",
    b"X: y\r\n",
    b"\r\n",
    b"\r\n\r\n",
    b"\n",
    b"\r",
    b"\0",
    b"hello",
    b"5\r\nhello\r\n",
    b"5;a=b\r\nhello\r\n",
    b"5 ; a = \"b\\\"\" ; c\r\nhello\r\n",
    b"5;\r\nhello\r\n",
    b"5 \r\nhello\r\n",
    b"A\r\n0\r\n\r\nPOST \r\n",
    b"2b\r\nPOST /decoy HTTP/1.1\r\nHost: h\r\nX: y\r\n\r\nhi\r\n",
    b"0\r\n\r\n",
    b"0;a\r\nX: y\r\n\r\n",
    b"0\r\nContent-Length: 9\r\n\r\n",
    b"0\n\r\n",
    b"ffffffffffffffff\r\n",
    b"00000000000000005\r\nhello\r\n",
    b"0x5\r\nhello\r\n",
    b"; \t\"\\=",
];

/// Makes a stream of any bytes: the first says how it is written, the second how it is cut into pieces, and the rest is
/// sent.
pub(crate) fn stream(data: &[u8]) -> (Vec<u8>, usize) {
    let [how, cut, rest @ ..] = data else { return (Vec::new(), 1) };
    let sent = if how % 2 == 0 {
        rest.to_vec()
    } else {
        let piece = |byte: &u8| match byte {
            0x80.. => PIECES[usize::from(byte & 0x7f) % PIECES.len()].to_vec(),
            _ => vec![*byte],
        };
        rest.iter().flat_map(piece).collect()
    };
    (sent, usize::from(*cut).max(1))
}

/// Plays a stream in pieces of that size.
///
/// # Panics
/// Panics if the port stored something that is not in the stream, or left out something that is.
pub(crate) fn play(sent: &[u8], cut: usize) {
    let expected = oracle::read(sent);
    let (stored, answered) = stored(sent, cut);
    let shown = String::from_utf8_lossy(sent);
    let common = stored.len().min(expected.requests.len());
    assert_eq!(stored, expected.requests[..common], "in pieces of {cut}:\n{shown:?}");
    assert!(stored.len() >= expected.sure, "{} of {} in\n{shown:?}", stored.len(), expected.sure);
    assert_eq!(answered, stored.len(), "thanked for in\n{shown:?}");
}

/// Returns what the port stores of a stream, and how many requests it acknowledged.
fn stored(sent: &[u8], cut: usize) -> (Vec<Read>, usize) {
    let (kept, output) = (Arc::<Kept>::default(), Arc::default());
    let wire = Wire { input: sent.to_vec(), at: 0, cut, output: Arc::clone(&output) };
    let remote = SocketAddr::from(([127, 0, 0, 1], 1));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    runtime.expect("a runtime").block_on(catch_stream(wire, remote, Arc::clone(&kept), Limits::default()));
    let output = output.lock().expect("nobody panicked").clone();
    let answered =
        output.windows(12).filter(|piece| piece == b"HTTP/1.1 202" || piece == b"HTTP/1.0 202").count();
    let stored = std::mem::take(&mut *kept.0.lock().expect("nobody panicked"));
    (stored, answered)
}

/// Keeps what it is given.
#[derive(Default)]
struct Kept(Mutex<Vec<Read>>);

impl Sink for Kept {
    async fn caught(&self, address: Address, caught: Caught) -> Reply {
        let read = Read {
            method: caught.head.method.into_bytes(),
            slug: address.slug.as_str().as_bytes().to_vec(),
            path: address.path.into_bytes(),
            query: address.query.map(String::into_bytes),
            is_http10: caught.head.version == HttpVersion::Http10,
            lines: caught.head.headers.as_wire().to_vec(),
            body: caught.body.to_vec(),
        };
        self.0.lock().expect("nobody panicked").push(read);
        Reply::json(202, "{}".to_owned())
    }

    fn refused(&self, _: Refusal) {}
}

/// A connection whose sender has sent everything and waits.
struct Wire {
    input: Vec<u8>,
    at: usize,
    cut: usize,
    output: Arc<Mutex<Vec<u8>>>,
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let length = (self.input.len() - self.at).min(self.cut).min(out.remaining());
        out.put_slice(&self.input[self.at..self.at + length]);
        self.at += length;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Wire {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.output.lock().expect("nobody panicked").extend_from_slice(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
