//! The stream beneath hyper: keeps each head as it came and hands hyper a plain one.

use std::{
    collections::VecDeque,
    future::Future as _,
    io,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::{Buf as _, Bytes, BytesMut};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Sleep, sleep},
};
use tokio_util::io::poll_read_buf;

use crate::{
    framing::Framing,
    head::{Head, HeadError, parse_head},
};

/// The heads of a connection's requests by their numbers, oldest first. hyper serves one at a time, so there is seldom
/// more than one.
pub(crate) type Heads = Arc<Mutex<VecDeque<(u32, Result<Head, HeadError>)>>>;

/// How much is asked of the socket at a time.
const READ: usize = 16 * 1024;

/// A stream that records heads on their way to hyper.
pub(crate) struct Recorder<S> {
    inner: S,
    /// From the wire, not yet looked at.
    input: BytesMut,
    /// For hyper, before anything else.
    output: Bytes,
    body: Framing,
    heads: Heads,
    /// How many heads there were.
    count: u32,
    /// After a head that can't be taken nothing more is read.
    refused: bool,
    /// The path at which a connection may become something else.
    upgrades_at: Option<&'static str>,
    /// After a head that asks for that, everything goes to hyper as it comes.
    through: bool,
    patience: Patience,
}

impl<S: AsyncRead + Unpin> Recorder<S> {
    /// `pause`: how long the other side may leave unread what is written.
    pub(crate) fn new(inner: S, upgrades_at: Option<&'static str>, pause: Duration) -> (Self, Heads) {
        let heads = Heads::default();
        let recorder = Self {
            inner,
            input: BytesMut::new(),
            output: Bytes::new(),
            body: Framing::Done,
            heads: Arc::clone(&heads),
            count: 0,
            refused: false,
            upgrades_at,
            through: false,
            patience: Patience { pause, until: None },
        };
        (recorder, heads)
    }

    /// Takes a head out of the input, if it is whole. A bad one is put in hyper's hands as an empty request, so that
    /// the sender gets an answer that says what is wrong.
    fn next_head(&mut self) -> bool {
        let number = self.count.wrapping_add(1);
        let recorded = match parse_head(&self.input) {
            Ok(None) => return false,
            Ok(Some((head, taken))) => {
                self.input.advance(taken);
                self.through = head.upgrades_at(self.upgrades_at);
                self.output = head.for_hyper(number, self.through);
                self.body = Framing::new(head.body);
                Ok(head)
            }
            Err(error) => {
                self.refused = true;
                self.output = format!("GET /{number} HTTP/1.0\r\n\r\n").into();
                Err(error)
            }
        };
        self.count = number;
        self.heads.lock().unwrap_or_else(PoisonError::into_inner).push_back((number, recorded));
        true
    }

    /// Hands over what is ready. `false`: nothing is.
    fn hand_over(&mut self, out: &mut ReadBuf<'_>) -> bool {
        if self.output.is_empty() && !self.refused {
            if self.through {
                let taken = self.input.len().min(out.remaining());
                out.put_slice(&self.input[..taken]);
                self.input.advance(taken);
                return taken > 0;
            } else if self.body.is_done() {
                if self.input.is_empty() || !self.next_head() {
                    return false;
                }
            } else {
                let wanted = self.input.len().min(out.remaining());
                let taken = self.body.take(&self.input[..wanted]);
                // hyper, which would read on, finds the end of the stream before the end of the body.
                self.refused = self.body.is_broken();
                out.put_slice(&self.input[..taken]);
                self.input.advance(taken);
                return taken > 0;
            }
        }
        let taken = self.output.len().min(out.remaining());
        out.put_slice(&self.output[..taken]);
        self.output.advance(taken);
        taken > 0
    }

    /// The long middle of a body goes straight from the socket to hyper.
    fn poll_body(&mut self, context: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.through {
            self.input = BytesMut::new(); // nothing is held for a connection that only waits
            return Pin::new(&mut self.inner).poll_read(context, out);
        }
        let Framing::Length(rest) = self.body else { return self.poll_input(context, out) };
        let room = out.remaining().min(usize::try_from(rest).unwrap_or(usize::MAX));
        let mut piece = ReadBuf::new(out.initialize_unfilled_to(room));
        ready!(Pin::new(&mut self.inner).poll_read(context, &mut piece))?;
        let filled = piece.filled().len();
        self.body.take(piece.filled());
        out.advance(filled);
        Poll::Ready(Ok(()))
    }

    /// Reads from the socket until there is something to hand over, or the sender has no more.
    fn poll_input(&mut self, context: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            if self.input.capacity() - self.input.len() < READ / 4 {
                self.input.reserve(READ);
            }
            let read = poll_read_buf(Pin::new(&mut self.inner), context, &mut self.input);
            if ready!(read)? == 0 || self.hand_over(out) {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Recorder<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.hand_over(out) {
            return Poll::Ready(Ok(()));
        }
        if self.refused {
            return Poll::Ready(Ok(())); // the end, as far as hyper is concerned
        }
        self.poll_body(context, out)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Recorder<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write(context, bytes);
        self.patience.with(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write_vectored(context, pieces);
        self.patience.with(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.inner).poll_flush(context);
        self.patience.with(context, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.inner).poll_shutdown(context);
        self.patience.with(context, shut)
    }
}

/// How long is waited for the other side to read. Nobody above would: hyper waits for ever with an answer in hand.
struct Patience {
    pause: Duration,
    until: Option<Pin<Box<Sleep>>>,
}

impl Patience {
    /// What came of writing, or the end of it where nothing has moved for too long.
    fn with<T>(&mut self, context: &mut Context<'_>, came: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if came.is_ready() {
            self.until = None;
            return came;
        }
        let until = self.until.get_or_insert_with(|| Box::pin(sleep(self.pause)));
        ready!(until.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "what was written is not read")))
    }
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _, duplex},
        time::{Instant, timeout},
    };

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_is_not_read_is_not_held_for_ever() {
        let (ours, mut theirs) = duplex(16);
        let pause = Duration::from_secs(30);
        let (mut recorder, _heads) = Recorder::new(ours, None, pause);
        let begun = Instant::now();
        let reading = async {
            // Slow, but it reads.
            for _ in 0..4 {
                tokio::time::advance(pause / 2).await;
                theirs.read_exact(&mut [0; 16]).await.unwrap();
            }
            theirs
        };
        let writing = timeout(10 * pause, recorder.write_all(&[0; 100]));
        let (written, _theirs) = tokio::join!(writing, reading);
        let error = written.expect("it comes to an end").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert!(begun.elapsed() >= 3 * pause, "not before it stopped reading: {:?}", begun.elapsed());
    }
}
