//! The records of all tunnels, devices and tokens in memory, as the buckets' watchers and this relay's own changes tell.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use hookmitt_wire::{Depth, SourceOffer};
use serde::de::DeserializeOwned;

use super::{
    counts::{Counts, Whose},
    index::Waiting,
    names::unword,
    records::{CountRecord, CursorRecord, DeviceRecord, TokenRecord, TunnelRecord, first_letters},
    table::Versioned,
};
use crate::{COUNTED, Device, DeviceKey, Token, Tunnel, offers};

#[derive(Debug, Default)]
struct Mirror {
    tunnels: HashMap<String, Versioned<TunnelRecord>>,
    /// As requests ask for them: made when one first does, forgotten when something of it changes.
    shown: HashMap<String, Arc<Tunnel>>,
    tokens: HashMap<String, Versioned<TokenRecord>>,
    cursors: HashMap<String, HashMap<DeviceKey, Versioned<CursorRecord>>>,
    offers: HashMap<String, HashMap<DeviceKey, Versioned<Vec<SourceOffer>>>>,
    counts: Counts,
}

/// All records.
#[derive(Debug, Default)]
pub(super) struct Registry(Mutex<Mirror>);

impl Registry {
    /// Takes what a bucket says of a key. Answers the tunnels whose letters may be wanted by nobody now.
    pub(super) fn learn(&self, key: &str, value: &[u8], revision: u64) -> Vec<String> {
        let mut mirror = self.mirror();
        let Some((kind, name)) = key.split_once('.') else { return Vec::new() };
        let (name, rest) = name.split_once('.').unwrap_or((name, ""));
        let Some(name) = unword(name) else { return Vec::new() };
        let name = name.as_ref();
        match kind {
            "tunnel" => {
                newer(&mut mirror.tunnels, name, value, revision);
                mirror.shown.remove(name);
                return vec![name.to_owned()];
            }
            "offer" => mirror.learn_offer(name, rest, value, revision),
            "token" => {
                newer(&mut mirror.tokens, name, value, revision);
                return mirror.token_changed(name);
            }
            "count" => mirror.counts.learn(name, rest, value, revision),
            "cursor" => return mirror.learn_cursor(name, rest, value, revision).into_iter().collect(),
            _ => {}
        }
        Vec::new()
    }

    pub(super) fn set_tunnel(&self, name: &str, record: Versioned<TunnelRecord>) {
        let mut mirror = self.mirror();
        put_newer(&mut mirror.tunnels, name, record);
        mirror.shown.remove(name);
    }

    pub(super) fn set_token(&self, id: &str, record: Versioned<TokenRecord>) {
        let mut mirror = self.mirror();
        put_newer(&mut mirror.tokens, id, record);
        mirror.token_changed(id);
    }

    pub(super) fn set_offer(&self, tunnel: &str, device: DeviceKey, offer: Versioned<Vec<SourceOffer>>) {
        self.mirror().set_offer(tunnel, device, offer);
    }

    pub(super) fn set_count(&self, whose: Whose, record: Versioned<CountRecord>) {
        self.mirror().counts.set(whose, record);
    }

    pub(super) fn set_cursor(&self, tunnel: &str, device: DeviceKey, record: Versioned<CursorRecord>) {
        self.mirror().set_cursor(tunnel, device, record);
    }

    /// A tunnel that is not shut.
    pub(super) fn tunnel(&self, name: &str) -> Option<Arc<Tunnel>> {
        let mut mirror = self.mirror();
        if let Some(shown) = mirror.shown.get(name) {
            return Some(Arc::clone(shown));
        }
        let record = &mirror.tunnels.get(name).filter(|known| !known.record.shut)?.record;
        let shown = Arc::new(Tunnel {
            name: name.to_owned(),
            token: record.token.clone(),
            sealing_key: record.sealing_key,
            sources: mirror.sources(name, &record.devices),
            devices: record.devices.iter().map(|device| device.key).collect(),
            letters: record.devices.iter().map(|device| device.letters).min().unwrap_or_else(first_letters),
            revoked: mirror.is_revoked(&record.token),
        });
        mirror.shown.insert(name.to_owned(), Arc::clone(&shown));
        Some(shown)
    }

    /// Whether several devices take part in a tunnel.
    pub(super) fn is_shared(&self, name: &str) -> bool {
        self.mirror().tunnels.get(name).is_some_and(|tunnel| tunnel.record.devices.len() > 1)
    }

    /// The revision at which a tunnel's record was seen; 0 where none was.
    pub(super) fn revision(&self, name: &str) -> u64 {
        self.mirror().tunnels.get(name).map_or(0, |tunnel| tunnel.revision)
    }

    /// The revision at which a token's record was seen; 0 where none was.
    pub(super) fn token_revision(&self, id: &str) -> u64 {
        self.mirror().tokens.get(id).map_or(0, |token| token.revision)
    }

    /// Whether a token is known.
    pub(super) fn knows_token(&self, id: &str) -> bool {
        self.mirror().tokens.contains_key(id)
    }

    /// The record of a tunnel.
    pub(super) fn record(&self, name: &str) -> Option<Versioned<TunnelRecord>> {
        self.mirror().tunnels.get(name).cloned()
    }

    /// A device's cursor.
    pub(super) fn cursor(&self, tunnel: &str, device: &DeviceKey) -> Option<Versioned<CursorRecord>> {
        self.mirror().cursors.get(tunnel)?.get(device).cloned()
    }

    /// When a device was there last, in store time, where that is known.
    pub(super) fn there_at(&self, tunnel: &str, device: &DeviceKey) -> Option<i64> {
        self.cursor(tunnel, device)?.record.there_at
    }

    /// Up to where nobody wants a tunnel's letters, as was settled by whoever looked at all of its devices.
    pub(super) fn floor(&self, tunnel: &str) -> u64 {
        let mirror = self.mirror();
        let Some(Versioned { record, .. }) = mirror.tunnels.get(tunnel) else { return 0 };
        if record.shut && record.used || mirror.is_revoked(&record.token) {
            return u64::MAX;
        }
        let cursors = mirror.cursors.get(tunnel).into_iter().flatten();
        cursors.map(|(_, known)| known.record.floor).fold(record.floor, u64::max)
    }

    /// Up to where all of these devices have a tunnel's letters, if `ahead` has them up to its position.
    pub(super) fn slowest(
        &self,
        tunnel: &str,
        devices: &[DeviceRecord],
        ahead: Option<(&DeviceKey, u64)>,
    ) -> u64 {
        let mirror = self.mirror();
        let cursors = devices.iter().map(|device| {
            let ahead = ahead.filter(|(key, _)| **key == device.key).map_or(0, |(_, through)| through);
            mirror.device(tunnel, device).cursor.max(ahead)
        });
        cursors.min().unwrap_or(u64::MAX)
    }

    /// The devices of an open tunnel.
    pub(super) fn devices(&self, tunnel: &str) -> Option<Vec<Device>> {
        let mirror = self.mirror();
        let record = &mirror.tunnels.get(tunnel)?.record;
        if record.shut || mirror.is_revoked(&record.token) {
            return None;
        }
        let owner = record.owner();
        let device = |device: &DeviceRecord| Device {
            is_owner: owner == Some(device.key),
            ..mirror.device(tunnel, device)
        };
        Some(record.devices.iter().map(device).collect())
    }

    /// All tokens, oldest first.
    pub(super) fn tokens(&self) -> Vec<Token> {
        let mirror = self.mirror();
        let mut tokens: Vec<_> =
            mirror.tokens.iter().map(|(id, token)| mirror.token(id, &token.record)).collect();
        tokens.sort_by(|one, other| (one.created_at, &one.id).cmp(&(other.created_at, &other.id)));
        tokens
    }

    /// The names of a token's tunnels that are not shut.
    pub(super) fn tunnels_of(&self, token: &str) -> Vec<String> {
        self.mirror().tunnels_of(token)
    }

    /// The names of a token's tunnels that count: those that are not shut, and those that were a short while ago, `now` in
    /// store time.
    pub(super) fn counted_of(&self, token: &str, now: i64) -> Vec<String> {
        let since = now.saturating_sub(COUNTED);
        self.mirror().named(|record| record.token == token && (!record.shut || record.shut_at > Some(since)))
    }

    /// Whether a tunnel is known to have had no letter and no device yet.
    pub(super) fn is_unused(&self, name: &str) -> bool {
        self.mirror().tunnels.get(name).is_some_and(|tunnel| !tunnel.record.used)
    }

    /// The names of the tunnels that take letters.
    pub(super) fn open_tunnels(&self) -> Vec<String> {
        let mirror = self.mirror();
        let open = mirror.tunnels.iter();
        let open = open.filter(|(_, tunnel)| !tunnel.record.shut && !mirror.is_revoked(&tunnel.record.token));
        open.map(|(name, _)| name.clone()).collect()
    }

    /// Counts what was refused of a tunnel, or became too old for one of its devices, in memory.
    pub(super) fn count(&self, whose: Whose, more: &CountRecord) {
        let mut mirror = self.mirror();
        if mirror.tunnels.contains_key(&whose.0) {
            mirror.counts.add(whose, more);
        }
    }

    /// What was counted here since this was asked last; to be written, or counted again.
    pub(super) fn take_counted(&self) -> HashMap<Whose, CountRecord> {
        self.mirror().counts.take()
    }

    /// What waits for a device, and what was refused.
    pub(super) fn depth(&self, tunnel: &str, device: &DeviceKey, waiting: Waiting) -> Depth {
        let Waiting { letters, bytes, oldest } = waiting;
        let CountRecord { refused, refused_at, unknown } = self.mirror().counts.of(tunnel, device);
        Depth { letters, bytes, oldest, refused, refused_at, unknown }
    }

    fn mirror(&self) -> MutexGuard<'_, Mirror> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Mirror {
    fn is_revoked(&self, token: &str) -> bool {
        self.tokens.get(token).is_some_and(|token| token.record.revoked_at.is_some())
    }

    fn device(&self, tunnel: &str, device: &DeviceRecord) -> Device {
        let known = self.cursors.get(tunnel).and_then(|cursors| cursors.get(&device.key));
        let CursorRecord { cursor, seen_at, .. } =
            known.map_or_else(CursorRecord::default, |known| known.record);
        Device {
            key: device.key,
            name: device.name.clone(),
            cursor: cursor.max(device.from),
            seen_at: seen_at.max(device.joined_at),
            joined_at: device.joined_at,
            is_owner: false,
            letters: device.letters,
            proof: device.proof,
            note: device.note.clone().into(),
        }
    }

    /// What the devices of a tunnel take.
    fn sources(&self, tunnel: &str, devices: &[DeviceRecord]) -> Vec<SourceOffer> {
        let Some(known) = self.offers.get(tunnel) else { return Vec::new() };
        let known = devices.iter().filter_map(|device| known.get(&device.key));
        offers::of_all(known.map(|offer| offer.record.as_slice()))
    }

    fn set_offer(&mut self, tunnel: &str, device: DeviceKey, offer: Versioned<Vec<SourceOffer>>) {
        let offers = self.offers.entry(tunnel.to_owned()).or_default();
        if offers.get(&device).is_none_or(|known| known.revision < offer.revision) {
            offers.insert(device, offer);
            self.shown.remove(tunnel);
        }
    }

    fn learn_offer(&mut self, tunnel: &str, device: &str, value: &[u8], revision: u64) {
        let mut key = DeviceKey::default();
        if hex::decode_to_slice(device, &mut key).is_ok()
            && let Ok(record) = serde_json::from_slice(value)
        {
            self.set_offer(tunnel, key, Versioned { record, revision });
        }
    }

    fn set_cursor(&mut self, tunnel: &str, device: DeviceKey, record: Versioned<CursorRecord>) {
        let cursors = self.cursors.entry(tunnel.to_owned()).or_default();
        if cursors.get(&device).is_none_or(|known| known.revision < record.revision) {
            cursors.insert(device, record);
        }
    }

    fn learn_cursor(&mut self, tunnel: &str, device: &str, value: &[u8], revision: u64) -> Option<String> {
        let mut key = DeviceKey::default();
        hex::decode_to_slice(device, &mut key).ok()?;
        let record = Versioned { record: serde_json::from_slice(value).ok()?, revision };
        self.set_cursor(tunnel, key, record);
        Some(tunnel.to_owned())
    }

    /// Forgets what was shown of a token's tunnels. Answers those that are revoked with it.
    fn token_changed(&mut self, token: &str) -> Vec<String> {
        let tunnels = self.tunnels_of(token);
        for tunnel in &tunnels {
            self.shown.remove(tunnel);
        }
        if self.is_revoked(token) { tunnels } else { Vec::new() }
    }

    fn tunnels_of(&self, token: &str) -> Vec<String> {
        self.named(|record| record.token == token && !record.shut)
    }

    fn named(&self, is_meant: impl Fn(&TunnelRecord) -> bool) -> Vec<String> {
        let meant = self.tunnels.iter().filter(|(_, tunnel)| is_meant(&tunnel.record));
        meant.map(|(name, _)| name.clone()).collect()
    }

    fn token(&self, id: &str, record: &TokenRecord) -> Token {
        let mut tunnels = self.tunnels_of(id);
        tunnels.sort();
        Token {
            id: id.to_owned(),
            name: record.name.clone(),
            created_at: record.created_at,
            used_at: record.used_at,
            revoked_at: record.revoked_at,
            most_tunnels: record.most_tunnels,
            tunnels,
        }
    }
}

fn newer<R: DeserializeOwned>(
    all: &mut HashMap<String, Versioned<R>>,
    name: &str,
    value: &[u8],
    revision: u64,
) {
    if let Ok(record) = serde_json::from_slice(value) {
        put_newer(all, name, Versioned { record, revision });
    }
}

fn put_newer<R>(all: &mut HashMap<String, Versioned<R>>, name: &str, record: Versioned<R>) {
    if all.get(name).is_none_or(|known| known.revision < record.revision) {
        all.insert(name.to_owned(), record);
    }
}
