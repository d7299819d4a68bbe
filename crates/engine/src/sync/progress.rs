//! How far a sync is.

/// How far a sync is: how many items are settled, of how many if that is known, and how many were added, with how many
/// deliveries.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    pub(crate) done: u64,
    pub(crate) total: Option<u64>,
    pub(crate) added: u64,
    pub(crate) deliveries: u64,
}
