//! Tries whether a signature would hold if something were otherwise, within bounded work.

use crate::{Secret, check, mac::Mac, secret::key_bytes, signature::Signed, view::View};

/// Bytes that may be hashed and written to find out why a signature does not hold: one to two milliseconds.
const WORK: usize = 1 << 20;
/// What each try costs besides its bytes, in bytes.
const KEYED_HASH: usize = 512;
const SIGNATURE: usize = 16 << 10;

/// A signature that did not hold, ready for further tries.
pub(crate) struct Probe<'a> {
    pub(crate) signed: Signed<'a>,
    secrets: Vec<&'a Secret>,
    left: usize,
}

impl<'a> Probe<'a> {
    pub(crate) fn new(signed: Signed<'a>, secrets: &'a [Secret]) -> Self {
        let secrets: Vec<_> = secrets.iter().filter(|secret| secret.suits(signed.scheme)).collect();
        // A body above a mebibyte gets its three cheapest tries and no more.
        let left = WORK.max(signed.parts.view.body.len().saturating_mul(3).saturating_add(3 * KEYED_HASH));
        Self { signed, secrets, left }
    }

    /// The signatures that count, as written.
    pub(crate) fn given(&self) -> Vec<&[u8]> {
        self.signed.accepted().collect()
    }

    /// The keyed hashes of the configured secrets over the request as it came, before they are finished.
    pub(crate) fn tags(&self) -> impl Iterator<Item = Mac> {
        self.secrets.iter().filter_map(|secret| {
            let key = key_bytes(secret.value().expose(), self.signed.scheme.key)?;
            check::mac(self.signed.scheme, &self.signed.parts, &key)
        })
    }

    /// Whether the signature would hold over another body.
    pub(crate) fn holds_over(&mut self, body: &[u8]) -> bool {
        if !self.spend(self.cost(body.len())) {
            return false;
        }
        let view = View { body, ..self.signed.parts.view };
        let other = Signed::find(self.signed.scheme, view);
        other.is_some_and(|other| self.secrets.iter().any(|secret| check::holds(&other, secret)))
    }

    /// Whether the signature would hold with another key.
    pub(crate) fn holds_with(&mut self, key: &[u8]) -> bool {
        if key.is_empty() || !self.spend(self.signed.parts.view.body.len() + KEYED_HASH) {
            return false;
        }
        check::holds_with_key(&self.signed, key)
    }

    /// Whether any work is left.
    pub(crate) fn is_spent(&self) -> bool {
        self.left == 0
    }

    /// How many more bodies of that size can be tried.
    pub(crate) fn room_for(&self, size: usize) -> usize {
        self.left / self.cost(size)
    }

    /// Whether each try is a signature's. Of a token only the body's hash is compared anew.
    fn takes_a_signature(&self) -> bool {
        let scheme = self.signed.scheme;
        scheme.takes_public_key() && !scheme.algorithm.is_jwt()
    }

    fn cost(&self, size: usize) -> usize {
        let each = if self.takes_a_signature() { SIGNATURE } else { KEYED_HASH };
        (size + each) * self.secrets.len().max(1)
    }

    /// Takes a cost in bytes off what is left; `false` where that is not enough.
    pub(crate) fn spend(&mut self, cost: usize) -> bool {
        let enough = self.left >= cost;
        self.left = if enough { self.left - cost } else { 0 };
        enough
    }
}
