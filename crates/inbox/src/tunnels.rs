//! The tunnels, and what is stored about each of them.

use hookmitt_event::{Timestamp, TunnelKind};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::{Inbox, InboxError, gaps, routes::configured, rows};

/// A tunnel to be added.
#[derive(Clone, Debug)]
pub struct NewTunnel {
    /// The kind of tunnel.
    pub kind: TunnelKind,
    /// The tunnel's label, for people.
    pub label: String,
    /// The tunnel's name at the relay.
    pub name: Option<String>,
    /// The relay's URL.
    pub url: Option<String>,
    /// The name under which the vault holds the tunnel's keys.
    pub keys: Option<String>,
    /// The only source that the tunnel serves, if it serves just one.
    pub source: Option<String>,
    /// The sources that were chosen for a relay's tunnel. An empty list stands for all.
    pub sources: Vec<String>,
    /// The tunnel's public URL.
    pub public_url: Option<String>,
}

/// A tunnel as stored in the inbox. Its keys are in the vault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptTunnel {
    /// The tunnel's row.
    pub id: i64,
    /// The kind of tunnel.
    pub kind: TunnelKind,
    /// The tunnel's label, for people.
    pub label: String,
    /// The tunnel's name at the relay.
    pub name: Option<String>,
    /// The relay's URL.
    pub url: Option<String>,
    /// The name under which the vault holds the tunnel's keys.
    pub keys: Option<String>,
    /// The only source that the tunnel serves, if it serves just one.
    pub source: Option<String>,
    /// The sources that were chosen for a relay's tunnel. An empty list stands for all.
    pub sources: Vec<String>,
    /// The tunnel's public URL, as last reported.
    pub public_url: Option<String>,
    /// Whether the tunnel is turned on.
    pub enabled: bool,
    /// When the tunnel was added.
    pub created_at: Timestamp,
    /// Until when the tunnel was surely connected; `None` if it never was.
    pub connected_until: Option<Timestamp>,
    /// The moment up to which everything that the relay received is stored here; `None` if that isn't known.
    pub complete_until: Option<Timestamp>,
    /// What the relay reported last.
    pub told: Told,
    /// When the tunnel's newest event was received.
    pub last_event_at: Option<Timestamp>,
    /// How many of the tunnel's letters could not be read and were dropped.
    pub spoilt: u64,
    /// When a letter was last dropped.
    pub spoilt_at: Option<Timestamp>,
}

/// What a relay counts for a tunnel beside its letters. The counts only grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// How many requests the relay had to refuse.
    pub refused: u64,
    /// When the relay last refused a request.
    pub refused_at: Option<Timestamp>,
    /// How many requests were for sources that don't exist.
    pub unknown: u64,
}

const SELECT: &str = "SELECT id, kind, label, name, url, keys, source, public_url, enabled, created_at,
    connected_until, refused, refused_at, unknown, last_event_at, spoilt, spoilt_at,
    complete_until, sources FROM tunnel WHERE removed_at IS NULL";

impl Inbox {
    /// Returns every tunnel, in the order in which they were added.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn tunnels(&self) -> Result<Vec<KeptTunnel>, InboxError> {
        self.readers.read(all).await
    }

    /// Returns one tunnel.
    ///
    /// # Errors
    /// Fails with [`InboxError::UnknownTunnel`] if there is no such tunnel.
    pub async fn tunnel(&self, id: i64) -> Result<KeptTunnel, InboxError> {
        self.readers.read(move |db| find(db, id)).await
    }

    /// Adds a tunnel.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn add_tunnel(&self, new: NewTunnel, now: Timestamp) -> Result<KeptTunnel, InboxError> {
        const SQL: &str =
            "INSERT INTO tunnel (kind, label, name, url, keys, source, public_url, enabled, created_at, sources)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 1, ?8, ?9) RETURNING id";
        self.write(move |batch| {
            let NewTunnel { kind, label, name, url, keys, source, sources, public_url } = &new;
            let (kind, now, sources) = (*kind as i64, now.as_micros(), list(sources));
            let values = params![kind, label, name, url, keys, source, public_url, now, sources];
            let id = batch.db.prepare_cached(SQL)?.query_row(values, |row| row.get(0))?;
            configured(batch.db)?;
            find(batch.db, id)
        })
        .await
    }

    /// Changes a tunnel's label and chosen sources, and turns it on or off.
    ///
    /// # Errors
    /// Fails with [`InboxError::UnknownTunnel`] if there is no such tunnel.
    pub async fn set_tunnel(
        &self,
        id: i64,
        label: String,
        enabled: bool,
        sources: Vec<String>,
    ) -> Result<KeptTunnel, InboxError> {
        const SQL: &str =
            "UPDATE tunnel SET label = ?2, enabled = ?3, sources = ?4 WHERE id = ?1 AND removed_at IS NULL";
        self.write(move |batch| {
            batch.db.prepare_cached(SQL)?.execute(params![id, label, enabled, list(&sources)])?;
            configured(batch.db)?;
            find(batch.db, id)
        })
        .await
    }

    /// Removes a tunnel.
    ///
    /// # Errors
    /// Fails with [`InboxError::UnknownTunnel`] if there is no such tunnel.
    pub async fn remove_tunnel(&self, id: i64, now: Timestamp) -> Result<(), InboxError> {
        const SQL: &str = "UPDATE tunnel SET removed_at = ?2 WHERE id = ?1 AND removed_at IS NULL";
        self.write(move |batch| {
            configured(batch.db)?;
            match batch.db.prepare_cached(SQL)?.execute(params![id, now.as_micros()])? {
                0 => Err(InboxError::UnknownTunnel(id)),
                _ => Ok(()),
            }
        })
        .await
    }

    /// Counts letters of a tunnel that could not be read and were dropped. `waited` of them had waited for the
    /// connection, and count as lost in the open gap, which is being caught up.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn tunnel_spoilt(
        &self,
        id: i64,
        letters: u64,
        waited: u64,
        now: Timestamp,
    ) -> Result<(), InboxError> {
        const SQL: &str = "UPDATE tunnel SET spoilt = spoilt + ?2, spoilt_at = ?3 WHERE id = ?1";
        self.write(move |batch| {
            gaps::lose(batch.db, id, waited)?;
            batch.db.prepare_cached(SQL)?.execute(params![id, letters, now.as_micros()])?;
            Ok(())
        })
        .await
    }

    /// Stores the moment up to which everything that a tunnel's relay received is stored here.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn tunnel_complete(&self, id: i64, until: Timestamp) -> Result<(), InboxError> {
        const SQL: &str = "UPDATE tunnel SET complete_until = ?2 WHERE id = ?1";
        self.write(move |batch| {
            batch.db.prepare_cached(SQL)?.execute(params![id, until.as_micros()])?;
            Ok(())
        })
        .await
    }

    /// Stores that a tunnel is connected: the moment until which that is sure, its public URL, and the relay's report.
    /// Requests that the relay refused since its last report count as lost in the open gap, if there is one.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn tunnel_connected(
        &self,
        id: i64,
        until: Timestamp,
        public_url: Option<String>,
        told: Told,
        last_event_at: Option<Timestamp>,
    ) -> Result<(), InboxError> {
        const BEFORE: &str = "SELECT refused FROM tunnel WHERE id = ?1";
        // The latest report counts, even if it is earlier: a clock that was ahead must not hide later gaps.
        const SQL: &str = "UPDATE tunnel SET connected_until = ?2,
            public_url = coalesce(?3, public_url), refused = ?4, refused_at = ?5, unknown = ?6,
            last_event_at = coalesce(?7, last_event_at) WHERE id = ?1";
        self.write(move |batch| {
            let before = batch.db.prepare_cached(BEFORE)?.query_row([id], |row| row.get::<_, u64>(0));
            let grown = before.optional()?.map_or(0, |before| told.refused.saturating_sub(before));
            gaps::lose(batch.db, id, grown)?;
            batch.db.prepare_cached(SQL)?.execute(params![
                id,
                until.as_micros(),
                public_url,
                told.refused,
                told.refused_at.map(Timestamp::as_micros),
                told.unknown,
                last_event_at.map(Timestamp::as_micros),
            ])?;
            Ok(())
        })
        .await
    }
}

fn find(db: &Connection, id: i64) -> Result<KeptTunnel, InboxError> {
    let found = db.prepare_cached(&format!("{SELECT} AND id = ?1"))?.query_row([id], tunnel);
    found.optional()?.ok_or(InboxError::UnknownTunnel(id))
}

/// Returns every tunnel.
pub(crate) fn all(db: &Connection) -> Result<Vec<KeptTunnel>, InboxError> {
    let mut select = db.prepare_cached(&format!("{SELECT} ORDER BY id"))?;
    let found = select.query_map([], tunnel)?;
    Ok(found.collect::<Result<_, _>>()?)
}

fn tunnel(row: &Row<'_>) -> rusqlite::Result<KeptTunnel> {
    let kind: usize = row.get(1)?;
    Ok(KeptTunnel {
        id: row.get(0)?,
        kind: *TunnelKind::ALL.get(kind).ok_or_else(|| rows::corrupt(1, "kind of tunnel"))?,
        label: row.get(2)?,
        name: row.get(3)?,
        url: row.get(4)?,
        keys: row.get(5)?,
        source: row.get(6)?,
        public_url: row.get(7)?,
        enabled: row.get(8)?,
        created_at: rows::moment(row, 9)?,
        connected_until: rows::moment_or_null(row, 10)?,
        told: Told {
            refused: row.get(11)?,
            refused_at: rows::moment_or_null(row, 12)?,
            unknown: row.get(13)?,
        },
        last_event_at: rows::moment_or_null(row, 14)?,
        spoilt: row.get(15)?,
        spoilt_at: rows::moment_or_null(row, 16)?,
        complete_until: rows::moment_or_null(row, 17)?,
        sources: chosen(row.get(18)?)?,
    })
}

/// Returns the chosen sources as they are stored; `None` (null) if none were chosen.
fn list(sources: &[String]) -> Option<String> {
    (!sources.is_empty()).then(|| serde_json::Value::from(sources).to_string())
}

/// Returns the chosen sources from what is stored. A list that can't be read is an error, because an empty one means
/// "all".
fn chosen(kept: Option<String>) -> rusqlite::Result<Vec<String>> {
    let Some(kept) = kept else { return Ok(Vec::new()) };
    serde_json::from_str(&kept).map_err(|_| rows::corrupt(18, "list of sources"))
}
