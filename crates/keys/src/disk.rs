//! Stores the fetched keys on disk, so that a restart needs no network. The keys are public, but only the owner may
//! write the file, because hookmitt trusts the keys in it.

use std::{collections::BTreeMap, fs, io, io::Write as _, path::Path};

use hookmitt_event::Timestamp;
use hookmitt_verify::parse_public_key;
use serde::{Deserialize, Serialize};

use crate::memory::{Fetched, KeyCache};

const NAME: &str = "keys.json";

/// Larger files were not written by hookmitt. In bytes.
const LARGEST: u64 = 4 * 1024 * 1024;

#[derive(Serialize, Deserialize)]
struct Line {
    fetched_at: Timestamp,
    expires_at: Timestamp,
    text: String,
}

/// Reads the stored keys. A file that cannot be read counts as empty, because the keys can be fetched again.
pub(crate) fn read(directory: &Path) -> KeyCache {
    let mut known = KeyCache::default();
    let path = directory.join(NAME);
    if fs::metadata(&path).map_or(true, |data| data.len() > LARGEST) {
        return known;
    }
    let lines: Option<BTreeMap<String, Line>> =
        fs::read(&path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    for (url, Line { fetched_at, expires_at, text }) in lines.unwrap_or_default() {
        if let Ok(key) = parse_public_key(text.as_bytes()) {
            known.keep(url, Fetched { key, text, fetched_at, expires_at });
        }
    }
    known
}

/// Returns the content of the file.
pub(crate) fn content(known: &KeyCache, now: Timestamp) -> Vec<u8> {
    let line = |fetched: &Fetched| Line {
        fetched_at: fetched.fetched_at,
        expires_at: fetched.expires_at,
        text: fetched.text.clone(),
    };
    let lines: BTreeMap<_, _> = known.fetched(now).map(|(url, fetched)| (url, line(fetched))).collect();
    serde_json::to_vec_pretty(&lines).unwrap_or_default()
}

/// Replaces the file in one step: either completely or not at all.
pub(crate) fn write(directory: &Path, content: &[u8]) -> io::Result<()> {
    // The temporary file has mode 0600 on Unix, and a unique name because several processes may write.
    let mut file = tempfile::Builder::new().prefix(".keys-").tempfile_in(directory)?;
    file.write_all(content)?;
    file.persist(directory.join(NAME))?;
    Ok(())
}
