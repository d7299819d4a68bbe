//! The sources: made by hand, or by an unknown name on the capture port.

use std::collections::{BTreeMap, BTreeSet};

use hookmitt_event::{Answer, GenericScheme, OnDuplicate, OnInvalid, ProviderFrom, Slug, Source, Timestamp};
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde::{Deserialize, Serialize};

use crate::{
    Inbox, InboxError,
    routes::{config_version, configured},
    rows,
};

/// How many sources unknown names may make.
pub const AUTO_SOURCES: i64 = 50;

/// What can be set of a source, as stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SourceSettings {
    /// The catalogue id of the provider.
    #[serde(skip)]
    pub provider: Option<String>,
    /// Who settled that.
    pub provider_from: Option<ProviderFrom>,
    /// What is done with a bad signature.
    pub on_invalid: OnInvalid,
    /// What is done with a repeat.
    pub on_duplicate: OnDuplicate,
    /// The URL that the provider calls.
    pub public_url: Option<String>,
    /// Names that its GET and HEAD requests may be called by, beside those of this machine.
    pub allowed_hosts: BTreeSet<String>,
    /// How old a signed timestamp may be, in seconds.
    pub tolerance_s: Option<u32>,
    /// What the capture port answers.
    pub answer: Answer,
    /// How a source without a catalogue provider signs.
    pub generic: Option<GenericScheme>,
    /// What its verdicts depend on and no request says, such as a webhook id.
    pub params: BTreeMap<String, String>,
    /// A genuine set-up request that wants a URL called is confirmed without a click.
    pub confirm: bool,
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
        }
    }
}

impl Inbox {
    /// Every source, by name.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn sources(&self) -> Result<Vec<Source>, InboxError> {
        const SQL: &str = "SELECT id, slug, provider, settings, auto_created FROM source
            WHERE removed_at IS NULL ORDER BY slug";
        self.readers
            .read(|db| {
                let mut select = db.prepare_cached(SQL)?;
                let found = select.query_map([], source)?;
                Ok(found.collect::<Result<_, _>>()?)
            })
            .await
    }

    /// Adds a source; one that was removed comes back.
    ///
    /// # Errors
    /// [`InboxError::SourceExists`]; [`InboxError::TooManySources`] where it is `auto` and there are
    /// [`AUTO_SOURCES`] of those.
    pub async fn add_source(
        &self,
        slug: Slug,
        settings: SourceSettings,
        auto: bool,
        now: Timestamp,
    ) -> Result<Source, InboxError> {
        let wanted = slug.clone();
        // What a stranger can ask for at will, such as one name more than there may be, takes no turn at the writer.
        if let Some(known) = self.readers.read(move |db| known(db, &wanted, auto)).await? {
            return Ok(known);
        }
        self.write(move |batch| {
            if let Some(known) = known(batch.db, &slug, auto)? {
                return Ok(known);
            }
            insert(batch.db, &slug, &settings, auto, now)?;
            configured(batch.db)?;
            find(batch.db, &slug)?.ok_or_else(|| InboxError::UnknownSource(slug.to_string()))
        })
        .await
    }

    /// Changes a source. Without a `provider_from` the stored provider is kept, and the one given here is not looked at: an
    /// event may have set it meanwhile.
    ///
    /// # Errors
    /// Fails with [`InboxError::UnknownSource`] if there is no such source.
    pub async fn set_source(&self, slug: Slug, mut settings: SourceSettings) -> Result<Source, InboxError> {
        const SQL: &str = "UPDATE source SET provider = ?2, settings = ?3, auto_created = 0
            WHERE slug = ?1 AND removed_at IS NULL";
        self.write(move |batch| {
            if settings.provider_from.is_none()
                && let Some(now) = find(batch.db, &slug)?
            {
                (settings.provider, settings.provider_from) = (now.provider, now.provider_from);
            }
            let changed = batch.db.prepare_cached(SQL)?.execute(params![
                slug.as_str(),
                settings.provider,
                json(&settings)
            ])?;
            configured(batch.db)?;
            if changed == 0 {
                return Err(InboxError::UnknownSource(slug.to_string()));
            }
            find(batch.db, &slug)?.ok_or_else(|| InboxError::UnknownSource(slug.to_string()))
        })
        .await
    }

    /// Counts one of a source's "fail the next N" down, if any is left. Answers whether this one fails.
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
                _ => Ok(()),
            }
        })
        .await
    }

    /// Counts the changes that any process made to sources and targets, secrets included.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn config_version(&self) -> Result<i64, InboxError> {
        self.readers.read(config_version).await
    }

    /// Says that something outside the file, such as a secret, was changed: other processes look again.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn announce_config(&self) -> Result<(), InboxError> {
        self.write(|batch| configured(batch.db)).await
    }

    /// Names this inbox in the keychain.
    ///
    /// # Errors
    /// Fails if SQLite does.
    pub async fn instance(&self) -> Result<String, InboxError> {
        const SQL: &str = "SELECT value FROM meta WHERE key = 'instance'";
        self.readers.read(|db| Ok(db.query_row(SQL, [], |row| row.get(0))?)).await
    }
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

/// The source where it need not be made, or may not.
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
        auto_created: row.get(4)?,
    })
}
