//! Providers whose signed content no template can describe.

pub(crate) mod adyen;
pub(crate) mod contentful;
pub(crate) mod sns;
