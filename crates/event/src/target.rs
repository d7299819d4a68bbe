//! Where events go.

use std::{fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{Slug, TargetId, Timestamp};

/// The order in which a target gets its events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OrderMode {
    /// One at a time in order of arrival; a failing event steps aside until its retry.
    #[default]
    Sequential,
    /// Strict: the head blocks until it is completed or dead.
    Fifo,
    /// Strict for each object; objects side by side.
    FifoByKey,
    /// Up to so many at a time.
    Parallel(u16),
}

/// A text that names no order mode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an order mode: use sequential, fifo, fifo-by-key or parallel:N with N from 1 to 256")]
pub struct OrderModeError;

impl OrderMode {
    /// How many deliveries may run at once.
    pub fn width(self) -> u16 {
        match self {
            Self::Sequential | Self::Fifo => 1,
            Self::FifoByKey => 16,
            Self::Parallel(width) => width,
        }
    }
}

impl fmt::Display for OrderMode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sequential => out.write_str("sequential"),
            Self::Fifo => out.write_str("fifo"),
            Self::FifoByKey => out.write_str("fifo-by-key"),
            Self::Parallel(width) => write!(out, "parallel:{width}"),
        }
    }
}

impl FromStr for OrderMode {
    type Err = OrderModeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "sequential" => Ok(Self::Sequential),
            "fifo" => Ok(Self::Fifo),
            "fifo-by-key" => Ok(Self::FifoByKey),
            other => {
                let width = other.strip_prefix("parallel:").and_then(|width| width.parse().ok());
                width.filter(|width| (1..=256).contains(width)).map(Self::Parallel).ok_or(OrderModeError)
            }
        }
    }
}

impl Serialize for OrderMode {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for OrderMode {
    fn deserialize<D: serde::Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        String::deserialize(input)?.parse().map_err(serde::de::Error::custom)
    }
}

/// When a failed attempt is tried again: exponential backoff with full jitter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Attempts in all, from 1.
    pub attempts: u32,
    /// The longest wait before the second attempt.
    pub base: Duration,
    /// The longest wait before any attempt.
    pub cap: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { attempts: 5, base: Duration::from_secs(1), cap: Duration::from_secs(60) }
    }
}

impl RetryPolicy {
    /// The longest wait after attempt `number` (from 1); the real one is uniform between zero and this.
    pub fn ceiling(&self, number: u32) -> Duration {
        let doubled = 2u32.saturating_pow(number.saturating_sub(1).min(31));
        self.base.saturating_mul(doubled).min(self.cap)
    }
}

/// Where events go: a URL, with its order mode, time limit and retry policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Its id.
    pub id: TargetId,
    /// The source whose events it gets; `None` for every source.
    pub source: Option<Slug>,
    /// Its base URL, `http` or `https`.
    pub url: String,
    /// The order in which it gets its events.
    pub order: OrderMode,
    /// How long one attempt may take.
    pub timeout: Duration,
    /// When a failed attempt is tried again.
    pub retry: RetryPolicy,
    /// The sender's Host line goes out instead of the target's.
    pub preserve_host: bool,
    /// The `x-hookmitt-*` lines are added.
    pub hookmitt_headers: bool,
    /// Paused by hand.
    pub paused: bool,
    /// Nobody answered there since then: it drains when it answers again.
    pub down_since: Option<Timestamp>,
    /// How long it lasts.
    pub kind: TargetKind,
}

/// How long a target lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// Until it is removed.
    Kept,
    /// Until the command that made it (`listen`) ends.
    Session,
    /// A URL given once (`--to`): it gets no events by itself.
    Once,
}

impl TargetKind {
    /// Every kind, in the order in which the inbox numbers them from 0.
    pub const ALL: [Self; 3] = [Self::Kept, Self::Session, Self::Once];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_cap() {
        let policy = RetryPolicy::default();
        let waits: Vec<_> = [1, 2, 3, 7, 40].map(|number| policy.ceiling(number).as_secs()).into();
        assert_eq!(waits, [1, 2, 4, 60, 60]);
    }

    #[test]
    fn order_modes_read_as_they_print() {
        for text in ["sequential", "fifo", "fifo-by-key", "parallel:4"] {
            assert_eq!(text.parse::<OrderMode>().unwrap().to_string(), text);
        }
        assert_eq!("parallel:0".parse::<OrderMode>(), Err(OrderModeError));
    }
}
