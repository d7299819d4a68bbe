//! Tries whether a signature would hold if something were otherwise, within bounded work.

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

/// Bytes that may be hashed and written to find out why a signature does not hold: well below 100 ms.
const WORK: usize = 13 << 20;
/// What each try costs besides its bytes, in bytes.
const KEYED_HASH: usize = 512;
const SIGNATURE: usize = 12 << 10;

/// Looks for something that would make the signature hold.
pub(crate) type Finder = fn(&mut Trial<'_>, &Signed<'_>) -> Option<Finding>;

/// What is known of a request that is to be explained, and how much work is left.
pub(crate) struct Trial<'a> {
    pub(crate) inquiry: &'a Inquiry<'a>,
    pub(crate) context: &'a Context<'a>,
    /// Its sender's name.
    pub(crate) sender: &'a str,
    /// Its sender's schemes.
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
        // A body above some mebibytes gets its cheapest tries and no more.
        let size = inquiry.request.body.len();
        let left = WORK.max(size.saturating_mul(6).saturating_add(6 * SIGNATURE));
        Self { inquiry, context, sender, schemes, left }
    }

    /// The configured secrets that can be used with a scheme.
    pub(crate) fn secrets(&self, scheme: &'a Scheme) -> impl Iterator<Item = &'a Secret> + use<'a> {
        self.inquiry.secrets.iter().filter(move |secret| secret.suits(scheme))
    }

    /// Whether the signature would hold over another body.
    pub(crate) fn fits_body(&mut self, signed: &Signed<'_>, body: &[u8]) -> bool {
        self.fits(signed.scheme, RequestView { body, ..signed.parts.view })
    }

    /// Whether a request would be genuine by that scheme, with one of the configured secrets.
    pub(crate) fn fits(&mut self, scheme: &Scheme, view: RequestView<'_>) -> bool {
        self.fits_with(scheme, view, self.inquiry.secrets)
    }

    /// The same with other secrets.
    pub(crate) fn fits_with(&mut self, scheme: &Scheme, view: RequestView<'_>, secrets: &[Secret]) -> bool {
        let suited = secrets.iter().filter(|secret| secret.suits(scheme)).count();
        if suited == 0 || !self.spend(cost(scheme, &view) * suited) {
            return false;
        }
        if !scheme.every {
            return holding(scheme, view, secrets);
        }
        // Each key belongs to one place there: a single one may be that of any.
        let all: Vec<_> = secrets.iter().filter(|secret| secret.suits(scheme)).cloned().collect();
        holding(scheme, view, &all)
            || all.iter().any(|secret| {
                let everywhere = vec![secret.clone(); scheme.signature.len()];
                holding(scheme, view, &everywhere)
            })
    }

    /// Whether the signature would hold with these bytes as the key.
    pub(crate) fn fits_key(&mut self, signed: &Signed<'_>, key: &[u8]) -> bool {
        if key.is_empty() {
            return false;
        }
        let scheme = Scheme { key: KeyMode::Utf8, ..signed.scheme.clone() };
        self.fits_with(&scheme, signed.parts.view, &[Secret::new("", key.to_vec())])
    }

    /// Whether the signature would hold if the secret were this text.
    pub(crate) fn fits_text(&mut self, signed: &Signed<'_>, secret: &[u8]) -> bool {
        !secret.is_empty()
            && self.fits_with(signed.scheme, signed.parts.view, &[Secret::new("", secret.to_vec())])
    }

    /// What the first of these finds.
    pub(crate) fn first(&mut self, signed: &Signed<'_>, finders: &[Finder]) -> Option<Finding> {
        finders.iter().find_map(|find| find(self, signed))
    }

    /// Keeps a part of the work for later.
    pub(crate) fn put_aside(&mut self) -> usize {
        let kept = self.left / 4;
        self.left -= kept;
        kept
    }

    /// Has that part again.
    pub(crate) fn take_back(&mut self, kept: usize) {
        self.left += kept;
    }

    /// Whether any work is left.
    pub(crate) fn is_spent(&self) -> bool {
        self.left == 0
    }

    /// Takes a cost in bytes off what is left; `false` where that is not enough.
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
    // Of a token only the body's hash is compared anew.
    let each = if scheme.takes_public_key() && !scheme.algorithm.is_jwt() { SIGNATURE } else { KEYED_HASH };
    // What stands inside the body is looked for by a parser.
    let parsed = scheme.special.is_some_and(|special| special != Special::Contentful);
    let size = view.body.len() * if parsed { 8 } else { 1 };
    size + view.url.map_or(0, str::len) + each
}

/// The keyed hash that a secret makes of a request, before it is finished.
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
