//! What was refused of tunnels, and what became too old for devices: as it is written, and what is not written yet.

use std::collections::HashMap;

use super::{records::CountRecord, table::Versioned};
use crate::{DeviceKey, age::Moment};

/// What a count is of: a tunnel, or one of its devices.
pub(super) type Whose = (String, Option<DeviceKey>);

/// All counts.
#[derive(Debug, Default)]
pub(super) struct Counts {
    written: HashMap<Whose, Versioned<CountRecord>>,
    counted: HashMap<Whose, CountRecord>,
}

impl Counts {
    /// What the bucket says under a tunnel's key, or with `device` under one of its devices'.
    pub(super) fn learn(&mut self, tunnel: &str, device: &str, value: &[u8], revision: u64) {
        let mut key = DeviceKey::default();
        let device = match device {
            "" => None,
            _ if hex::decode_to_slice(device, &mut key).is_ok() => Some(key),
            _ => return,
        };
        if let Ok(record) = serde_json::from_slice(value) {
            self.set((tunnel.to_owned(), device), Versioned { record, revision });
        }
    }

    /// A count is written.
    pub(super) fn set(&mut self, whose: Whose, count: Versioned<CountRecord>) {
        if self.written.get(&whose).is_none_or(|known| known.revision < count.revision) {
            self.written.insert(whose, count);
        }
    }

    /// Counts more, in memory.
    pub(super) fn add(&mut self, whose: Whose, more: &CountRecord) {
        self.counted.entry(whose).or_default().add(more);
    }

    /// What was counted since this was asked last; to be written, or counted again.
    pub(super) fn take(&mut self) -> HashMap<Whose, CountRecord> {
        std::mem::take(&mut self.counted)
    }

    /// What a device hears of: what was refused of its tunnel, and what became too old for it.
    pub(super) fn of(&self, tunnel: &str, device: &DeviceKey) -> CountRecord {
        let mut count = CountRecord::default();
        for whose in [(tunnel.to_owned(), None), (tunnel.to_owned(), Some(*device))] {
            let (written, counted) = (self.written.get(&whose), self.counted.get(&whose));
            for part in written.map(|written| &written.record).into_iter().chain(counted) {
                count.add(part);
            }
        }
        count
    }
}

impl CountRecord {
    /// One that was refused, or is lost.
    pub(super) fn one(now: Moment) -> Self {
        Self { refused: 1, refused_at: Some(now.wall), unknown: 0 }
    }

    /// Adds what was counted elsewhere.
    pub(super) fn add(&mut self, more: &Self) {
        self.refused += more.refused;
        self.unknown += more.unknown;
        self.refused_at = self.refused_at.max(more.refused_at);
    }
}
