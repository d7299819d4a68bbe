//! What every connection of a tunnel shares.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64},
};

use hookmitt_seal::Opener;
use tokio_util::sync::CancellationToken;

use crate::{Credentials, Options};

/// What outlives a tunnel's connections.
pub(crate) struct Shared<R> {
    pub(crate) tunnel: String,
    pub(crate) opener: Arc<Opener>,
    pub(crate) credentials: Credentials,
    pub(crate) recipient: Arc<R>,
    pub(crate) options: Options,
    pub(crate) stop: CancellationToken,
    /// A letter of this tunnel was opened: the key is the right one.
    pub(crate) key_fits: AtomicBool,
    /// How many runs of letters there have been.
    pub(crate) runs: AtomicU64,
}
