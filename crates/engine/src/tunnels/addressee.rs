//! Determines which source a tunnel's request is for.

use std::sync::Arc;

use crate::{
    EngineError,
    settings::{ConfiguredSource, Settings},
};

/// The name of the source for events from tunnels whose own source is gone or isn't served. No tunnel can be called by
/// this name.
pub const UNASSIGNED: &str = "unassigned";

/// Returns the source of that name if it exists and the tunnel serves it, else the source [`UNASSIGNED`]; and whether
/// it was the former. A tunnel creates no source of a caller's choice (Threat 3), and its relay reaches only sources
/// that were chosen for it (Threat 12).
pub(super) async fn addressee(
    settings: &Settings,
    slug: &str,
    is_served: bool,
) -> Result<(Arc<ConfiguredSource>, bool), EngineError> {
    if let Some(known) = settings.now().sources.get(slug).filter(|_| is_served) {
        return Ok((Arc::clone(known), slug != UNASSIGNED));
    }
    let unassigned = UNASSIGNED.parse()?;
    settings.ensure_source(&unassigned).await?;
    Ok((settings.source(&unassigned)?, false))
}
