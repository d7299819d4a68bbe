//! Blocks: small bodies that are compressed together.
//!
//! What is deleted for good first only leaves a note (`block_gone`). A block all of whose events are gone goes with the
//! last of them; in others, [`blank_next`] overwrites what is gone. So deleting many events, which are mostly
//! neighbours, compresses little again.

use std::{
    io,
    sync::{Arc, Mutex, PoisonError},
};

use rusqlite::{Connection, OptionalExtension as _, params};
use zstd::bulk::Compressor;

use crate::{
    InboxError, dictionary, form,
    press::{Block, LEVEL},
};

/// How many decompressed blocks are kept: neighbours of all providers, when many bodies are read in order. They take some
/// megabytes at most.
const KEPT: usize = 32;

/// Stores a block and returns its id.
pub(crate) fn put(db: &Connection, block: &Block) -> Result<i64, InboxError> {
    const SQL: &str = "INSERT INTO block (dictionary, events, data) VALUES (?1, ?2, ?3)";
    db.prepare_cached(SQL)?.execute(params![block.dictionary, block.events, block.data])?;
    Ok(db.last_insert_rowid())
}

/// Notes that a body of a block is gone.
pub(crate) fn lose(db: &Connection, block: i64, start: usize, length: usize) -> Result<(), InboxError> {
    const SQL: &str = "INSERT INTO block_gone (block, start, length) VALUES (?1, ?2, ?3)";
    db.prepare_cached(SQL)?.execute(params![block, start, length])?;
    Ok(())
}

/// Returns the bytes of a body in a block.
pub(crate) fn body(db: &Connection, id: i64, start: usize, length: usize) -> Result<Vec<u8>, InboxError> {
    let damaged = || InboxError::Lost(format!("the body is missing in block {id}"));
    let (dictionary, data) = stored(db, id)?.ok_or_else(damaged)?;
    let bodies = match known(&data) {
        Some(bodies) => bodies,
        None => {
            let bodies = form::bytes(&data, Some(dictionary::prepared(db, dictionary)?))?;
            keep(data, Arc::new(bodies))
        }
    };
    bodies.get(start..).and_then(|rest| rest.get(..length)).map(<[u8]>::to_vec).ok_or_else(damaged)
}

fn stored(db: &Connection, id: i64) -> Result<Option<(i64, Vec<u8>)>, InboxError> {
    const SQL: &str = "SELECT dictionary, data FROM block WHERE id = ?1";
    Ok(db.prepare_cached(SQL)?.query_row([id], |row| Ok((row.get(0)?, row.get(1)?))).optional()?)
}

/// Blocks that were read last, each as it is stored and decompressed; the last one first. They are compared by their
/// bytes, so it doesn't matter from which inbox one was read, nor when.
static KNOWN: Mutex<Vec<(Vec<u8>, Bodies)>> = Mutex::new(Vec::new());

/// The bodies of a block.
type Bodies = Arc<Vec<u8>>;

/// Returns the bodies of a block that was read before.
fn known(data: &[u8]) -> Option<Bodies> {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let place = known.iter().position(|(packed, _)| *packed == data)?;
    known[..=place].rotate_right(1);
    known.first().map(|(_, bodies)| Arc::clone(bodies))
}

fn keep(data: Vec<u8>, bodies: Bodies) -> Bodies {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.truncate(KEPT - 1);
    known.insert(0, (data, Arc::clone(&bodies)));
    bodies
}

/// Overwrites with zeros, in the next block, what is gone from it. Returns whether there was one.
pub(crate) fn blank_next(db: &Connection) -> Result<bool, InboxError> {
    const NEXT: &str = "SELECT block FROM block_gone WHERE blank = 0 ORDER BY block LIMIT 1";
    const DONE: &str = "UPDATE block_gone SET blank = 1 WHERE block = ?1 AND blank = 0";
    let Some(id) = db.prepare_cached(NEXT)?.query_row([], |row| row.get(0)).optional()? else {
        return Ok(false);
    };
    match blanked(db, id) {
        Err(InboxError::Lost(why)) => {
            tracing::warn!(why, id, "what is gone from a damaged block stays in it")
        }
        other => other?,
    }
    db.prepare_cached(DONE)?.execute([id])?;
    Ok(true)
}

/// Compresses a block again without what is gone. The other bodies stay where they are.
fn blanked(db: &Connection, id: i64) -> Result<(), InboxError> {
    const GONE: &str = "SELECT start, length FROM block_gone WHERE block = ?1 AND blank = 0";
    const PUT: &str = "UPDATE block SET data = ?2 WHERE id = ?1";
    let Some((dictionary, data)) = stored(db, id)? else { return Ok(()) };
    let mut bodies = form::bytes(&data, Some(dictionary::prepared(db, dictionary)?))?;
    let mut gone = db.prepare_cached(GONE)?;
    let mut rows = gone.query([id])?;
    while let Some(row) = rows.next()? {
        let (start, length): (usize, usize) = (row.get(0)?, row.get(1)?);
        if let Some(body) = bodies.get_mut(start..).and_then(|rest| rest.get_mut(..length)) {
            body.fill(0);
        }
    }
    let text = dictionary::text(db, dictionary)?;
    let frame = compressed(&bodies, &text).map_err(|why| InboxError::Lost(why.to_string()))?;
    db.prepare_cached(PUT)?.execute(params![id, form::form(&bodies, &frame)])?;
    Ok(())
}

fn compressed(bodies: &[u8], dictionary: &[u8]) -> io::Result<Vec<u8>> {
    let mut zstd = Compressor::with_dictionary(LEVEL, dictionary)?;
    zstd.include_checksum(true)?;
    zstd.compress(bodies)
}
