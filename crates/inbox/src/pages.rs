//! Reads rows out of the pages of a damaged file, without following the tree that leads to them.
//!
//! SQLite finds a row through the pages above it, so that one damaged page hides thousands of rows that are whole. The
//! form of the pages is described in SQLite's file format.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom},
    path::Path,
};

use rusqlite::types::Value;

/// The size of a page in bytes, as the first migration sets it.
pub(crate) const PAGE: usize = 4_096;

/// The kind of a page that holds rows of a table, and of those that hold entries: of an index, or of a table without
/// numbers for its rows.
const LEAF: u8 = 13;
const ENTRIES: u8 = 10;
const ENTRIES_ABOVE: u8 = 2;

/// The largest row that is read, in bytes: a body of 25 MiB and its header lines, with room.
const LARGEST: u64 = 64 * 1024 * 1024;

/// A row that was found: its number and its columns.
pub(crate) type Found = (i64, Vec<Value>);

/// The pages of a file.
pub(crate) struct Pages {
    file: File,
    count: u32,
}

impl Pages {
    /// Opens a file.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let count = u32::try_from(file.metadata()?.len() / PAGE as u64).unwrap_or(u32::MAX);
        Ok(Self { file, count })
    }

    /// How many pages there are. They are numbered from 1.
    pub(crate) const fn count(&self) -> u32 {
        self.count
    }

    /// Returns the rows in a page; none if it is no page of rows, or what can be read of it.
    pub(crate) fn rows(&mut self, number: u32) -> Vec<Found> {
        self.cells(number, LEAF, 8, |pages, cell| pages.row(cell))
    }

    /// Returns the entries in a page; none if it is no page of entries, or what can be read of it.
    pub(crate) fn entries(&mut self, number: u32) -> Vec<Vec<Value>> {
        let mut found = self.cells(number, ENTRIES, 8, |pages, cell| pages.entry(cell));
        // Those above others begin with the number of a page.
        found.extend(self.cells(number, ENTRIES_ABOVE, 12, |pages, cell| pages.entry(cell.get(4..)?)));
        found
    }

    /// Reads the cells of a page of that kind, whose head is so long.
    fn cells<T>(
        &mut self,
        number: u32,
        kind: u8,
        head: usize,
        read: impl Fn(&mut Self, &[u8]) -> Option<T>,
    ) -> Vec<T> {
        let Some(page) = self.page(number) else { return Vec::new() };
        let begin = if number == 1 { 100 } else { 0 };
        if page.get(begin) != Some(&kind) {
            return Vec::new();
        }
        let cells = u16_at(&page, begin + 3).unwrap_or(0);
        let places = (0..usize::from(cells)).map_while(|cell| u16_at(&page, begin + head + 2 * cell));
        let places: Vec<_> = places.collect();
        places.into_iter().filter_map(|place| read(self, page.get(usize::from(place)..)?)).collect()
    }

    fn page(&mut self, number: u32) -> Option<Vec<u8>> {
        if number == 0 || number > self.count {
            return None;
        }
        let mut page = vec![0; PAGE];
        self.file.seek(SeekFrom::Start(u64::from(number - 1) * PAGE as u64)).ok()?;
        self.file.read_exact(&mut page).ok()?;
        Some(page)
    }

    /// Reads a row that begins in a page, and goes on in others if it is large.
    fn row(&mut self, cell: &[u8]) -> Option<Found> {
        let (size, rest) = varint(cell)?;
        let (number, rest) = varint(rest)?;
        Some((number, self.record(size, rest, PAGE - 35)?))
    }

    fn entry(&mut self, cell: &[u8]) -> Option<Vec<Value>> {
        let (size, rest) = varint(cell)?;
        self.record(size, rest, (PAGE - 12) * 64 / 255 - 23)
    }

    /// Reads columns of so many bytes, of which at most `most` are in the page where they begin.
    fn record(&mut self, size: i64, begun: &[u8], most: usize) -> Option<Vec<Value>> {
        let size = u64::try_from(size).ok().filter(|size| *size <= LARGEST)?;
        let size = usize::try_from(size).ok()?;
        let here = local(size, most);
        let mut record = begun.get(..here)?.to_vec();
        let mut next = begun.get(here..).and_then(u32_of).unwrap_or(0);
        while record.len() < size {
            let page = self.page(next)?;
            let take = (size - record.len()).min(PAGE - 4);
            record.extend_from_slice(page.get(4..4 + take)?);
            next = u32_of(&page)?;
        }
        columns(&record)
    }
}

/// Returns how many bytes of that size are in the page where they begin, of which at most `most` can be.
const fn local(size: usize, most: usize) -> usize {
    const LEAST: usize = (PAGE - 12) * 32 / 255 - 23;
    if size <= most {
        return size;
    }
    let fits = LEAST + (size - LEAST) % (PAGE - 4);
    if fits <= most { fits } else { LEAST }
}

/// Reads the columns of a row.
fn columns(record: &[u8]) -> Option<Vec<Value>> {
    let (head, rest) = varint(record)?;
    let mut kinds = rest.get(..usize::try_from(head).ok()?.checked_sub(record.len() - rest.len())?)?;
    let mut data = record.get(usize::try_from(head).ok()?..)?;
    let mut columns = Vec::new();
    while !kinds.is_empty() {
        let (kind, rest) = varint(kinds)?;
        let (column, left) = column(kind, data)?;
        columns.push(column);
        (kinds, data) = (rest, left);
    }
    Some(columns)
}

/// Reads a column of a kind from the front of the data.
fn column(kind: i64, data: &[u8]) -> Option<(Value, &[u8])> {
    let whole = |size: usize| {
        let (bytes, rest) = data.split_at_checked(size)?;
        let sign = if bytes.first()? & 0x80 == 0 { 0 } else { -1 };
        Some((Value::Integer(bytes.iter().fold(sign, |number, byte| number << 8 | i64::from(*byte))), rest))
    };
    match kind {
        0 => Some((Value::Null, data)),
        1..=4 => whole(usize::try_from(kind).ok()?),
        5 => whole(6),
        6 => whole(8),
        7 => {
            let (bytes, rest) = data.split_first_chunk()?;
            Some((Value::Real(f64::from_be_bytes(*bytes)), rest))
        }
        8 | 9 => Some((Value::Integer(kind - 8), data)),
        12.. => {
            let (bytes, rest) = data.split_at_checked(usize::try_from((kind - 12) / 2).ok()?)?;
            let value = match kind % 2 {
                0 => Value::Blob(bytes.to_vec()),
                _ => Value::Text(String::from_utf8(bytes.to_vec()).ok()?),
            };
            Some((value, rest))
        }
        _ => None,
    }
}

/// Reads a number of one to nine bytes.
fn varint(bytes: &[u8]) -> Option<(i64, &[u8])> {
    let mut number = 0;
    for (place, byte) in bytes.iter().enumerate().take(9) {
        if place == 8 {
            return Some((number << 8 | i64::from(*byte), &bytes[9..]));
        }
        number = number << 7 | i64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((number, &bytes[place + 1..]));
        }
    }
    None
}

fn u16_at(bytes: &[u8], place: usize) -> Option<u16> {
    bytes.get(place..place + 2)?.try_into().ok().map(u16::from_be_bytes)
}

fn u32_of(bytes: &[u8]) -> Option<u32> {
    bytes.first_chunk().copied().map(u32::from_be_bytes)
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;

    #[test]
    fn what_sqlite_has_stored_is_read_from_its_pages() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let db = Connection::open(&path).unwrap();
        db.execute_batch(
            "PRAGMA page_size = 4096; CREATE TABLE a (seq INTEGER PRIMARY KEY, n ANY, t TEXT, b BLOB) STRICT;",
        )
        .unwrap();
        let numbers =
            [0, 1, -1, 127, -128, 32_767, 8_388_607, -8_388_608, 1 << 31, 1 << 47, i64::MIN, i64::MAX];
        let mut wanted = Vec::new();
        for (seq, number) in (1..).zip(numbers) {
            let size = usize::try_from(seq * seq * 997).unwrap();
            let (text, bytes) = (format!("é{seq}"), vec![u8::try_from(seq).unwrap(); size]);
            db.execute("INSERT INTO a VALUES (?1, ?2, ?3, ?4)", (seq, number, &text, &bytes)).unwrap();
            let row = vec![Value::Null, Value::Integer(number), Value::Text(text), Value::Blob(bytes)];
            wanted.push((seq, row));
        }
        drop(db);
        let mut pages = Pages::open(&path).unwrap();
        let found = (2..=pages.count()).flat_map(|number| pages.rows(number)).collect::<Vec<_>>();
        assert_eq!(found, wanted);
    }

    #[test]
    fn rows_of_a_table_without_numbers_are_read_from_their_pages() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let db = Connection::open(&path).unwrap();
        db.execute_batch(
            "PRAGMA page_size = 4096; CREATE TABLE a (n INTEGER, t TEXT, PRIMARY KEY (n)) STRICT, WITHOUT ROWID;",
        )
        .unwrap();
        let texts: Vec<_> = (0..400_usize).map(|n| "x".repeat(n * n % 9_000)).collect();
        for (n, text) in texts.iter().enumerate() {
            db.execute("INSERT INTO a VALUES (?1, ?2)", (n, text)).unwrap();
        }
        drop(db);
        let mut pages = Pages::open(&path).unwrap();
        let mut found = (2..=pages.count()).flat_map(|number| pages.entries(number)).collect::<Vec<_>>();
        found.sort_by_key(|row| if let Value::Integer(n) = row[0] { n } else { -1 });
        let wanted = texts.into_iter().enumerate();
        let wanted: Vec<_> = wanted
            .map(|(n, text)| vec![Value::Integer(i64::try_from(n).unwrap()), Value::Text(text)])
            .collect();
        assert_eq!(found, wanted);
    }

    #[test]
    fn noise_is_no_row() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("noise");
        let mut noise: Vec<u8> = (0..64 * PAGE).map(|_| rand::random()).collect();
        (0..64).for_each(|page| noise[page * PAGE] = [LEAF, ENTRIES, ENTRIES_ABOVE][page % 3]);
        std::fs::write(&path, noise).unwrap();
        let mut pages = Pages::open(&path).unwrap();
        (0..=65).for_each(|number| drop((pages.rows(number), pages.entries(number))));
    }
}
