//! The stream beneath hyper: it replaces the head that hyper writes with ours, and records the head of the answer.
//!
//! hyper keeps a head as a map, without order and case. So hyper is given a substitute request with the right framing.
//! What it writes up to the first empty line is discarded here, and the true head is sent instead.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, ready},
};

use bytes::{Buf, Bytes};
use hookmitt_event::HeaderLines;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// How many bytes the head of an answer may have.
pub(crate) const LARGEST_HEAD: usize = 64 * 1024;

/// How many header lines an answer may have.
pub(crate) const MOST_LINES: usize = 256;

/// How many bytes of what the target sends are recorded: the largest head that hyper accepts, and some 1xx heads before
/// it.
const RECORDED: usize = 4 * LARGEST_HEAD;

const HEAD_END: &[u8; 4] = b"\r\n\r\n";

/// A stream that replaces the first head written to it, and records the first bytes read from it.
pub(crate) struct Wire<S> {
    inner: S,
    stage: Stage,
    head: Bytes,
    record: Record,
}

enum Stage {
    /// hyper's head is being discarded; this many bytes of the sequence that ends it were seen.
    Swallow(usize),
    /// Our head is being written.
    Head,
    /// What hyper writes is passed through.
    Body,
    /// The target reads no more. hyper is told that everything was written, so that it goes on reading: a server that
    /// refuses a large body answers first and then closes.
    Deaf,
}

/// What was seen on the connection; shared with the code that waits for the answer.
#[derive(Clone, Default)]
pub(crate) struct Record(Arc<Mutex<Seen>>);

#[derive(Default)]
struct Seen {
    read: Vec<u8>,
    write_error: Option<String>,
}

impl Record {
    /// The header lines of the final answer, if its whole head was recorded.
    pub(crate) fn header_lines(&self) -> Option<HeaderLines> {
        let read = std::mem::take(&mut self.lock().read);
        final_head(&read)
    }

    /// Why writing stopped, if it did.
    pub(crate) fn write_error(&self) -> Option<String> {
        self.lock().write_error.clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, bytes: &[u8]) {
        let mut seen = self.lock();
        let room = RECORDED.saturating_sub(seen.read.len());
        seen.read.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

/// Returns the header lines of the first head in `read` that is not an interim answer's (1xx, RFC 9110, 15.2).
fn final_head(mut read: &[u8]) -> Option<HeaderLines> {
    loop {
        let mut fields = vec![httparse::EMPTY_HEADER; MOST_LINES];
        let mut response = httparse::Response::new(&mut fields);
        let httparse::Status::Complete(end) = response.parse(read).ok()? else { return None };
        if matches!(response.code, Some(100 | 102..=199)) {
            read = &read[end..];
            continue;
        }
        let start = read.iter().position(|byte| !matches!(byte, b'\r' | b'\n'))?;
        let line_end = start + read[start..].iter().position(|byte| *byte == b'\n')?;
        let block = &read[line_end + 1..end];
        let block = block.strip_suffix(b"\r\n").or_else(|| block.strip_suffix(b"\n"))?;
        return HeaderLines::from_wire(Bytes::copy_from_slice(block)).ok();
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Wire<S> {
    /// Makes a stream that writes `head` in place of the first head that hyper writes.
    pub(crate) fn new(inner: S, head: Vec<u8>) -> (Self, Record) {
        let record = Record::default();
        let wire = Self { inner, stage: Stage::Swallow(0), head: head.into(), record: record.clone() };
        (wire, record)
    }

    /// Discards bytes of hyper's head. Returns how many.
    fn swallow(&mut self, mut matched: usize, buffer: &[u8]) -> usize {
        for (place, byte) in buffer.iter().enumerate() {
            matched = match *byte {
                byte if byte == HEAD_END[matched] => matched + 1,
                b'\r' => 1,
                _ => 0,
            };
            if matched == HEAD_END.len() {
                self.stage = Stage::Head;
                return place + 1;
            }
        }
        self.stage = Stage::Swallow(matched);
        buffer.len()
    }

    /// Writes our head and, if it fits into the same packet, what follows it.
    fn poll_head(&mut self, cx: &mut Context<'_>, follows: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        loop {
            let mut slices = vec![IoSlice::new(&self.head)];
            slices.extend(follows.iter().map(|slice| IoSlice::new(slice)));
            let written = ready!(Pin::new(&mut self.inner).poll_write_vectored(cx, &slices))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            let of_head = written.min(self.head.len());
            self.head.advance(of_head);
            if !self.head.has_remaining() {
                self.stage = Stage::Body;
            }
            if written > of_head || (matches!(self.stage, Stage::Body) && length(follows) == 0) {
                return Poll::Ready(Ok(written - of_head));
            }
        }
    }

    fn poll_pass(&mut self, cx: &mut Context<'_>, slices: &[IoSlice<'_>]) -> Poll<io::Result<usize>> {
        match self.stage {
            Stage::Swallow(matched) => {
                let first = slices.iter().find(|slice| !slice.is_empty());
                Poll::Ready(Ok(first.map_or(0, |slice| self.swallow(matched, slice))))
            }
            Stage::Head => self.poll_head(cx, slices),
            Stage::Body => Pin::new(&mut self.inner).poll_write_vectored(cx, slices),
            Stage::Deaf => Poll::Ready(Ok(length(slices))),
        }
    }

    fn go_deaf(&mut self, error: &io::Error) {
        self.record.lock().write_error = Some(error.to_string());
        self.stage = Stage::Deaf;
    }
}

fn length(slices: &[IoSlice<'_>]) -> usize {
    slices.iter().map(|slice| slice.len()).sum()
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Wire<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        ready!(Pin::new(&mut this.inner).poll_read(cx, buffer))?;
        this.record.push(&buffer.filled()[before..]);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Wire<S> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(buffer)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = ready!(this.poll_pass(cx, slices));
        Poll::Ready(Ok(written.unwrap_or_else(|error| {
            this.go_deaf(&error);
            length(slices)
        })))
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if matches!(this.stage, Stage::Head)
            && let Err(error) = ready!(this.poll_head(cx, &[]))
        {
            this.go_deaf(&error);
        }
        if !matches!(this.stage, Stage::Deaf)
            && let Err(error) = ready!(Pin::new(&mut this.inner).poll_flush(cx))
        {
            this.go_deaf(&error);
        }
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        match this.stage {
            Stage::Deaf => Poll::Ready(Ok(())),
            _ => Pin::new(&mut this.inner).poll_shutdown(cx),
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    #[tokio::test]
    async fn a_head_is_swapped_wherever_the_writes_are_cut() {
        let written = b"POST / HTTP/1.1\r\na: b\r\r\r\n\r\nbody\r\n\r\nmore";
        for cut in 1..written.len() {
            let (near, mut far) = tokio::io::duplex(3);
            let (mut wire, _) = Wire::new(near, b"OURS /x\r\n\r\n".to_vec());
            let write = async {
                wire.write_all(&written[..cut]).await.unwrap();
                wire.write_all(&written[cut..]).await.unwrap();
                wire.flush().await.unwrap();
                drop(wire);
            };
            let mut got = Vec::new();
            let ((), read) = tokio::join!(write, far.read_to_end(&mut got));
            read.unwrap();
            assert_eq!(got, b"OURS /x\r\n\r\nbody\r\n\r\nmore", "cut at {cut}");
        }
    }

    #[test]
    fn interim_heads_are_passed_over() {
        let read = b"HTTP/1.1 100 Continue\r\nA: 1\r\n\r\nHTTP/1.1 200 OK\nx-b:  2\r\nX-B: 3\r\n\r\nbody";
        let lines = final_head(read).unwrap();
        assert_eq!(&lines.as_wire()[..], b"x-b:  2\r\nX-B: 3\r\n");
        assert_eq!(final_head(b"HTTP/1.1 200 OK\r\nA: 1\r\n"), None);
        assert_eq!(final_head(b"HTTP/1.1 204 No\r\n\r\n"), Some(HeaderLines::default()));
    }
}
