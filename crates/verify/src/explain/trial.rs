//! Tries whether a signature would match if something were different, within bounded work.

use crate::{
    algorithm::Algorithm,
    check,
    inquiry::Inquiry,
    key_bytes::key_bytes,
    mac::Mac,
    request_view::RequestView,
    scheme::{KeyMode, Scheme, Special},
    secret::Secret,
    signature::Signed,
    special::adyen,
};

use super::{context::Context, finding::Finding};

/// How many bytes may be hashed and written to find out why a signature doesn't match. This takes well below 100 ms.
const WORK: usize = 13 << 20;
/// The cost of each try in addition to its bytes, in bytes.
const KEYED_HASH: usize = 512;
const SIGNATURE: usize = 12 << 10;

/// A function that looks for a change which makes the signature match.
pub(crate) type Finder = fn(&mut Trial<'_>, &Signed<'_>) -> Option<Finding>;

/// What is known about the request to explain, and how much work is left.
pub(crate) struct Trial<'a> {
    pub(crate) inquiry: &'a Inquiry<'a>,
    pub(crate) context: &'a Context<'a>,
    /// The sender's name.
    pub(crate) sender: &'a str,
    /// The sender's schemes.
    pub(crate) schemes: &'a [Scheme],
    left: usize,
}

impl<'a> Trial<'a> {
    pub(crate) fn new(
        inquiry: &'a Inquiry<'a>,
        context: &'a Context<'a>,
        sender: &'a str,
        schemes: &'a [Scheme],
    ) -> Self {
        // For a body of more than a few MiB, this is only enough for the cheapest tries.
        let size = inquiry.request.body.len();
        let left = WORK.max(size.saturating_mul(6).saturating_add(6 * SIGNATURE));
        Self { inquiry, context, sender, schemes, left }
    }

    /// Iterates over the configured secrets that suit a scheme.
    pub(crate) fn secrets(&self, scheme: &'a Scheme) -> impl Iterator<Item = &'a Secret> + use<'a> {
        self.inquiry.secrets.iter().filter(move |secret| secret.suits(scheme))
    }

    /// Whether the signature would match another body.
    pub(crate) fn fits_body(&mut self, signed: &Signed<'_>, body: &[u8]) -> bool {
        self.fits(signed.scheme, RequestView { body, ..signed.parts.view })
    }

    /// Whether a request would be genuine under that scheme with one of the configured secrets.
    pub(crate) fn fits(&mut self, scheme: &Scheme, view: RequestView<'_>) -> bool {
        self.fits_with(scheme, view, self.inquiry.secrets)
    }

    /// Like [`Trial::fits`], with other secrets.
    pub(crate) fn fits_with(&mut self, scheme: &Scheme, view: RequestView<'_>, secrets: &[Secret]) -> bool {
        let suited = secrets.iter().filter(|secret| secret.suits(scheme)).count();
        if suited == 0 || !self.spend(cost(scheme, &view) * suited) {
            return false;
        }
        if !scheme.every {
            return holding(scheme, view, secrets);
        }
        // Each key belongs to one place here, so each key is also tried at all places.
        let all: Vec<_> = secrets.iter().filter(|secret| secret.suits(scheme)).cloned().collect();
        holding(scheme, view, &all)
            || all.iter().any(|secret| {
                let everywhere = vec![secret.clone(); scheme.signature.len()];
                holding(scheme, view, &everywhere)
            })
    }

    /// Whether the signature would match with these bytes as the key.
    pub(crate) fn fits_key(&mut self, signed: &Signed<'_>, key: &[u8]) -> bool {
        if key.is_empty() {
            return false;
        }
        let scheme = Scheme { key: KeyMode::Utf8, ..signed.scheme.clone() };
        self.fits_with(&scheme, signed.parts.view, &[Secret::new("", key.to_vec())])
    }

    /// Whether the signature would match if the secret were this text.
    pub(crate) fn fits_text(&mut self, signed: &Signed<'_>, secret: &[u8]) -> bool {
        !secret.is_empty()
            && self.fits_with(signed.scheme, signed.parts.view, &[Secret::new("", secret.to_vec())])
    }

    /// Returns the first finding of these finders.
    pub(crate) fn first(&mut self, signed: &Signed<'_>, finders: &[Finder]) -> Option<Finding> {
        finders.iter().find_map(|find| find(self, signed))
    }

    /// Reserves a quarter of the remaining work for later and returns how much that is.
    pub(crate) fn put_aside(&mut self) -> usize {
        let kept = self.left / 4;
        self.left -= kept;
        kept
    }

    /// Makes reserved work available again.
    pub(crate) fn take_back(&mut self, kept: usize) {
        self.left += kept;
    }

    /// Whether no work is left.
    pub(crate) fn is_spent(&self) -> bool {
        self.left == 0
    }

    /// Subtracts a cost in bytes from the remaining work. If there isn't enough, returns `false` and leaves nothing.
    pub(crate) fn spend(&mut self, cost: usize) -> bool {
        let enough = self.left >= cost;
        self.left = if enough { self.left - cost } else { 0 };
        enough
    }
}

fn holding(scheme: &Scheme, view: RequestView<'_>, secrets: &[Secret]) -> bool {
    Signed::find(scheme, view).is_some_and(|signed| check::holding(&signed, secrets).is_some())
}

fn cost(scheme: &Scheme, view: &RequestView<'_>) -> usize {
    // For a token, only the hash of the body is computed again.
    let each = if scheme.takes_public_key() && !scheme.algorithm.is_jwt() { SIGNATURE } else { KEYED_HASH };
    // Signatures inside the body have to be found by a parser.
    let parsed = scheme.special.is_some_and(|special| special != Special::Contentful);
    let size = view.body.len() * if parsed { 8 } else { 1 };
    size + view.url.map_or(0, str::len) + each
}

/// Computes the keyed hash of a request with a secret, before it is finished.
pub(crate) fn mac(signed: &Signed<'_>, secret: &Secret) -> Option<Mac> {
    let key = key_bytes(secret.value().expose(), signed.scheme.key)?;
    if signed.scheme.special == Some(Special::Adyen) {
        let items = adyen::items(signed.parts.view.body);
        let mut mac = Mac::new(signed.scheme.algorithm, &key)?;
        mac.update(items.first()?.content.as_bytes());
        return Some(mac);
    }
    let is_keyed = !signed.scheme.takes_public_key() && signed.scheme.algorithm != Algorithm::Token;
    if is_keyed { check::mac(signed.scheme, &signed.parts, &key) } else { None }
}
