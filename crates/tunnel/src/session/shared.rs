//! What all connections of a tunnel share.

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
    /// Whether the key has opened a letter of this tunnel, so that it is the right one.
    pub(crate) key_fits: AtomicBool,
    /// How many runs of letters there have been.
    pub(crate) runs: AtomicU64,
}
