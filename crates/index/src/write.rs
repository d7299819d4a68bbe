//! Puts events into the index, and takes them out.

use std::{collections::BTreeMap, time::Duration};

use hookmitt_search::Answer;
use rusqlite::Connection;

use crate::{
    bits::Bits,
    chunk::{Chunk, Row, place},
    column::Column,
    entry::Entry,
    error::IndexError,
    runs, sieve,
    words::{Next, Words},
};

/// Stands for the time that no attempt took.
const NO_ATTEMPT: i64 = -1;

/// Adds or replaces entries, in a transaction of the caller's. Returns whether texts were replaced.
pub(crate) fn write(db: &Connection, next: &mut Next, entries: Vec<Entry>) -> Result<bool, IndexError> {
    let mut chunks: BTreeMap<i64, Vec<Entry>> = BTreeMap::new();
    for entry in entries {
        chunks.entry(place(entry.seq).0).or_default().push(entry);
    }
    let (mut words, mut has_replaced) = (Words::new(db, next), false);
    for (number, entries) in chunks {
        let mut chunk = Chunk::read(db, number)?;
        let (mut texts, mut slots) = (BTreeMap::new(), Bits::none());
        for entry in &entries {
            let (_, slot) = place(entry.seq);
            let was_there = chunk.set(slot, &row(entry, &mut words)?, &mut words);
            has_replaced |= was_there && entry.text.is_some();
            if let Some(text) = &entry.text {
                texts.insert(slot as u16, text.as_str());
                slots.insert(slot);
            }
        }
        let gone = runs::uncover(db, number, &slots)?;
        sieve::remove(db, number, &slots)?;
        chunk.store(db, gone)?;
        runs::add(db, number, &texts)?;
        sieve::add(db, number, &texts)?;
    }
    words.store()?;
    Ok(has_replaced)
}

/// Removes events, in a transaction of the caller's.
pub(crate) fn remove(db: &Connection, next: &mut Next, seqs: &[i64]) -> Result<(), IndexError> {
    let mut chunks: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
    for (chunk, slot) in seqs.iter().map(|seq| place(*seq)) {
        chunks.entry(chunk).or_default().push(slot);
    }
    let mut words = Words::new(db, next);
    for (number, slots) in chunks {
        let mut chunk = Chunk::read(db, number)?;
        let mut removed = Bits::none();
        for slot in slots {
            if chunk.remove(slot, &mut words) {
                removed.insert(slot);
            }
        }
        if !removed.is_empty() {
            let gone = runs::uncover(db, number, &removed)?;
            sieve::remove(db, number, &removed)?;
            chunk.store(db, gone)?;
        }
    }
    words.store()
}

fn row(entry: &Entry, words: &mut Words<'_>) -> Result<Row, IndexError> {
    let mut row = Row::default();
    let mut set = |column: Column, value| row[column.place()] = value;
    set(Column::Source, words.number(Column::Source, Some(&entry.source))?);
    set(Column::Type, words.number(Column::Type, entry.event_type.as_deref())?);
    set(Column::Provider, words.number(Column::Provider, entry.provider.as_deref())?);
    set(Column::Targets, words.set(Column::Targets, &entry.targets)?);
    set(Column::Method, words.number(Column::Method, Some(&entry.method))?);
    set(Column::Path, words.number(Column::Path, Some(&entry.path))?);
    set(Column::Tags, words.set(Column::Tags, &entry.tags)?);
    let statuses = entry.answers.iter().filter_map(|answer| answer.status.map(|status| status.to_string()));
    set(Column::Answers, words.set(Column::Answers, &statuses.collect::<Vec<_>>())?);
    set(Column::Verdict, entry.verdict as i64);
    set(Column::Status, entry.status as i64);
    set(Column::Via, entry.via as i64);
    set(Column::Marks, entry.marks.number());
    set(Column::Size, i64::try_from(entry.size).unwrap_or(i64::MAX));
    set(Column::Received, entry.received_at.as_micros());
    let took = |answer: &Answer| answer.last.then(|| milliseconds(answer.took));
    set(Column::Slowest, entry.answers.iter().filter_map(took).max().unwrap_or(NO_ATTEMPT));
    set(Column::Fastest, entry.answers.iter().filter_map(took).min().unwrap_or(NO_ATTEMPT));
    Ok(row)
}

fn milliseconds(took: Duration) -> i64 {
    i64::try_from(took.as_millis()).unwrap_or(i64::MAX)
}
