//! The limit on open file descriptors.

/// Enough file descriptors for all of our own limits together. macOS accepts at most its `OPEN_MAX`.
#[cfg(unix)]
const ENOUGH: u64 = if cfg!(target_os = "macos") { 10_240 } else { 65_536 };

/// Raises the soft limit to `ENOUGH`, or to the hard limit if that is lower. Systems keep the soft limit low only for
/// the sake of old programs.
#[cfg(unix)]
pub fn raise_handle_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = maximum.map_or(ENOUGH, |maximum| maximum.min(ENOUGH));
    if current.is_none_or(|current| current >= wanted) {
        return tracing::debug!(handles = current, "the limit on open files is unknown and stays as it is");
    }
    match setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), maximum }) {
        Ok(()) => tracing::debug!(before = current, handles = wanted, "the limit on open files was raised"),
        Err(error) => tracing::debug!(%error, handles = current, "the limit on open files can't be raised"),
    }
}

/// Does nothing, because Windows has no such limit.
#[cfg(not(unix))]
pub fn raise_handle_limit() {}
