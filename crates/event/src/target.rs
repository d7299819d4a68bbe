//! Targets: where events go.

use std::{fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{NoConnection, Slug, TargetId, Timestamp};

/// The order in which a target gets its events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OrderMode {
    /// One event at a time, in order of arrival. A failing event lets the next ones pass until its retry.
    #[default]
    Sequential,
    /// One event at a time, in strict order. The oldest event blocks all later ones until its delivery ends.
    Fifo,
    /// Strict order for each object; events about different objects are sent in parallel.
    FifoByKey,
    /// Up to this many events at a time.
    Parallel(u16),
}

/// The error for a text that is not an order mode.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an order mode: use sequential, fifo, fifo-by-key or parallel:N with N from 1 to 256")]
pub struct OrderModeError;

impl OrderMode {
    /// Whether an event whose sender waits for the answer may overtake those before it.
    pub fn lets_pass(self) -> bool {
        match self {
            Self::Sequential | Self::Parallel(_) => true,
            Self::Fifo | Self::FifoByKey => false,
        }
    }

    /// Returns how many deliveries may run at once.
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

/// When a failed attempt is retried: exponential backoff with full jitter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The maximum number of attempts, at least 1.
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
    /// Returns the longest wait after attempt `number` (from 1). The actual wait is random, uniform between zero and
    /// this.
    pub fn ceiling(&self, number: u32) -> Duration {
        let doubled = 2u32.saturating_pow(number.saturating_sub(1).min(31));
        self.base.saturating_mul(doubled).min(self.cap)
    }
}

/// Where events go: a URL, with its order mode, timeout and retry policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The target's id.
    pub id: TargetId,
    /// The source whose events the target gets; `None` for every source.
    pub source: Option<Slug>,
    /// The base URL, `http` or `https`.
    pub url: String,
    /// The order in which the target gets its events.
    pub order: OrderMode,
    /// The timeout of one attempt.
    pub timeout: Duration,
    /// When a failed attempt is retried.
    pub retry: RetryPolicy,
    /// Whether requests carry the sender's Host line instead of the target's.
    pub preserve_host: bool,
    /// Whether the `x-hookmitt-*` lines are added.
    pub hookmitt_headers: bool,
    /// Whether a person paused the target.
    pub paused: bool,
    /// Since when its deliveries are held up, because nobody answers. They are sent when somebody answers again.
    pub down_since: Option<Timestamp>,
    /// How long the target lasts.
    pub kind: TargetKind,
}

/// What was last found at a target, by sending or by looking whether somebody listens there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum TargetState {
    /// Nothing was sent there yet, and nobody has looked.
    #[default]
    Untried,
    /// Somebody answered.
    Answered {
        /// When that was seen last.
        #[cfg_attr(feature = "schema", schema(value_type = String, format = "date-time"))]
        at: Timestamp,
    },
    /// Nobody answers.
    Silent {
        /// Since when, as far as is known.
        #[cfg_attr(feature = "schema", schema(value_type = String, format = "date-time"))]
        since: Timestamp,
        /// Why, as last seen.
        why: NoConnection,
        /// What went wrong, in words.
        error: String,
    },
}

/// How long a target lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// Until it is removed.
    Kept,
    /// Until the command that made it (`listen`) ends.
    Session,
    /// A URL that was given once (`--to`). It gets no events by itself.
    Once,
}

impl TargetKind {
    /// Every kind. The inbox stores a kind as its position here, from 0.
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
