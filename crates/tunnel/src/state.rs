//! How a tunnel is, without a lie.

use std::time::Duration;

use hookmitt_event::Timestamp;
use hookmitt_wire::Depth;

use crate::{TunnelError, Why};

/// The state of a tunnel.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// The relay is being called.
    Connecting {
        /// The how-manieth time since there was a connection, from 1.
        attempt: u32,
        /// Why the last one failed.
        last_error: Option<TunnelError>,
    },
    /// The relay knows us, and answered within the last seconds.
    Connected {
        /// Since when.
        since: Timestamp,
        /// The public URL of the tunnel, without a slash at its end.
        public_url: String,
        /// How long the last heartbeat took there and back.
        rtt: Option<Duration>,
        /// What waits at the relay, as it said last.
        depth: Depth,
        /// Letters that are here, and not yet stored.
        unacked: u64,
        /// Everything that waited when this connection was made is stored here.
        caught_up: bool,
    },
    /// There is no connection.
    Offline {
        /// Since when: the last moment at which the relay was heard.
        since: Timestamp,
        /// Why it broke off.
        why: Why,
        /// What went wrong last.
        error: Option<TunnelError>,
        /// When the relay is called again.
        next_try: Option<Timestamp>,
    },
    /// The relay won't have us, and trying again won't help: a person is needed. It is tried once a minute all the same.
    Refused {
        /// What it said.
        error: TunnelError,
    },
}
