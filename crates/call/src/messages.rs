//! Reads server-sent events from a body as they arrive.

use std::{
    error::Error,
    fmt,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};
use sse_stream::{Sse, SseByteStream};

/// A reader of a `text/event-stream`. Dropping it ends the stream.
pub struct Messages(Pin<Box<dyn Stream<Item = Result<Sse, MessagesError>> + Send>>);

/// Why a stream can't be read any further.
#[derive(Debug, thiserror::Error)]
pub enum MessagesError {
    /// A message is larger than the limit.
    #[error("an unfinished message")]
    Endless,
    /// The body broke off or is not UTF-8.
    #[error("{0}")]
    Broken(Box<dyn Error + Send + Sync>),
}

impl Messages {
    /// Makes a reader of a body's bytes. A message may have about `largest` bytes at most.
    pub fn new<S, E>(bytes: S, largest: usize) -> Self
    where
        S: Stream<Item = Result<Bytes, E>> + Send + 'static,
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        // How many bytes were read since the last message ended. The decoder holds no more than these.
        let unfinished = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&unfinished);
        let bounded = bytes.map(move |piece| {
            let piece = piece.map_err(|error| MessagesError::Broken(error.into()))?;
            let before = counter.load(Ordering::Relaxed);
            if before > largest {
                return Err(MessagesError::Endless);
            }
            // A comment that keeps the connection alive makes no message, and must not count as the beginning of one.
            let is_finished = piece.ends_with(b"\n\n");
            counter.store(if is_finished { 0 } else { before + piece.len() }, Ordering::Relaxed);
            Ok(piece)
        });
        Self(Box::pin(SseByteStream::new(Box::pin(bounded)).map(move |message| {
            unfinished.store(0, Ordering::Relaxed);
            message.map_err(MessagesError::from)
        })))
    }

    /// Returns the next message, or `None` at the end and after an error. The future may be dropped without losing
    /// data.
    pub async fn next(&mut self) -> Option<Result<Sse, MessagesError>> {
        self.0.next().await
    }
}

impl fmt::Debug for Messages {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Messages")
    }
}

impl From<sse_stream::Error> for MessagesError {
    fn from(error: sse_stream::Error) -> Self {
        match error {
            sse_stream::Error::Body(ours) => match ours.downcast::<Self>() {
                Ok(ours) => *ours,
                Err(other) => Self::Broken(other),
            },
            sse_stream::Error::Utf8Parse(error) => Self::Broken(error.into()),
            other => Self::Broken(other.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use futures_util::stream;

    use super::*;

    const LARGEST: usize = 1_000;

    fn read(pieces: Vec<io::Result<Vec<u8>>>) -> Messages {
        Messages::new(stream::iter(pieces).map(|piece| piece.map(Bytes::from)), LARGEST)
    }

    /// Returns all messages, and the error that ended the stream.
    async fn all(mut messages: Messages) -> (Vec<(String, String)>, Option<String>) {
        let mut found = Vec::new();
        loop {
            match messages.next().await {
                Some(Ok(Sse { event, data, .. })) => {
                    found.push((event.unwrap_or_default(), data.unwrap_or_default()));
                }
                Some(Err(error)) => {
                    assert!(messages.next().await.is_none(), "an error ends it");
                    return (found, Some(error.to_string()));
                }
                None => return (found, None),
            }
        }
    }

    #[tokio::test]
    async fn messages_are_put_together_from_any_pieces() {
        let text = ": warm\n\nevent: a\ndata: {\"x\":\r\ndata: 1}\r\n\r\nid: 7\nevent:b\ndata:\u{e4}\n\n\
                    :\n\ndata: c\n\nevent: d\ndata";
        let found = [("a", "{\"x\":\n1}"), ("b", "\u{e4}"), ("", "c")];
        for size in 1..=text.len() {
            let pieces = text.as_bytes().chunks(size).map(|piece| Ok(piece.to_vec())).collect();
            let (read, ended) = all(read(pieces)).await;
            let read: Vec<_> = read.iter().map(|(event, data)| (event.as_str(), data.as_str())).collect();
            assert_eq!((&read[..], ended), (&found[..], None), "pieces of {size}");
        }
    }

    #[tokio::test]
    async fn a_message_without_an_end_is_not_kept_for_ever() {
        let piece = || Ok(vec![b'a'; LARGEST / 2 + 1]);
        let whole = || Ok(b"data: 1\n\n".to_vec());
        let (found, ended) = all(read(vec![whole(), piece(), piece(), piece(), whole()])).await;
        assert_eq!((found.len(), ended.as_deref()), (1, Some("an unfinished message")));
        let comments = (0..LARGEST).map(|_| Ok(b": warm\n\n".to_vec())).chain([whole()]).collect();
        assert_eq!(all(read(comments)).await, (vec![(String::new(), "1".to_owned())], None));
        let many = (0..LARGEST).map(|_| Ok(b"data: 1\n\ndata: ".to_vec())).collect();
        assert_eq!(all(read(many)).await.0.len(), LARGEST);
    }

    #[tokio::test]
    async fn what_ends_a_stream_is_said_in_its_own_words() {
        let (_, ended) = all(read(vec![Err(io::Error::other("the cable was cut"))])).await;
        assert_eq!(ended.as_deref(), Some("the cable was cut"));
        let (_, ended) = all(read(vec![Ok(b"data: \xff\n\n".to_vec())])).await;
        assert!(ended.is_some_and(|why| why.contains("utf-8")));
    }
}
