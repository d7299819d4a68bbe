//! Providers whose signed content no template can say.

pub(crate) mod adyen;
pub(crate) mod contentful;
pub(crate) mod sns;
