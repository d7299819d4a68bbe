//! Which source a tunnel's request is for.

use std::sync::Arc;

use crate::{
    EngineError,
    settings::{ConfiguredSource, Settings},
};

/// The source of events that came through a tunnel for a source that is gone. Nobody can call it through one.
pub const UNASSIGNED: &str = "unassigned";

/// The source of that name where the tunnel serves it, else the one for what belongs to none: a tunnel makes no
/// source (Threat 3), and its relay reaches none that wasn't chosen for it (Threat 12).
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
