//! What a tunnel is kept with.

use std::{sync::Arc, time::Duration};

use hookmitt_clock::{Clock, MachineClock};
use hookmitt_event::Timestamp;

use crate::{Horizon, Line, Network};

/// What a tunnel is kept with.
#[derive(Clone)]
pub struct Options {
    /// How relays are reached.
    pub network: Network,
    /// By which others speak to it.
    pub line: Line,
    /// The program and its version, for the relay's log.
    pub app: String,
    /// The wall clock.
    pub clock: Arc<dyn Clock>,
    /// Since when there has been no connection, where that is known from an earlier time.
    pub offline_since: Option<Timestamp>,
    /// Up to when everything is here that the relay received.
    pub horizon: Horizon,
    /// How patient it is.
    pub pace: Pace,
    /// The most letters that may be on the way unacknowledged.
    pub window: u32,
    /// The most bytes of them; the last of them may reach beyond.
    pub window_bytes: u32,
}

/// How patient a tunnel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// From one heartbeat to the next.
    pub heartbeat: Duration,
    /// After so much silence the connection is dead.
    pub silence: Duration,
    /// How long it may take to connect, and then to be let in.
    pub hello: Duration,
    /// The longest pause before the relay is called again.
    pub longest_pause: Duration,
    /// The pause before it is asked again whether it still refuses us.
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
