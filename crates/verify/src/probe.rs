//! Tries whether a signature would hold if something were otherwise, within bounded work.

use base64::{Engine as _, engine::general_purpose::STANDARD_NO_PAD};

use crate::{
    PublicKey, Secret,
    content::Parts,
    mac::Mac,
    public_key::Signing,
    scheme::{Algorithm, Scheme},
    secret::key_bytes,
    signature::Signed,
};

/// Bytes that may be hashed and written to find out why a signature does not hold: one to two milliseconds.
const WORK: usize = 1 << 20;
/// What each try costs besides its bytes, in bytes.
const KEYED_HASH: usize = 512;
const SIGNATURE: usize = 16 << 10;

/// A signature that did not hold, ready for further tries.
pub(crate) struct Probe<'a> {
    pub(crate) signed: Signed<'a>,
    /// The signatures that count, as written.
    pub(crate) given: Vec<&'a [u8]>,
    macs: Vec<Mac>,
    keys: Vec<&'a PublicKey>,
    left: usize,
}

/// Whether one secret's signature is among those that count. The one comparison that makes an event genuine.
pub(crate) fn holds(signed: &Signed<'_>, secret: &Secret) -> bool {
    let scheme = signed.scheme;
    match scheme.algorithm {
        Algorithm::Token => {
            let own = secret.value().expose();
            signed.accepted().any(|given| crate::mac::same(given, own))
        }
        Algorithm::Ed25519 => {
            let Some(key) = secret.as_public() else { return false };
            let message = message(scheme, &signed.parts);
            signed.accepted().any(|given| verifies(key, &message, given))
        }
        _ => {
            let mac = key_bytes(secret.value().expose(), scheme.key)
                .and_then(|key| Mac::new(scheme.algorithm, &key));
            mac.is_some_and(|mac| {
                let tag = tag(scheme, mac, &signed.parts).finish(scheme.encoding);
                signed.accepted().any(|given| tag.is(given))
            })
        }
    }
}

/// The keyed hash over the signed content.
pub(crate) fn tag(scheme: &Scheme, mut mac: Mac, parts: &Parts<'_>) -> Mac {
    scheme.content.feed(parts, |bytes| mac.update(bytes));
    mac
}

fn message(scheme: &Scheme, parts: &Parts<'_>) -> Vec<u8> {
    let mut message = Vec::with_capacity(parts.body.len() + 64);
    scheme.content.feed(parts, |bytes| message.extend_from_slice(bytes));
    message
}

fn verifies(key: &PublicKey, message: &[u8], given: &[u8]) -> bool {
    let unpadded = given.strip_suffix(b"==").unwrap_or(given);
    STANDARD_NO_PAD
        .decode(unpadded)
        .is_ok_and(|signature| key.verifies(Signing::Ed25519, None, message, &signature))
}

impl<'a> Probe<'a> {
    pub(crate) fn new(signed: Signed<'a>, secrets: &'a [Secret]) -> Self {
        let scheme = signed.scheme;
        let suited = || secrets.iter().filter(|secret| secret.suits(scheme.key));
        let macs = suited()
            .filter_map(|secret| Mac::new(scheme.algorithm, &key_bytes(secret.value().expose(), scheme.key)?))
            .collect();
        // A body above a mebibyte gets its three cheapest tries and no more.
        let left = WORK.max(signed.parts.body.len().saturating_mul(3).saturating_add(3 * KEYED_HASH));
        let keys = suited().filter_map(Secret::as_public).collect();
        Self { signed, given: signed.accepted().collect(), macs, keys, left }
    }

    /// The keyed hashes of the configured secrets over the request as it came, before they are finished.
    pub(crate) fn tags(&self) -> impl Iterator<Item = Mac> {
        self.macs.iter().map(|mac| tag(self.signed.scheme, mac.clone(), &self.signed.parts))
    }

    /// Whether the signature would hold over another body.
    pub(crate) fn holds_over(&mut self, body: &[u8]) -> bool {
        let scheme = self.signed.scheme;
        let parts = Parts { body, ..self.signed.parts };
        for at in 0..self.macs.len() {
            if !self.spend(body.len() + KEYED_HASH) {
                return false;
            }
            let tag = tag(scheme, self.macs[at].clone(), &parts).finish(scheme.encoding);
            if self.given.iter().any(|given| tag.is(given)) {
                return true;
            }
        }
        for at in 0..self.keys.len() {
            if !self.spend(body.len() + SIGNATURE) {
                return false;
            }
            let message = message(scheme, &parts);
            if self.given.iter().any(|given| verifies(self.keys[at], &message, given)) {
                return true;
            }
        }
        false
    }

    /// Whether the signature would hold with another key.
    pub(crate) fn holds_with(&mut self, key: &[u8]) -> bool {
        let scheme = self.signed.scheme;
        if key.is_empty() || !self.spend(self.signed.parts.body.len() + KEYED_HASH) {
            return false;
        }
        let Some(mac) = Mac::new(scheme.algorithm, key) else { return false };
        let tag = tag(scheme, mac, &self.signed.parts).finish(scheme.encoding);
        self.given.iter().any(|given| tag.is(given))
    }

    /// Whether any work is left.
    pub(crate) fn is_spent(&self) -> bool {
        self.left == 0
    }

    /// How many more bodies of that size can be tried.
    pub(crate) fn room_for(&self, size: usize) -> usize {
        self.left / (size + if self.keys.is_empty() { KEYED_HASH } else { SIGNATURE })
    }

    /// Takes a cost in bytes off what is left; `false` where that is not enough.
    pub(crate) fn spend(&mut self, cost: usize) -> bool {
        let enough = self.left >= cost;
        self.left = if enough { self.left - cost } else { 0 };
        enough
    }
}
