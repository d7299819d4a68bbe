//! Ids of events, deliveries and targets.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The id of an event: a UUIDv7, so that sorting by id sorts by arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EventId(Uuid);

impl EventId {
    /// Makes a new id. It sorts after every id made before it in this process.
    pub fn fresh() -> Self {
        Self(Uuid::now_v7())
    }

    /// Makes an id from the 16 bytes that the inbox stores.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(Uuid::from_bytes(bytes))
    }

    /// Returns the 16 bytes that the inbox stores.
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

/// The id of a delivery: its event and its number among that event's deliveries, from 1. Printed as `<event id>.<n>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeliveryId {
    /// The event that is delivered.
    pub event: EventId,
    /// The delivery's number among the event's deliveries, from 1.
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

/// The id of a target: its row number in the inbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(transparent)]
pub struct TargetId(pub i64);

impl fmt::Display for TargetId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

/// The error for a text that is not an id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an id: {0}")]
pub struct IdError(String);

impl IdError {
    fn new(text: &str) -> Self {
        Self(crate::Plain(text).to_string())
    }
}
