//! The options of a tunnel.

use std::{sync::Arc, time::Duration};

use hookmitt_clock::{Clock, MachineClock};
use hookmitt_event::Timestamp;

use crate::{Horizon, Line, Network};

/// The options of a tunnel.
#[derive(Clone)]
pub struct Options {
    /// How relays are reached.
    pub network: Network,
    /// The handle through which other code talks to the tunnel.
    pub line: Line,
    /// The program's name and version, for the relay's log.
    pub app: String,
    /// The wall clock.
    pub clock: Arc<dyn Clock>,
    /// Since when there has been no connection, if that is known from an earlier run.
    pub offline_since: Option<Timestamp>,
    /// The time up to which everything that the relay received has arrived.
    pub horizon: Horizon,
    /// Intervals and time limits.
    pub pace: Pace,
    /// How many letters the relay may send before we acknowledge the first of them.
    pub window: u32,
    /// How many bytes these letters may have. The last letter may exceed the limit.
    pub window_bytes: u32,
}

/// Intervals and time limits of a tunnel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// The time from one heartbeat to the next.
    pub heartbeat: Duration,
    /// After this much silence the connection counts as dead.
    pub silence: Duration,
    /// How long connecting may take, and then how long the handshake may take.
    pub hello: Duration,
    /// The longest pause before reconnecting.
    pub longest_pause: Duration,
    /// The pause before reconnecting to a relay that refused us.
    pub refused_pause: Duration,
    /// The pause before letters that could not be stored are handed over again.
    pub later: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            network: Network::new(),
            line: Line::new(),
            app: concat!("hookmitt/", env!("CARGO_PKG_VERSION")).to_owned(),
            clock: Arc::new(MachineClock),
            offline_since: None,
            horizon: Horizon::default(),
            pace: Pace::default(),
            window: 1024,
            window_bytes: 32 * 1024 * 1024,
        }
    }
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            heartbeat: Duration::from_secs(10),
            silence: Duration::from_secs(15),
            hello: Duration::from_secs(10),
            longest_pause: Duration::from_secs(10),
            refused_pause: Duration::from_secs(60),
            later: Duration::from_secs(1),
        }
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Options").field("app", &self.app).field("pace", &self.pace).finish_non_exhaustive()
    }
}
