//! The sources that a tunnel takes: those of all its devices.

use std::collections::HashSet;

use hookmitt_wire::SourceOffer;

/// Merges the sources of all devices, given in the order in which the devices joined. If several devices take a source,
/// the first one decides how it is answered, so that a teammate who joins doesn't change what providers get.
pub(crate) fn of_all<'o>(devices: impl IntoIterator<Item = &'o [SourceOffer]>) -> Vec<SourceOffer> {
    let mut seen = HashSet::new();
    let offers = devices.into_iter().flatten();
    offers.filter(|offer| seen.insert(offer.slug.as_str())).cloned().collect()
}
