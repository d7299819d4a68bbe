//! Names of events, deliveries and targets.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Names an event: a UUIDv7, so that sorting by id is sorting by arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EventId(Uuid);

impl EventId {
    /// A fresh id, later than every id made before it in this process.
    pub fn fresh() -> Self {
        Self(Uuid::now_v7())
    }

    /// From the sixteen bytes that the inbox stores.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(Uuid::from_bytes(bytes))
    }

    /// The sixteen bytes that the inbox stores.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl FromStr for EventId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self).map_err(|_| IdError::new(text))
    }
}

/// Names a delivery: its event and its number among that event's deliveries, from 1; printed `<event id>.<n>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeliveryId {
    /// The event that is delivered.
    pub event: EventId,
    /// Which of the event's deliveries, from 1.
    pub number: u32,
}

impl fmt::Display for DeliveryId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}.{}", self.event, self.number)
    }
}

impl FromStr for DeliveryId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (event, number) = text.split_once('.').ok_or_else(|| IdError::new(text))?;
        let number = number.parse().map_err(|_| IdError::new(text))?;
        Ok(Self { event: event.parse()?, number })
    }
}

impl Serialize for DeliveryId {
    fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for DeliveryId {
    fn deserialize<D: serde::Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        String::deserialize(input)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Names a target: its row number in the inbox.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, utoipa::ToSchema,
)]
#[serde(transparent)]
pub struct TargetId(pub i64);

impl fmt::Display for TargetId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// A text that names nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an id: {0}")]
pub struct IdError(String);

impl IdError {
    fn new(text: &str) -> Self {
        Self(crate::Plain(text).to_string())
    }
}
