//! What a port has to implement: it decides about a request by its head, and takes the whole request.

use std::{convert::Infallible, future::Future, io, net::SocketAddr};

use bytes::Bytes;
use hookmitt_event::Timestamp;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Empty, combinators::UnsyncBoxBody};
use hyper::body::Incoming;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};

use crate::{Called, Denial, Head, Refusal, Reply, Room, Share};

/// The body of an answer to a request that is served rather than captured.
pub type Served = UnsyncBoxBody<Bytes, BrokenOff>;

/// The end of a body never came.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the answer was cut off: {0}")]
pub struct BrokenOff(pub String);

/// A whole request.
#[derive(Debug)]
pub struct Caught {
    /// The head as it came.
    pub head: Head,
    /// The body.
    pub body: Bytes,
    /// The sender's address.
    pub remote: SocketAddr,
    /// When its last byte arrived.
    pub received_at: Timestamp,
    /// Its share of the bytes in flight, given back when this is dropped.
    pub share: Share,
}

/// What to do with a request, decided by its head.
#[derive(Debug)]
pub enum Way<P> {
    /// Gather its body and hand over the whole request.
    Take(P),
    /// Answer it at once; its body doesn't matter.
    Answer(Reply),
    /// Note it and refuse it.
    Refuse(Denial),
    /// Serve it like any other HTTP request instead of capturing it.
    Serve,
}

/// Decides about the requests to a port, and takes them.
pub trait Port: Send + Sync + 'static {
    /// What a request was found to be for.
    type Destination: Send;

    /// The only path at which a connection may be upgraded to another protocol; `None` if there is none.
    fn upgrades_at(&self) -> Option<&'static str> {
        None
    }

    /// Returns whether another connection from this address is let in. What it returns is kept until the connection
    /// ends.
    fn lets_in(&self, _remote: SocketAddr) -> Option<Box<dyn Send + Sync>> {
        Some(Box::new(()))
    }

    /// Decides by the head alone, before the body is read. `called` is what the head says was called.
    fn admit(
        &self,
        head: &Head,
        called: &Called<'_>,
        remote: SocketAddr,
    ) -> impl Future<Output = Way<Self::Destination>> + Send;

    /// Returns the rooms for bytes in flight, besides the common limit, of requests for this destination.
    fn rooms(&self, _place: &Self::Destination) -> Vec<Room> {
        Vec::new()
    }

    /// Stores a whole request and returns the answer. The answer may be a 2xx only if the request is stored durably.
    fn caught(&self, place: Self::Destination, caught: Caught) -> impl Future<Output = Reply> + Send;

    /// Serves a request that is not captured.
    fn serve(
        &self,
        _request: Request<Incoming>,
        _remote: SocketAddr,
    ) -> impl Future<Output = Response<Served>> + Send {
        let nothing = Empty::new().map_err(|never: Infallible| match never {});
        std::future::ready(Response::new(nothing.boxed_unsync()))
    }

    /// Notes that a request was refused, and what it was for if that is known.
    fn refused(&self, refusal: Refusal, place: Option<&Self::Destination>);
}

/// Makes the stream of an accepted connection, for example a TLS stream.
pub trait Opener: Clone + Send + Sync + 'static {
    /// The stream that it makes.
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    /// Opens the stream of an accepted connection.
    fn open(&self, stream: TcpStream) -> impl Future<Output = io::Result<Self::Stream>> + Send;
}

/// Leaves connections as they are.
#[derive(Clone, Copy, Debug)]
pub struct Unencrypted;

impl Opener for Unencrypted {
    type Stream = TcpStream;

    async fn open(&self, stream: TcpStream) -> io::Result<TcpStream> {
        Ok(stream)
    }
}
