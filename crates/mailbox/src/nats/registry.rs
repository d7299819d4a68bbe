//! The records of all tunnels, devices and tokens in memory. The buckets' watchers and this relay's own changes update
//! it.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use hookmitt_wire::SourceOffer;

use super::{
    names::Key,
    records::{CursorRecord, DeviceRecord, TokenRecord, TunnelRecord, first_letters},
    table::{Versioned, keep_newer},
};
use crate::{COUNTED, Device, DeviceKey, Token, Tunnel, offers};

#[derive(Debug, Default)]
struct Mirror {
    tunnels: HashMap<String, Versioned<TunnelRecord>>,
    /// Tunnels in the form that requests need: built at the first request, removed when a record behind it changes.
    shown: HashMap<String, Arc<Tunnel>>,
    tokens: HashMap<String, Versioned<TokenRecord>>,
    cursors: HashMap<String, HashMap<DeviceKey, Versioned<CursorRecord>>>,
    offers: HashMap<String, HashMap<DeviceKey, Versioned<Vec<SourceOffer>>>>,
}

/// All records, in memory.
#[derive(Debug, Default)]
pub(super) struct Registry(Mutex<Mirror>);

impl Registry {
    /// Takes in a bucket's record under a key. Returns the tunnels that may now have letters which nobody wants.
    pub(super) fn learn(&self, key: &Key<'_>, value: &[u8], revision: u64) -> Vec<String> {
        let mut mirror = self.mirror();
        let name = key.name.as_ref();
        match (key.kind, key.device()) {
            ("tunnel", _) => {
                if let Some(record) = Versioned::parse(value, revision) {
                    mirror.set_tunnel(name, record);
                }
                vec![name.to_owned()]
            }
            ("token", _) => {
                if let Some(record) = Versioned::parse(value, revision) {
                    keep_newer(&mut mirror.tokens, name.to_owned(), record);
                }
                mirror.token_changed(name)
            }
            ("offer", Some(device)) => {
                if let Some(offer) = Versioned::parse(value, revision) {
                    mirror.set_offer(name, device, offer);
                }
                Vec::new()
            }
            ("cursor", Some(device)) => match Versioned::parse(value, revision) {
                Some(record) => {
                    mirror.set_cursor(name, device, record);
                    vec![name.to_owned()]
                }
                None => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    pub(super) fn set_tunnel(&self, name: &str, record: Versioned<TunnelRecord>) {
        self.mirror().set_tunnel(name, record);
    }

    pub(super) fn set_token(&self, id: &str, record: Versioned<TokenRecord>) {
        let mut mirror = self.mirror();
        keep_newer(&mut mirror.tokens, id.to_owned(), record);
        mirror.token_changed(id);
    }

    pub(super) fn set_offer(&self, tunnel: &str, device: DeviceKey, offer: Versioned<Vec<SourceOffer>>) {
        self.mirror().set_offer(tunnel, device, offer);
    }

    pub(super) fn set_cursor(&self, tunnel: &str, device: DeviceKey, record: Versioned<CursorRecord>) {
        self.mirror().set_cursor(tunnel, device, record);
    }

    /// Returns a tunnel that is not shut.
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

    /// Returns whether several devices take part in a tunnel.
    pub(super) fn is_shared(&self, name: &str) -> bool {
        self.mirror().tunnels.get(name).is_some_and(|tunnel| tunnel.record.devices.len() > 1)
    }

    /// Returns the revision at which a tunnel's record was seen, or 0 if it was never seen.
    pub(super) fn revision(&self, name: &str) -> u64 {
        self.mirror().tunnels.get(name).map_or(0, |tunnel| tunnel.revision)
    }

    /// Returns the revision at which a token's record was seen, or 0 if it was never seen.
    pub(super) fn token_revision(&self, id: &str) -> u64 {
        self.mirror().tokens.get(id).map_or(0, |token| token.revision)
    }

    /// Returns whether a token is known.
    pub(super) fn knows_token(&self, id: &str) -> bool {
        self.mirror().tokens.contains_key(id)
    }

    /// Returns whether a tunnel is known, open or not.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.mirror().tunnels.contains_key(name)
    }

    /// Returns the record of a tunnel.
    pub(super) fn record(&self, name: &str) -> Option<Versioned<TunnelRecord>> {
        self.mirror().tunnels.get(name).cloned()
    }

    /// Returns a device's cursor.
    pub(super) fn cursor(&self, tunnel: &str, device: &DeviceKey) -> Option<Versioned<CursorRecord>> {
        self.mirror().cursors.get(tunnel)?.get(device).cloned()
    }

    /// Returns when a device was last connected, in store time, if that is known.
    pub(super) fn there_at(&self, tunnel: &str, device: &DeviceKey) -> Option<i64> {
        self.cursor(tunnel, device)?.record.there_at
    }

    /// Returns the position up to which nobody wants a tunnel's letters, as settled by the relays that compared all of
    /// its devices.
    pub(super) fn floor(&self, tunnel: &str) -> u64 {
        let mirror = self.mirror();
        let Some(Versioned { record, .. }) = mirror.tunnels.get(tunnel) else { return 0 };
        if record.shut && record.used || mirror.is_revoked(&record.token) {
            return u64::MAX;
        }
        let cursors = mirror.cursors.get(tunnel).into_iter().flatten();
        cursors.map(|(_, known)| known.record.floor).fold(record.floor, u64::max)
    }

    /// Returns the position up to which all of these devices have a tunnel's letters, if the device in `ahead` has them
    /// up to the position given there.
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

    /// Returns the devices of an open tunnel.
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

    /// Returns all tokens, oldest first.
    pub(super) fn tokens(&self) -> Vec<Token> {
        let mirror = self.mirror();
        let mut tokens: Vec<_> =
            mirror.tokens.iter().map(|(id, token)| mirror.token(id, &token.record)).collect();
        tokens.sort_by(|one, other| (one.created_at, &one.id).cmp(&(other.created_at, &other.id)));
        tokens
    }

    /// Returns the names of a token's tunnels that are not shut.
    pub(super) fn tunnels_of(&self, token: &str) -> Vec<String> {
        self.mirror().tunnels_of(token)
    }

    /// Returns the names of a token's tunnels that count against its limit: those that are not shut, and those that
    /// were shut within [`COUNTED`] before `now`, in store time.
    pub(super) fn counted_of(&self, token: &str, now: i64) -> Vec<String> {
        let since = now.saturating_sub(COUNTED);
        self.mirror().named(|record| record.token == token && (!record.shut || record.shut_at > Some(since)))
    }

    /// Returns whether a tunnel is known to have had no letter and no connected device yet.
    pub(super) fn is_unused(&self, name: &str) -> bool {
        self.mirror().tunnels.get(name).is_some_and(|tunnel| !tunnel.record.used)
    }

    /// Returns the names of the tunnels that take letters.
    pub(super) fn open_tunnels(&self) -> Vec<String> {
        let mirror = self.mirror();
        let open = mirror.tunnels.iter();
        let open = open.filter(|(_, tunnel)| !tunnel.record.shut && !mirror.is_revoked(&tunnel.record.token));
        open.map(|(name, _)| name.clone()).collect()
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

    /// Returns the sources that a tunnel's devices take.
    fn sources(&self, tunnel: &str, devices: &[DeviceRecord]) -> Vec<SourceOffer> {
        let Some(known) = self.offers.get(tunnel) else { return Vec::new() };
        let known = devices.iter().filter_map(|device| known.get(&device.key));
        offers::of_all(known.map(|offer| offer.record.as_slice()))
    }

    fn set_tunnel(&mut self, name: &str, record: Versioned<TunnelRecord>) {
        keep_newer(&mut self.tunnels, name.to_owned(), record);
        self.shown.remove(name);
    }

    fn set_offer(&mut self, tunnel: &str, device: DeviceKey, offer: Versioned<Vec<SourceOffer>>) {
        if keep_newer(self.offers.entry(tunnel.to_owned()).or_default(), device, offer) {
            self.shown.remove(tunnel);
        }
    }

    fn set_cursor(&mut self, tunnel: &str, device: DeviceKey, record: Versioned<CursorRecord>) {
        keep_newer(self.cursors.entry(tunnel.to_owned()).or_default(), device, record);
    }

    /// Removes the cached form of a token's tunnels. Returns these tunnels if the token is revoked.
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
