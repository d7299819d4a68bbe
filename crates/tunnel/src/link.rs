//! Frames over a WebSocket, and when the last byte arrived.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
};

use futures_util::{Sink, SinkExt as _, StreamExt as _};
use hookmitt_event::{NoConnection, Plain};
use hookmitt_wire::{AppFrame, FrameError, MAX_FRAME, RelayFrame, decode, encode};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    sync::mpsc,
    time::Instant,
};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        Error, Message,
        error::{CapacityError, ProtocolError},
        protocol::WebSocketConfig,
    },
};

use crate::TunnelError;

/// A WebSocket to a relay.
pub(crate) type Socket<S> = WebSocketStream<Heard<S>>;

/// When the last byte arrived, and how many have arrived in all. On a slow line one frame may take long, so bytes show
/// that the relay is alive, not frames.
#[derive(Clone, Debug)]
pub(crate) struct Pulse(Arc<Mutex<(Instant, u64)>>);

impl Pulse {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new((Instant::now(), 0))))
    }

    pub(crate) fn last(&self) -> Instant {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0
    }

    /// Returns how many bytes have arrived in all.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).1
    }

    fn beat(&self, bytes: usize) {
        let mut pulse = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *pulse = (Instant::now(), pulse.1 + bytes as u64);
    }
}

/// A stream that records when bytes arrive.
pub(crate) struct Heard<S> {
    stream: S,
    pulse: Pulse,
}

impl<S> Heard<S> {
    pub(crate) fn new(stream: S, pulse: Pulse) -> Self {
        Self { stream, pulse }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Heard<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, into);
        let came = into.filled().len() - before;
        if came > 0 {
            self.pulse.beat(came);
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Heard<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// Limits messages to the largest frame, and buffers little more than that.
pub(crate) fn config() -> WebSocketConfig {
    WebSocketConfig::default()
        .max_message_size(Some(MAX_FRAME))
        .max_frame_size(Some(MAX_FRAME))
        .max_write_buffer_size(4 * MAX_FRAME)
}

/// The meaning of a WebSocket message.
pub(crate) enum Read {
    Frame(RelayFrame),
    /// A message of the WebSocket protocol itself.
    Nothing,
    /// The relay closes the connection properly.
    Goodbye(TunnelError),
}

/// Reads a message.
pub(crate) fn read(message: Option<Result<Message, Error>>) -> Result<Read, TunnelError> {
    match message {
        Some(Ok(Message::Binary(bytes))) => Ok(Read::Frame(decode(&bytes)?)),
        Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => Ok(Read::Nothing),
        Some(Ok(Message::Text(_))) => Err(TunnelError::Protocol("it sent text")),
        Some(Ok(Message::Close(close))) => {
            let reason = close.map(|close| Plain(close.reason.as_str()).to_string()).unwrap_or_default();
            let reason = if reason.is_empty() { "it closed the connection".to_owned() } else { reason };
            Ok(Read::Goodbye(TunnelError::Closed(reason)))
        }
        Some(Err(error)) => Err(broken(&error)),
        None => Err(TunnelError::Closed("it was cut off".to_owned())),
    }
}

/// Turns the error of a broken connection into ours.
pub(crate) fn broken(error: &Error) -> TunnelError {
    use io::ErrorKind::{HostUnreachable, NetworkDown, NetworkUnreachable, TimedOut};
    let broke =
        |why, error: &io::Error| TunnelError::unreachable(why, format!("the connection broke: {error}"));
    match error {
        Error::Capacity(CapacityError::MessageTooLong { size, .. }) => FrameError::TooLarge(*size).into(),
        Error::Capacity(_) => TunnelError::Protocol("it sends more than any relay does"),
        Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => {
            TunnelError::Closed("it was cut off".to_owned())
        }
        Error::Protocol(_) | Error::Utf8(_) | Error::AttackAttempt => {
            TunnelError::Protocol("it doesn't speak WebSocket")
        }
        Error::Io(error) => match error.kind() {
            HostUnreachable | NetworkDown | NetworkUnreachable => broke(NoConnection::NoRoute, error),
            TimedOut => broke(NoConnection::NoAnswer, error),
            _ => TunnelError::Closed(error.to_string()),
        },
        error => TunnelError::Closed(error.to_string()),
    }
}

/// Sends one frame at once.
pub(crate) async fn send<S: AsyncRead + AsyncWrite + Unpin>(
    socket: &mut Socket<S>,
    frame: &AppFrame,
) -> Result<(), TunnelError> {
    socket.send(Message::Binary(encode(frame))).await.map_err(|error| broken(&error))
}

/// Writes messages from the outbox until it is closed, and then closes the WebSocket. Messages that are already waiting
/// are flushed together.
pub(crate) async fn write<W>(mut sink: W, mut outbox: mpsc::Receiver<Message>) -> Result<(), TunnelError>
where
    W: Sink<Message, Error = Error> + Unpin,
{
    while let Some(message) = outbox.recv().await {
        sink.feed(message).await.map_err(|error| broken(&error))?;
        while let Ok(more) = outbox.try_recv() {
            sink.feed(more).await.map_err(|error| broken(&error))?;
        }
        sink.flush().await.map_err(|error| broken(&error))?;
    }
    sink.send(Message::Close(None)).await.map_err(|error| broken(&error))
}

/// Returns the next frame.
pub(crate) async fn next<S: AsyncRead + AsyncWrite + Unpin>(
    socket: &mut Socket<S>,
) -> Result<RelayFrame, TunnelError> {
    loop {
        match read(socket.next().await)? {
            Read::Frame(frame) => return Ok(frame),
            Read::Nothing => {}
            Read::Goodbye(error) => return Err(error),
        }
    }
}
