//! The stream beneath hyper: it keeps each head as it came, and hands hyper a plain one.

use std::{
    collections::VecDeque,
    io,
    mem::MaybeUninit,
    pin::Pin,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::{Buf as _, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::{
    framing::Framing,
    head::{Head, HeadError},
    heading::Heading,
    intake::{Room, Share},
    patience::Patience,
};

/// A head that was recorded on its way to hyper.
pub(crate) struct Recorded {
    pub(crate) head: Head,
    /// The head's share of the bytes in flight.
    pub(crate) share: Share,
    /// What is wrong with its body, as soon as that is known.
    pub(crate) broken: Broken,
}

/// What is wrong with the body that was read last on a connection. Nothing is read after a malformed body.
pub(crate) type Broken = Arc<OnceLock<&'static str>>;

/// Heads of one connection's requests with their numbers, oldest first. hyper serves one request at a time, so there is
/// seldom more than one.
pub(crate) type Heads = Arc<Mutex<VecDeque<(u32, Result<Recorded, HeadError>)>>>;

/// How many bytes are read from the socket at a time.
const READ: usize = 16 * 1024;

/// A stream that records heads on their way to hyper.
pub(crate) struct Recorder<S> {
    inner: S,
    /// Bytes from the socket that were not looked at yet.
    input: BytesMut,
    /// Bytes for hyper that come before anything else.
    output: Bytes,
    heading: Heading,
    body: Framing,
    broken: Broken,
    heads: Heads,
    /// How many heads there were so far.
    count: u32,
    /// Set after a head that was refused: nothing more is read.
    refused: bool,
    /// The only path at which a connection may be upgraded.
    upgrades_at: Option<&'static str>,
    /// Set after a head that asks for an upgrade: everything goes to hyper as it comes.
    through: bool,
    patience: Patience,
}

impl<S: AsyncRead + Unpin> Recorder<S> {
    /// `pause` is how long the other side may leave an answer unread; `room` is where heads count as in flight.
    pub(crate) fn new(
        inner: S,
        upgrades_at: Option<&'static str>,
        pause: Duration,
        room: Room,
    ) -> (Self, Heads) {
        let heads = Heads::default();
        let recorder = Self {
            inner,
            input: BytesMut::new(),
            output: Bytes::new(),
            heading: Heading::new(room),
            body: Framing::Done,
            broken: Broken::default(),
            heads: Arc::clone(&heads),
            count: 0,
            refused: false,
            upgrades_at,
            through: false,
            patience: Patience::new(pause),
        };
        (recorder, heads)
    }

    /// Takes a head off the input if it is whole. For a bad head hyper is given an empty request, so that the sender
    /// gets an answer that says what is wrong.
    fn next_head(&mut self) -> bool {
        let number = self.count.wrapping_add(1);
        let recorded = match self.heading.take(&mut self.input) {
            Ok(None) => return false,
            Ok(Some((head, share))) => {
                self.through = head.upgrades_at(self.upgrades_at);
                self.output = head.for_hyper(number, self.through);
                self.body = Framing::new(head.body);
                Ok(Recorded { head, share, broken: Arc::clone(&self.broken) })
            }
            Err(error) => {
                self.refused = true;
                self.input = BytesMut::new();
                self.output = format!("GET /{number} HTTP/1.0\r\n\r\n").into();
                Err(error)
            }
        };
        self.count = number;
        self.heads.lock().unwrap_or_else(PoisonError::into_inner).push_back((number, recorded));
        true
    }

    /// Hands over what is ready. Returns `false` if nothing is.
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
                if let Some(why) = self.body.broken() {
                    // hyper finds the end of the stream before the end of the body, and so doesn't read on.
                    self.refused = true;
                    let _once = self.broken.set(why);
                }
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

    /// Reads from the socket straight into hyper's buffer in the middle of a body of known length.
    fn poll_body(&mut self, context: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.through {
            self.input = BytesMut::new(); // a connection that only waits holds no memory
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

    /// Reads from the socket until there is something to hand over, or the sender has closed its side.
    fn poll_input(&mut self, context: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            // On the stack, so that a connection that only waits holds no memory.
            let mut space = [MaybeUninit::uninit(); READ];
            let mut piece = ReadBuf::uninit(&mut space);
            ready!(Pin::new(&mut self.inner).poll_read(context, &mut piece))?;
            self.input.extend_from_slice(piece.filled());
            if piece.filled().is_empty() || self.hand_over(out) || self.refused {
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
            return Poll::Ready(Ok(())); // the end of the stream, as far as hyper can see
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
