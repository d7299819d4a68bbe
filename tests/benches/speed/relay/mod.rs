//! A relay as it is used: a real `hookmitt relay` on a real disk, with senders and a real app.

mod accepts;
mod catch_up;
mod forwarder;
mod idle;
mod latency;
mod place;
mod report;

pub(crate) use forwarder::forwarder;

use crate::host::syncs;
use report::Measured;

/// The bytes of each body.
const BODY: usize = 1_024;

/// Measures the parts that are named, or all parts, and reports the results.
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<()> {
    let named: Vec<_> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    let wanted = |part: &str| named.is_empty() || named.iter().any(|name| *name == part);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut measured = Measured { syncs: syncs()?, ..Measured::default() };
    if wanted("accepts") {
        measured.kept = accepts::kept(&runtime)?;
    }
    if wanted("connections") {
        measured.fresh = accepts::fresh(&runtime)?;
    }
    if wanted("latency") {
        measured.latency = Some(latency::measured(&runtime)?);
    }
    if wanted("catch-up") {
        measured.caught_up = catch_up::measured(&runtime)?;
    }
    if wanted("idle") {
        measured.idle = Some(idle::measured(&runtime)?);
    }
    report::write(&measured)
}
