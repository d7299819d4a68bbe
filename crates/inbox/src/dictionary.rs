//! Dictionaries: text that is likely to be in what is compressed, so that it needn't be stored with each event.
//!
//! A dictionary outlives the events that were compressed with it. So it must be made of the product's own text, never of
//! an event's.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use rusqlite::{Connection, OptionalExtension as _, params};
use sha2::{Digest as _, Sha256};
use zstd::dict::DecoderDictionary;

use crate::InboxError;

/// How many bits of a dictionary's hash name it.
const NAME_BITS: u32 = 48;

/// Text for a compressor to refer to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dictionary {
    /// What it is made from, for people.
    pub name: String,
    /// The text itself.
    pub text: Vec<u8>,
}

impl Dictionary {
    /// Returns the number by which rows name this dictionary, the same in every inbox.
    pub(crate) fn id(&self) -> i64 {
        id_of(&self.text)
    }

    /// Stores the dictionary, unless it is there.
    pub(crate) fn store(&self, db: &Connection) -> Result<(), InboxError> {
        const IS_THERE: &str = "SELECT 1 FROM dictionary WHERE id = ?1";
        const SQL: &str = "INSERT INTO dictionary (id, name, data) VALUES (?1, ?2, ?3)";
        if !db.prepare_cached(IS_THERE)?.exists([self.id()])? {
            db.prepare_cached(SQL)?.execute(params![self.id(), self.name, self.text])?;
        }
        Ok(())
    }
}

fn id_of(text: &[u8]) -> i64 {
    let hash = Sha256::digest(text);
    let first = hash.iter().take(8).fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
    i64::try_from(first >> (u64::BITS - NAME_BITS)).unwrap_or_default()
}

/// A dictionary prepared for reading. There are few, and they are kept until the process ends.
pub(crate) type Prepared = &'static DecoderDictionary<'static>;

/// The dictionaries that were prepared so far. Their ids are the same in every inbox.
static PREPARED: Mutex<BTreeMap<i64, Prepared>> = Mutex::new(BTreeMap::new());

/// Returns a stored dictionary, prepared for reading.
pub(crate) fn prepared(db: &Connection, id: i64) -> Result<Prepared, InboxError> {
    let mut all = PREPARED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = all.get(&id) {
        return Ok(known);
    }
    let text = text(db, id)?;
    let prepared: Prepared = Box::leak(Box::new(DecoderDictionary::copy(&text)));
    all.insert(id, prepared);
    Ok(prepared)
}

/// Returns the text of a stored dictionary.
pub(crate) fn text(db: &Connection, id: i64) -> Result<Vec<u8>, InboxError> {
    const SQL: &str = "SELECT data FROM dictionary WHERE id = ?1";
    let text: Option<Vec<u8>> = db.prepare_cached(SQL)?.query_row([id], |row| row.get(0)).optional()?;
    let text = text.filter(|text| id_of(text) == id);
    text.ok_or_else(|| InboxError::Lost(format!("dictionary {id} is missing or changed")))
}
