//! The targets, and which source's events go where.

use std::time::Duration;

use hookmitt_event::{Deed, OrderMode, RetryPolicy, Silence, Slug, Target, TargetId, TargetKind, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde::{Deserialize, Serialize};

use crate::{
    Inbox, InboxError,
    audit::{Subject, record},
    batch::Batch,
    order_key::key_rest,
    routes::configured,
    rows, target_states,
};

/// The settings of a target, as stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TargetSettings {
    /// The order in which the target gets its events.
    pub order: OrderMode,
    /// How long one attempt may take, in milliseconds.
    pub timeout_ms: u64,
    /// How many attempts a delivery gets in all, at least 1.
    pub attempts: u32,
    /// The longest wait before the second attempt, in milliseconds.
    pub retry_base_ms: u64,
    /// The longest wait before any attempt, in milliseconds.
    pub retry_cap_ms: u64,
    /// Whether the sender's Host line is sent.
    pub preserve_host: bool,
    /// Whether the `x-hookmitt-*` lines are added.
    pub hookmitt_headers: bool,
}

impl Default for TargetSettings {
    fn default() -> Self {
        let retry = RetryPolicy::default();
        let millis = |span: Duration| u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        Self {
            order: OrderMode::default(),
            timeout_ms: 30_000,
            attempts: retry.attempts,
            retry_base_ms: millis(retry.base),
            retry_cap_ms: millis(retry.cap),
            preserve_host: false,
            hookmitt_headers: true,
        }
    }
}

impl From<&Target> for TargetSettings {
    fn from(target: &Target) -> Self {
        let millis = |span: Duration| u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
        Self {
            order: target.order,
            timeout_ms: millis(target.timeout),
            attempts: target.retry.attempts,
            retry_base_ms: millis(target.retry.base),
            retry_cap_ms: millis(target.retry.cap),
            preserve_host: target.preserve_host,
            hookmitt_headers: target.hookmitt_headers,
        }
    }
}

const SELECT: &str = "SELECT t.id, s.slug, t.url, t.settings, t.kind, t.paused, t.down_since
    FROM target t LEFT JOIN source s ON s.id = t.source WHERE t.removed_at IS NULL";

impl Inbox {
    /// Returns every target, including those that last until their command ends and those for a URL given once.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn targets(&self) -> Result<Vec<Target>, InboxError> {
        self.readers.read(all).await
    }

    /// Adds a target. For a URL given once ([`TargetKind::Once`]), an existing target of that URL is returned instead,
    /// if there is one.
    ///
    /// # Errors
    /// Fails with [`InboxError::UnknownSource`] if there is no such source, and with [`InboxError::TargetExists`] if a
    /// kept target sends the same source's events to the same URL.
    pub async fn add_target(
        &self,
        source: Option<Slug>,
        url: String,
        settings: TargetSettings,
        kind: TargetKind,
        now: Timestamp,
    ) -> Result<Target, InboxError> {
        const ADD: &str = "INSERT INTO target (source, url, settings, kind, created_at, by_key)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            RETURNING id";
        self.write(move |batch| {
            let db = batch.db;
            if kind == TargetKind::Once
                && let Some(known) = given_before(db, &url)?
            {
                return Ok(known);
            }
            let row = source.as_ref().map(|slug| source_row(db, slug)).transpose()?;
            if kind == TargetKind::Kept {
                check_new(db, row, &url, None)?;
            }
            let by_key = settings.order == OrderMode::FifoByKey;
            let settings = serde_json::to_string(&settings).unwrap_or_else(|_| "{}".to_owned());
            let values = params![row, url, settings, kind as i64, now.as_micros(), by_key];
            let id = TargetId(db.prepare_cached(ADD)?.query_row(values, |row| row.get(0))?);
            configured(db)?;
            let added = find(db, id)?;
            note(batch, Deed::TargetAdded, &added)?;
            Ok(added)
        })
        .await
    }

    /// Changes a target.
    ///
    /// # Errors
    /// Fails with [`InboxError::UnknownTarget`] if there is no such target, and with [`InboxError::TargetExists`] if
    /// another kept one sends the same source's events to the new URL.
    pub async fn set_target(
        &self,
        id: TargetId,
        url: String,
        settings: TargetSettings,
        paused: bool,
    ) -> Result<Target, InboxError> {
        const SQL: &str = "UPDATE target SET url = ?2, settings = ?3, paused = ?4, by_key = ?5,
            down_since = CASE WHEN url = ?2 THEN down_since END,
            down_error = CASE WHEN url = ?2 THEN down_error END,
            answered_at = CASE WHEN url = ?2 THEN answered_at END,
            silent_since = CASE WHEN url = ?2 THEN silent_since END WHERE id = ?1";
        let by_key = settings.order == OrderMode::FifoByKey;
        let keyed = if by_key { Some(self.key_waiting(id).await?) } else { None };
        self.write(move |batch| {
            let before = find(batch.db, id)?;
            if before.kind == TargetKind::Kept && before.url != url {
                let row = before.source.as_ref().map(|slug| source_row(batch.db, slug)).transpose()?;
                check_new(batch.db, row, &url, Some(id))?;
            }
            if let Some(through) = keyed {
                key_rest(batch.db, id, through)?;
            }
            let settings = serde_json::to_string(&settings).unwrap_or_else(|_| "{}".to_owned());
            batch.db.prepare_cached(SQL)?.execute(params![id.0, url, settings, paused, by_key])?;
            configured(batch.db)?;
            let after = find(batch.db, id)?;
            note(batch, Deed::TargetChanged, &after)?;
            Ok(after)
        })
        .await
    }

    /// Holds up the deliveries to a target since that time, because nobody answers; `None` lets them go on. Every
    /// delivery that waits for the target shows the error, although none is written.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn set_down(&self, id: TargetId, down: Option<(Timestamp, Silence)>) -> Result<(), InboxError> {
        const SQL: &str = "UPDATE target SET down_since = ?2, down_error = ?3 WHERE id = ?1";
        self.write(move |batch| {
            let since = down.as_ref().map(|(since, _)| since.as_micros());
            let error = down.as_ref().map(|(_, silence)| silence.error.as_str());
            batch.db.prepare_cached(SQL)?.execute(params![id.0, since, error])?;
            if let Some((since, silence)) = &down {
                target_states::silent(batch.db, id, *since, silence)?;
            }
            configured(batch.db)
        })
        .await
    }

    /// Removes a target. [`refuse_waiting`](Self::refuse_waiting) ends the deliveries that wait for it.
    ///
    /// # Errors
    /// Fails with [`InboxError::UnknownTarget`] if there is no such target.
    pub async fn remove_target(&self, id: TargetId, now: Timestamp) -> Result<(), InboxError> {
        self.write(move |batch| {
            let target = find(batch.db, id)?;
            note(batch, Deed::TargetRemoved, &target)?;
            remove(batch.db, id, now)
        })
        .await
    }

    /// Removes the session targets whose command ended without removing them: all but `except`, those of this process's
    /// own commands. It is for a process that has just become the one that delivers. That process's couriers end the
    /// deliveries that wait for the targets. Returns how many targets it removed.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn remove_session_targets(
        &self,
        except: Vec<TargetId>,
        now: Timestamp,
    ) -> Result<usize, InboxError> {
        const SQL: &str = "SELECT id FROM target WHERE kind = 1 AND removed_at IS NULL";
        self.write(move |batch| {
            let mut select = batch.db.prepare_cached(SQL)?;
            let found = select.query_map([], |row| Ok(TargetId(row.get(0)?)))?;
            let mut ids: Vec<TargetId> = found.collect::<Result<_, _>>()?;
            ids.retain(|id| !except.contains(id));
            for id in &ids {
                remove(batch.db, *id, now)?;
            }
            Ok(ids.len())
        })
        .await
    }
}

/// Notes in the audit trail what was done to a target, unless the target ends with its command or its one delivery.
fn note(batch: &Batch<'_>, what: Deed, target: &Target) -> Result<(), InboxError> {
    if target.kind == TargetKind::Kept {
        let source = target.source.as_ref().map(Slug::as_str);
        record(batch, what, &Subject::target(target.id, source, &target.url).with("paused", target.paused))?;
    }
    Ok(())
}

fn remove(db: &Connection, id: TargetId, now: Timestamp) -> Result<(), InboxError> {
    const REMOVE: &str = "UPDATE target SET removed_at = ?2 WHERE id = ?1";
    db.prepare_cached(REMOVE)?.execute(params![id.0, now.as_micros()])?;
    configured(db)
}

fn find(db: &Connection, id: TargetId) -> Result<Target, InboxError> {
    let found =
        db.prepare_cached(&format!("{SELECT} AND t.id = ?1"))?.query_row([id.0], target).optional()?;
    found.ok_or(InboxError::UnknownTarget(id.0))
}

fn given_before(db: &Connection, url: &str) -> Result<Option<Target>, InboxError> {
    let sql = format!("{SELECT} AND t.kind = 2 AND t.url = ?1");
    Ok(db.prepare_cached(&sql)?.query_row([url], target).optional()?)
}

/// Fails if a kept target other than `except` sends the same source's events, or every source's, to this URL.
fn check_new(
    db: &Connection,
    source: Option<i64>,
    url: &str,
    except: Option<TargetId>,
) -> Result<(), InboxError> {
    const SQL: &str = "SELECT id FROM target WHERE source IS ?1 AND url = ?2 AND id IS NOT ?3 AND kind = ?4
        AND removed_at IS NULL";
    let values = params![source, url, except.map(|id| id.0), TargetKind::Kept as i64];
    match db.prepare_cached(SQL)?.query_row(values, |row| row.get(0)).optional()? {
        Some(id) => Err(InboxError::TargetExists(id)),
        None => Ok(()),
    }
}

fn source_row(db: &Connection, slug: &Slug) -> Result<i64, InboxError> {
    const SQL: &str = "SELECT id FROM source WHERE slug = ?1 AND removed_at IS NULL";
    let row = db.prepare_cached(SQL)?.query_row([slug.as_str()], |row| row.get(0)).optional()?;
    row.ok_or_else(|| InboxError::UnknownSource(slug.to_string()))
}

/// Returns every target.
pub(crate) fn all(db: &Connection) -> Result<Vec<Target>, InboxError> {
    let mut select = db.prepare_cached(&format!("{SELECT} ORDER BY t.id"))?;
    let found = select.query_map([], target)?;
    Ok(found.collect::<Result<_, _>>()?)
}

fn target(row: &Row<'_>) -> rusqlite::Result<Target> {
    let slug: Option<String> = row.get(1)?;
    let settings: String = row.get(3)?;
    let settings: TargetSettings =
        serde_json::from_str(&settings).map_err(|_| rows::corrupt(3, "target settings"))?;
    let kind: usize = row.get(4)?;
    Ok(Target {
        id: TargetId(row.get(0)?),
        source: slug.map(|slug| slug.parse()).transpose().map_err(|_| rows::corrupt(1, "source name"))?,
        url: row.get(2)?,
        order: settings.order,
        timeout: Duration::from_millis(settings.timeout_ms),
        retry: RetryPolicy {
            attempts: settings.attempts,
            base: Duration::from_millis(settings.retry_base_ms),
            cap: Duration::from_millis(settings.retry_cap_ms),
        },
        preserve_host: settings.preserve_host,
        hookmitt_headers: settings.hookmitt_headers,
        paused: row.get(5)?,
        down_since: rows::moment_or_null(row, 6)?,
        kind: TargetKind::ALL.get(kind).copied().ok_or_else(|| rows::corrupt(4, "target kind"))?,
    })
}
