//! The sources: made by hand, or by a request for an unknown name on the capture port.

use std::collections::{BTreeMap, BTreeSet};

use hookmitt_event::{
    Answer, Deed, GenericScheme, OnDuplicate, OnInvalid, ProviderFrom, Slug, Source, SyncSettings, Timestamp,
};
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde::{Deserialize, Serialize};

use crate::{
    Inbox, InboxError,
    audit::{Subject, record},
    routes::{config_version, configured},
    rows,
};

/// How many sources requests for unknown names may make.
pub const AUTO_SOURCES: i64 = 50;

/// The settings of a source, as stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SourceSettings {
    /// The catalogue id of the source's provider.
    #[serde(skip)]
    pub provider: Option<String>,
    /// Who set the provider.
    pub provider_from: Option<ProviderFrom>,
    /// What is done with an event whose signature is bad.
    pub on_invalid: OnInvalid,
    /// What is done with a duplicate.
    pub on_duplicate: OnDuplicate,
    /// The public URL that the provider calls.
    pub public_url: Option<String>,
    /// Host names by which GET and HEAD requests may call the source, beside this machine's names.
    pub allowed_hosts: BTreeSet<String>,
    /// How old a signed timestamp may be, in seconds.
    pub tolerance_s: Option<u32>,
    /// What the capture port answers.
    pub answer: Answer,
    /// How a source without a catalogue provider signs.
    pub generic: Option<GenericScheme>,
    /// Values on which verification depends and which no request carries, for example a webhook id.
    pub params: BTreeMap<String, String>,
    /// Whether a genuine set-up request is confirmed, by calling the URL that it names, without a click.
    pub confirm: bool,
    /// How missed events are fetched from the provider's own API.
    pub sync: SyncSettings,
}

impl From<&Source> for SourceSettings {
    fn from(source: &Source) -> Self {
        let source = source.clone();
        Self {
            provider: source.provider,
            provider_from: source.provider_from,
            on_invalid: source.on_invalid,
            on_duplicate: source.on_duplicate,
            public_url: source.public_url,
            allowed_hosts: source.allowed_hosts,
            tolerance_s: source.tolerance_s,
            answer: source.answer,
            generic: source.generic,
            params: source.params,
            confirm: source.confirm,
            sync: source.sync,
        }
    }
}

impl Inbox {
    /// Returns every source, by name.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn sources(&self) -> Result<Vec<Source>, InboxError> {
        self.readers.read(all).await
    }

    /// Adds a source. A removed source of that name comes back with these settings.
    ///
    /// # Errors
    /// Fails with [`InboxError::SourceExists`], or, if `auto` is set, with [`InboxError::TooManySources`] if there are
    /// [`AUTO_SOURCES`] made in that way.
    pub async fn add_source(
        &self,
        slug: Slug,
        settings: SourceSettings,
        auto: bool,
        now: Timestamp,
    ) -> Result<Source, InboxError> {
        let wanted = slug.clone();
        // Read first, without the writer, because a stranger can ask any number of times for a source that exists or
        // for one too many.
        if let Some(known) = self.readers.read(move |db| known(db, &wanted, auto)).await? {
            return Ok(known);
        }
        self.write(move |batch| {
            if let Some(known) = known(batch.db, &slug, auto)? {
                return Ok(known);
            }
            insert(batch.db, &slug, &settings, auto, now)?;
            configured(batch.db)?;
            if !auto {
                record(batch, Deed::SourceAdded, &Subject::source(slug.as_str()))?;
            }
            find(batch.db, &slug)?.ok_or_else(|| InboxError::UnknownSource(slug.to_string()))
        })
        .await
    }

    /// Changes a source. If the new settings have no `provider_from`, the stored provider is kept and the given one is
    /// ignored, because an event may have set the provider meanwhile.
    ///
    /// # Errors
    /// Fails with [`InboxError::UnknownSource`] if there is no such source.
    pub async fn set_source(&self, slug: Slug, mut settings: SourceSettings) -> Result<Source, InboxError> {
        const SQL: &str = "UPDATE source SET provider = ?2, settings = ?3, auto_created = 0
            WHERE slug = ?1 AND removed_at IS NULL";
        self.write(move |batch| {
            let now = find(batch.db, &slug)?.ok_or_else(|| InboxError::UnknownSource(slug.to_string()))?;
            let before = SourceSettings::from(&now);
            if settings.provider_from.is_none() {
                (settings.provider, settings.provider_from) = (now.provider, now.provider_from);
            }
            let values = params![slug.as_str(), settings.provider, json(&settings)];
            batch.db.prepare_cached(SQL)?.execute(values)?;
            configured(batch.db)?;
            let subject = Subject::source(slug.as_str()).with("changed", changed(&before, &settings));
            record(batch, Deed::SourceChanged, &subject)?;
            find(batch.db, &slug)?.ok_or_else(|| InboxError::UnknownSource(slug.to_string()))
        })
        .await
    }

    /// Counts down a source's "fail the next N" by one, if it isn't zero. Returns whether this request fails.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn take_failure(&self, slug: Slug) -> Result<bool, InboxError> {
        self.write(move |batch| {
            let Some(source) = find(batch.db, &slug)? else { return Ok(false) };
            let mut settings = SourceSettings::from(&source);
            if settings.answer.fail_next == 0 {
                return Ok(false);
            }
            settings.answer.fail_next -= 1;
            const SQL: &str = "UPDATE source SET settings = ?2 WHERE slug = ?1";
            batch.db.prepare_cached(SQL)?.execute(params![slug.as_str(), json(&settings)])?;
            configured(batch.db)?;
            Ok(true)
        })
        .await
    }

    /// Removes a source. Its events stay and can be listed.
    ///
    /// # Errors
    /// Fails with [`InboxError::UnknownSource`] if there is no such source.
    pub async fn remove_source(&self, slug: Slug, now: Timestamp) -> Result<(), InboxError> {
        const SQL: &str = "UPDATE source SET removed_at = ?2 WHERE slug = ?1 AND removed_at IS NULL";
        self.write(move |batch| {
            configured(batch.db)?;
            match batch.db.prepare_cached(SQL)?.execute(params![slug.as_str(), now.as_micros()])? {
                0 => Err(InboxError::UnknownSource(slug.to_string())),
                _ => record(batch, Deed::SourceRemoved, &Subject::source(slug.as_str())).map(drop),
            }
        })
        .await
    }

    /// Returns when a source was made.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn source_made_at(&self, row: i64) -> Result<Timestamp, InboxError> {
        const SQL: &str = "SELECT created_at FROM source WHERE id = ?1";
        self.readers.read(move |db| Ok(db.query_row(SQL, [row], |row| rows::moment(row, 0))?)).await
    }

    /// Returns a number that grows with every change that any process makes to sources, targets, tunnels or secrets.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn config_version(&self) -> Result<i64, InboxError> {
        self.readers.read(config_version).await
    }

    /// Announces a change of something outside the file, for example of a secret, so that other processes read it
    /// again.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn announce_config(&self) -> Result<(), InboxError> {
        self.write(|batch| configured(batch.db)).await
    }

    /// Returns the name of this inbox in the keychain.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn instance(&self) -> Result<String, InboxError> {
        const SQL: &str = "SELECT value FROM meta WHERE key = 'instance'";
        self.readers.read(|db| Ok(db.query_row(SQL, [], |row| row.get(0))?)).await
    }
}

/// Returns the names of the settings that differ.
fn changed(before: &SourceSettings, after: &SourceSettings) -> Vec<String> {
    let fields = |settings| match serde_json::to_value(settings) {
        Ok(serde_json::Value::Object(fields)) => fields,
        _ => serde_json::Map::new(),
    };
    let (before, mut after) = (fields(before), fields(after));
    for (name, value) in &before {
        if after.get(name) == Some(value) {
            after.remove(name);
        } else {
            after.insert(name.clone(), serde_json::Value::Null);
        }
    }
    after.into_iter().map(|(name, _)| name).collect()
}

fn insert(
    db: &Connection,
    slug: &Slug,
    settings: &SourceSettings,
    auto: bool,
    now: Timestamp,
) -> Result<(), InboxError> {
    const SQL: &str = "INSERT INTO source (slug, provider, settings, auto_created, created_at)
        VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (slug) DO UPDATE SET provider = excluded.provider,
        settings = excluded.settings, auto_created = excluded.auto_created, removed_at = NULL";
    let values = params![slug.as_str(), settings.provider, json(settings), auto, now.as_micros()];
    db.prepare_cached(SQL)?.execute(values)?;
    Ok(())
}

fn find(db: &Connection, slug: &Slug) -> Result<Option<Source>, InboxError> {
    const SQL: &str = "SELECT id, slug, provider, settings, auto_created FROM source
        WHERE slug = ?1 AND removed_at IS NULL";
    Ok(db.prepare_cached(SQL)?.query_row([slug.as_str()], source).optional()?)
}

/// Returns the source if it exists and may be used, `None` if it has to be made, or an error if it may not be made.
fn known(db: &Connection, slug: &Slug, auto: bool) -> Result<Option<Source>, InboxError> {
    match find(db, slug)? {
        Some(found) if auto => Ok(Some(found)),
        Some(_) => Err(InboxError::SourceExists(slug.to_string())),
        None if auto && auto_created(db)? >= AUTO_SOURCES => Err(InboxError::TooManySources(AUTO_SOURCES)),
        None => Ok(None),
    }
}

fn auto_created(db: &Connection) -> Result<i64, InboxError> {
    const SQL: &str = "SELECT count(*) FROM source WHERE auto_created AND removed_at IS NULL";
    Ok(db.prepare_cached(SQL)?.query_row([], |row| row.get(0))?)
}

pub(crate) fn json(settings: &SourceSettings) -> String {
    serde_json::to_string(settings).unwrap_or_else(|_| "{}".to_owned())
}

/// Returns every source, by name.
pub(crate) fn all(db: &Connection) -> Result<Vec<Source>, InboxError> {
    const SQL: &str = "SELECT id, slug, provider, settings, auto_created FROM source
        WHERE removed_at IS NULL ORDER BY slug";
    let mut select = db.prepare_cached(SQL)?;
    let found = select.query_map([], source)?;
    Ok(found.collect::<Result<_, _>>()?)
}

pub(crate) fn source(row: &Row<'_>) -> rusqlite::Result<Source> {
    let slug: String = row.get(1)?;
    let settings: String = row.get(3)?;
    let settings: SourceSettings =
        serde_json::from_str(&settings).map_err(|_| rows::corrupt(3, "source settings"))?;
    Ok(Source {
        row: row.get(0)?,
        slug: slug.parse().map_err(|_| rows::corrupt(1, "source name"))?,
        provider: row.get(2)?,
        provider_from: settings.provider_from,
        on_invalid: settings.on_invalid,
        on_duplicate: settings.on_duplicate,
        public_url: settings.public_url,
        allowed_hosts: settings.allowed_hosts,
        tolerance_s: settings.tolerance_s,
        answer: settings.answer,
        generic: settings.generic,
        params: settings.params,
        confirm: settings.confirm,
        sync: settings.sync,
        auto_created: row.get(4)?,
    })
}
