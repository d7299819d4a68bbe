//! The state of a tunnel, always the true one.

use std::time::Duration;

use hookmitt_event::{GapWhy, Timestamp};
use hookmitt_wire::Depth;

use crate::TunnelError;

/// The state of a tunnel.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// We are connecting to the relay.
    Connecting {
        /// The number of attempts since the last connection, from 1.
        attempt: u32,
        /// Why the last attempt failed.
        last_error: Option<TunnelError>,
    },
    /// The relay let us in, and has answered within the last seconds.
    Connected {
        /// Since when.
        since: Timestamp,
        /// The tunnel's public URL, without a slash at the end.
        public_url: String,
        /// The round-trip time of the last heartbeat.
        rtt: Option<Duration>,
        /// What waits at the relay, by its last report.
        depth: Depth,
        /// How many letters have arrived but are not stored yet.
        unacked: u64,
        /// Whether everything that waited when this connection was made is stored here.
        caught_up: bool,
    },
    /// There is no connection.
    Offline {
        /// Since when: the last time that anything was heard from the relay.
        since: Timestamp,
        /// Why: how the connection ended, or, once a new one was tried, why that failed.
        why: GapWhy,
        /// Why the latest try failed; `None` if none was made since the connection ended.
        error: Option<TunnelError>,
        /// When we will reconnect.
        next_try: Option<Timestamp>,
    },
    /// The relay refuses us, and only a person can change that. We still try once a minute.
    Refused {
        /// What the relay said, or what is wrong here.
        error: TunnelError,
    },
}
