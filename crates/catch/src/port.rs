//! What a port is for: who decides about a request from its head, and who takes the whole.

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

/// The body of an answer to a request that is served rather than taken.
pub type Served = UnsyncBoxBody<Bytes, BrokenOff>;

/// A body whose end never came.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the answer broke off: {0}")]
pub struct BrokenOff(pub String);

/// A whole request.
#[derive(Debug)]
pub struct Caught {
    /// The head as it came.
    pub head: Head,
    /// The body.
    pub body: Bytes,
    /// Who sent it.
    pub remote: SocketAddr,
    /// When its last byte was in.
    pub received_at: Timestamp,
    /// Its share of what may be in flight; given back when this is dropped.
    pub share: Share,
}

/// What becomes of a request, by its head.
#[derive(Debug)]
pub enum Way<P> {
    /// Its body is gathered, and the whole taken.
    Take(P),
    /// It is answered at once; its body is of no interest.
    Answer(Reply),
    /// It is noted and refused.
    Refuse(Denial),
    /// It is not captured, but served like any other HTTP request.
    Serve,
}

/// Who serves a port.
pub trait Port: Send + Sync + 'static {
    /// What a head was found to be meant for.
    type Destination: Send;

    /// The one path at which a connection may become something else than HTTP; nowhere without.
    fn upgrades_at(&self) -> Option<&'static str> {
        None
    }

    /// Whether somebody from there may come in as well; what is answered is held as long as the connection lasts.
    fn lets_in(&self, _remote: SocketAddr) -> Option<Box<dyn Send + Sync>> {
        Some(Box::new(()))
    }

    /// Decides from the head alone, before the body is read. `called`: what the head says was called.
    fn admit(
        &self,
        head: &Head,
        called: &Called<'_>,
        remote: SocketAddr,
    ) -> impl Future<Output = Way<Self::Destination>> + Send;

    /// What of the requests for this place, and for its like, may be in flight beside the limit for all.
    fn rooms(&self, _place: &Self::Destination) -> Vec<Room> {
        Vec::new()
    }

    /// Stores a whole request and says what to answer. Nothing may be answered 2xx that is not stored durably.
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

    /// Notes that a request was not taken, with what it was meant for where that was known.
    fn refused(&self, refusal: Refusal, place: Option<&Self::Destination>);
}

/// Makes the stream of a connection, such as one of TLS.
pub trait Opener: Clone + Send + Sync + 'static {
    /// What comes of it.
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    /// Opens a connection that was accepted.
    fn open(&self, stream: TcpStream) -> impl Future<Output = io::Result<Self::Stream>> + Send;
}

/// Connections as they are.
#[derive(Clone, Copy, Debug)]
pub struct Unencrypted;

impl Opener for Unencrypted {
    type Stream = TcpStream;

    async fn open(&self, stream: TcpStream) -> io::Result<TcpStream> {
        Ok(stream)
    }
}
