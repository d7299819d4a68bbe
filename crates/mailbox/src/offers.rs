//! What a tunnel takes: whatever any of its devices takes.

use std::collections::HashSet;

use hookmitt_wire::SourceOffer;

/// The sources of all devices, given in the order in which those joined. Where several take one source, the answer of the
/// device that takes part longest counts: a teammate who joins doesn't change what providers hear.
pub(crate) fn of_all<'o>(devices: impl IntoIterator<Item = &'o [SourceOffer]>) -> Vec<SourceOffer> {
    let mut seen = HashSet::new();
    let offers = devices.into_iter().flatten();
    offers.filter(|offer| seen.insert(offer.slug.as_str())).cloned().collect()
}
