//! Finds the provider of a source if nobody has set it: the first valid event tells who sends.

use hookmitt_event::{EventId, ProviderFrom, Via};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::{
    InboxError, SourceSettings,
    routes::configured,
    rows::BROWSER,
    sources::{json, source},
};

/// Sets the provider of a source, once, to the one that an event proves; `None` changes nothing. If the source also has
/// valid events of other providers, the provider stays unset and each event goes on being recognised by itself. Returns
/// whether the provider was set.
pub(crate) fn settle_provider(
    db: &Connection,
    row: i64,
    provider: Option<&str>,
    event: EventId,
) -> Result<bool, InboxError> {
    const FIND: &str = "SELECT id, slug, provider, settings, auto_created FROM source
        WHERE id = ?1 AND removed_at IS NULL";
    const SET: &str = "UPDATE source SET provider = ?2, settings = ?3 WHERE id = ?1";
    let Some(provider) = provider else { return Ok(false) };
    let Some(found) = db.prepare_cached(FIND)?.query_row([row], source).optional()? else { return Ok(false) };
    let mut settings = SourceSettings::from(&found);
    if settings.provider.is_some() || settings.provider_from.is_some() || settings.generic.is_some() {
        return Ok(false);
    }
    let is_only = !others_were_valid(db, row, provider)?;
    settings.provider = is_only.then(|| provider.to_owned());
    settings.provider_from = Some(if is_only { ProviderFrom::Event(event) } else { ProviderFrom::Hand });
    db.prepare_cached(SET)?.execute(params![row, settings.provider, json(&settings)])?;
    configured(db)?;
    Ok(is_only)
}

/// Whether an event of another provider is valid among the newest thousand of the source. An earlier version, which
/// never set the provider by itself, may have received such events. Imported and edited events don't count.
fn others_were_valid(db: &Connection, row: i64, provider: &str) -> Result<bool, InboxError> {
    const SQL: &str = "SELECT 1 FROM (SELECT verdict, provider, via, flags FROM event WHERE source = ?1
        AND deleted_at IS NULL ORDER BY seq DESC LIMIT 1000) WHERE verdict = 0 AND provider <> ?2
        AND via IN (?3, ?4) AND flags & ?5 = 0 LIMIT 1";
    Ok(db.prepare_cached(SQL)?.exists(params![
        row,
        provider,
        Via::Direct as i64,
        Via::Tunnel as i64,
        BROWSER
    ])?)
}
