//! Gathers bodies within limits.

use std::{sync::Arc, time::Duration};

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::Instant,
};

use crate::{
    Head,
    head::BodyLength,
    refusal::{RefusalReason, Short},
};

/// How much a sender may use (Threat 7).
#[derive(Clone, Debug)]
pub struct Limits {
    /// The most bytes of one body.
    pub body: usize,
    /// The most bytes of all heads and bodies in flight.
    pub in_flight: usize,
    /// How long a head may take to arrive, and how long a connection may be idle.
    pub head_time: Duration,
    /// The longest pause within a body.
    pub body_pause: Duration,
    /// How long a sender may leave an answer unread.
    pub answer_pause: Duration,
    /// How long a body may take to arrive.
    pub body_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 25 * 1024 * 1024,
            in_flight: 256 * 1024 * 1024,
            head_time: Duration::from_secs(10),
            body_pause: Duration::from_secs(10),
            answer_pause: Duration::from_secs(30),
            body_time: Duration::from_secs(120),
        }
    }
}

/// A sender that sends nothing for this long has stopped writing and waits for the answer.
const DRAIN_PAUSE: Duration = Duration::from_millis(500);

/// Bytes in flight are counted in units of this many bytes.
const SHARE: usize = 1_024;

/// In each span of the longest pause, at least one 16th of the bytes that are there already must be added. A sender that
/// sends evenly always meets that, and nobody can make us hold much by sending little.
const LEAST: usize = 16;

/// How many bytes one of several parties may have in flight. Clones share the room.
#[derive(Clone, Debug)]
pub struct Room(Arc<Semaphore>);

impl Room {
    /// Makes room for this many bytes.
    pub fn new(bytes: usize) -> Self {
        Self(Arc::new(Semaphore::new(bytes / SHARE)))
    }

    /// Returns whether nothing is in flight in this room, and nobody else holds a clone of it.
    pub fn is_idle(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    /// Takes what this many bytes need beyond the units that are held already.
    fn share(&self, bytes: usize, held: usize) -> Option<OwnedSemaphorePermit> {
        let pieces = u32::try_from(bytes.div_ceil(SHARE).saturating_sub(held)).unwrap_or(u32::MAX);
        Arc::clone(&self.0).try_acquire_many_owned(pieces).ok()
    }
}

/// The bytes that a request takes up in each room that it is in. They are given back when this is dropped, so keep it
/// until the request, and whatever was made of it, is gone from memory.
#[derive(Debug, Default)]
pub struct Share(Vec<(Room, OwnedSemaphorePermit)>);

impl Share {
    /// Takes up nothing yet in these rooms.
    pub(crate) fn of(rooms: impl IntoIterator<Item = Room>) -> Option<Self> {
        let shares = rooms.into_iter().map(|room| {
            let share = room.share(0, 0)?;
            Some((room, share))
        });
        shares.collect::<Option<_>>().map(Self)
    }

    /// Takes room for this many bytes altogether. Returns `false` if there is none.
    pub(crate) fn grow(&mut self, bytes: usize) -> bool {
        self.0.iter_mut().all(|(room, share)| {
            let more = room.share(bytes, share.num_permits());
            more.map(|more| share.merge(more)).is_some()
        })
    }

    /// Gives back what is held beyond this many bytes.
    pub(crate) fn shrink(&mut self, bytes: usize) {
        for (_, share) in &mut self.0 {
            drop(share.split(share.num_permits().saturating_sub(bytes.div_ceil(SHARE))));
        }
    }
}

/// Gathers bodies.
#[derive(Clone)]
pub(crate) struct Intake {
    pub(crate) limits: Arc<Limits>,
    pub(crate) in_flight: Room,
}

impl Intake {
    pub(crate) fn new(limits: Limits) -> Self {
        let in_flight = Room::new(limits.in_flight);
        Self { limits: Arc::new(limits), in_flight }
    }

    /// Gathers a body within the limits, and within the rooms of the party that it is for. `share` is what its head
    /// takes up.
    pub(crate) async fn gather(
        &self,
        head: &Head,
        mut body: Incoming,
        mut share: Share,
        rooms: Vec<Room>,
    ) -> Result<(Bytes, Share), Short> {
        let started = Instant::now();
        let entered = Share::of(rooms).ok_or_else(|| self.full())?;
        share.0.extend(entered.0);
        if !share.grow(head.size()) {
            drop(share);
            self.drain_unless_asked(head, body).await;
            return Err(self.full());
        }
        if let BodyLength::Known(length) = head.body
            && length > self.limits.body as u64
        {
            self.drain_unless_asked(head, body).await;
            return Err(self.too_large());
        }
        let mut gathered = Gathered::default();
        let mut looked = (started, 0);
        loop {
            let rest = self.limits.body_time.saturating_sub(started.elapsed());
            let frame = tokio::time::timeout(rest.min(self.limits.body_pause), body.frame());
            let frame = match frame.await {
                Err(_) => return Err(Short::slow(gathered.size())),
                Ok(None) => return Ok((gathered.whole(), share)),
                Ok(Some(Err(_))) => return Err(Short::truncated(gathered.size(), head.body)),
                Ok(Some(Ok(frame))) => frame,
            };
            let Ok(data) = frame.into_data() else { continue }; // trailers
            let size = gathered.size() + data.len();
            if size > self.limits.body {
                self.drain(body).await;
                return Err(self.too_large());
            }
            if looked.0.elapsed() >= self.limits.body_pause {
                if size - looked.1 < looked.1 / LEAST {
                    return Err(Short::slow(size));
                }
                looked = (Instant::now(), size);
            }
            if !share.grow(head.size() + size) {
                drop((gathered, share));
                self.drain(body).await;
                return Err(self.full());
            }
            gathered.add(data);
        }
    }

    fn full(&self) -> Short {
        Short {
            status: 503,
            reason: RefusalReason::Unavailable,
            message: format!("more than {} bytes are already being received", self.limits.in_flight),
            hint: "try again in a moment",
        }
    }

    /// Like [`drain`](Self::drain), unless the sender asked before sending its body (`Expect`): then it can be answered
    /// without sending it.
    pub(crate) async fn drain_unless_asked(&self, head: &Head, body: Incoming) {
        if !head.headers.has("expect") {
            self.drain(body).await;
        }
    }

    /// Reads on for a while, so that a sender that is still writing gets to read the answer.
    async fn drain(&self, mut body: Incoming) {
        let mut rest = self.limits.body.saturating_mul(2);
        let drained = async {
            while let Ok(Some(Ok(frame))) = tokio::time::timeout(DRAIN_PAUSE, body.frame()).await {
                rest = rest.saturating_sub(frame.data_ref().map_or(0, Bytes::len));
                if rest == 0 {
                    break;
                }
            }
        };
        let _out_of_time = tokio::time::timeout(Duration::from_secs(5), drained).await;
    }

    fn too_large(&self) -> Short {
        Short {
            status: 413,
            reason: RefusalReason::TooLarge,
            message: format!("the body is larger than {} bytes", self.limits.body),
            hint: "send less at a time",
        }
    }
}

/// Collects the pieces of a body. A single piece, the usual case, is kept without copying.
#[derive(Default)]
struct Gathered {
    first: Bytes,
    rest: BytesMut,
}

impl Gathered {
    fn size(&self) -> usize {
        if self.rest.is_empty() { self.first.len() } else { self.rest.len() }
    }

    fn add(&mut self, piece: Bytes) {
        if self.first.is_empty() {
            self.first = piece;
            return;
        }
        if self.rest.is_empty() {
            self.rest.extend_from_slice(&self.first);
        }
        self.rest.extend_from_slice(&piece);
    }

    fn whole(self) -> Bytes {
        if self.rest.is_empty() { self.first } else { self.rest.freeze() }
    }
}
