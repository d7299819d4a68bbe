//! Reads a write-ahead log without SQLite, which stops at the first frame that is damaged and drops all that come after
//! it. Each frame is a whole page, and its checksum continues the one of the frame before, which is stored there. So the
//! frames behind a damaged one can still be verified.
//!
//! The form of the log is described in SQLite's file format, section 4.

use std::{
    fs::{self, File},
    io::{self, BufReader, Read as _},
    path::{Path, PathBuf},
};

use crate::pages::PAGE;

/// What the log begins with if its checksums are made of little-endian numbers; the next number says big-endian ones.
const MAGIC: u32 = 0x377f_0682;
const FORM: u32 = 3_007_000;

/// How many bytes there are before the first frame.
pub(crate) const HEAD: usize = 32;
const FRAME_HEAD: usize = 24;

type Sum = (u32, u32);
type Salt = [u8; 8];

/// A page as a transaction has written it.
pub(crate) struct Frame {
    /// The number of the page, from 1.
    pub(crate) page: u32,
    /// How many pages the file has after the transaction that this frame completes; 0 if it completes none.
    pub(crate) pages: u32,
    /// Whether it is as it was written.
    pub(crate) is_whole: bool,
    pub(crate) bytes: Vec<u8>,
}

/// A log that is read from its beginning.
pub(crate) struct LogFrames {
    file: BufReader<File>,
    /// What its first bytes are.
    pub(crate) head: [u8; HEAD],
    is_big: bool,
    /// What the frames of this log have in common. Those of an earlier one, which follow it in the file, have another.
    salt: Option<Salt>,
    /// What the frame before has stored.
    before: (Salt, Sum),
    /// How many frames there are, if the file beside it tells.
    pub(crate) known: Option<usize>,
}

impl LogFrames {
    /// Opens a log; `None` if there is none, or one without a frame.
    ///
    /// # Errors
    /// Fails if the system doesn't let us read it.
    pub(crate) fn open(log: &Path) -> io::Result<Option<Self>> {
        let Some(file) = opened(log)? else { return Ok(None) };
        let mut file = BufReader::with_capacity(256 * 1024, file);
        let mut head = [0; HEAD];
        if !fill(&mut file, &mut head)? {
            return Ok(None);
        }
        let is_big = number(&head, 0) == MAGIC | 1;
        let salt = head[16..24].try_into().unwrap_or_default();
        let before = (salt, (number(&head, 24), number(&head, 28)));
        let told = told_by(&beside_log(log));
        let mut log = Self { file, head, is_big, salt: None, before, known: None };
        log.salt = log.is_head_whole().then_some(salt);
        if let Some((frames, told)) = told.filter(|(_, told)| log.salt.is_none_or(|salt| salt == *told)) {
            (log.salt, log.known) = (Some(told), Some(frames));
        }
        Ok(Some(log))
    }

    /// Whether the log begins as SQLite has written it.
    pub(crate) fn is_head_whole(&self) -> bool {
        let (magic, form, page) = (number(&self.head, 0), number(&self.head, 4), number(&self.head, 8));
        let is_known = magic & !1 == MAGIC && form == FORM && page as usize == PAGE;
        is_known
            && sum(self.is_big, (0, 0), &self.head[..24]) == (number(&self.head, 24), number(&self.head, 28))
    }

    /// Returns the next frame; `None` at the end.
    ///
    /// # Errors
    /// Fails if the system doesn't let us read it.
    pub(crate) fn next(&mut self) -> io::Result<Option<Frame>> {
        let (mut head, mut bytes) = ([0; FRAME_HEAD], vec![0; PAGE]);
        if !fill(&mut self.file, &mut head)? || !fill(&mut self.file, &mut bytes)? {
            return Ok(None);
        }
        let salt: Salt = head[8..16].try_into().unwrap_or_default();
        let stored = (number(&head, 16), number(&head, 20));
        let (salt_before, sum_before) = std::mem::replace(&mut self.before, (salt, stored));
        let is_of_log = self.salt.map_or(salt == salt_before, |known| salt == known);
        let is_whole = is_of_log && {
            let sum_here = sum(self.is_big, sum_before, &head[..8]);
            sum(self.is_big, sum_here, &bytes) == stored
        };
        if is_whole {
            self.salt = Some(salt);
        }
        Ok(Some(Frame { page: number(&head, 0), pages: number(&head, 4), is_whole, bytes }))
    }
}

/// Opens a file; `None` if there is none, or something else: whoever opens a pipe waits for somebody to write into it.
fn opened(path: &Path) -> io::Result<Option<File>> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        there => Ok(there?.is_file().then(|| File::open(path)).transpose()?),
    }
}

/// Returns the path of the file that tells SQLite's processes what a log holds.
fn beside_log(log: &Path) -> PathBuf {
    let name = log.file_name().unwrap_or_default().to_string_lossy();
    log.with_file_name(format!("{}-shm", name.trim_end_matches("-wal")))
}

/// Returns how many frames a log has, and what they have in common, as the file beside it tells. It begins with two equal
/// copies of that, each with a checksum (SQLite's WAL-mode file format, section 2.1). It is gone after a clean end.
fn told_by(beside: &Path) -> Option<(usize, Salt)> {
    const COPY: usize = 48;
    let mut told = [0; 2 * COPY];
    opened(beside).ok()??.read_exact(&mut told).ok()?;
    let (one, other) = told.split_at(COPY);
    let own = |place: usize| one[place..].first_chunk().copied().map_or(0, u32::from_ne_bytes);
    let is_whole = sum(cfg!(target_endian = "big"), (0, 0), &one[..40]) == (own(40), own(44));
    let is_known = one == other && own(0) == FORM && one[12] == 1 && is_whole;
    is_known.then(|| Some((own(16) as usize, one[32..40].try_into().ok()?))).flatten()
}

/// Fills a buffer; `false` if the file ends before that.
fn fill(file: &mut BufReader<File>, buffer: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(buffer) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        filled => filled.map(|()| true),
    }
}

fn number(bytes: &[u8], place: usize) -> u32 {
    bytes[place..].first_chunk().copied().map_or(0, u32::from_be_bytes)
}

/// Continues a checksum.
fn sum(is_big: bool, (mut first, mut second): Sum, bytes: &[u8]) -> Sum {
    let read = if is_big { u32::from_be_bytes } else { u32::from_le_bytes };
    for pair in bytes.as_chunks::<4>().0.as_chunks::<2>().0 {
        first = first.wrapping_add(read(pair[0])).wrapping_add(second);
        second = second.wrapping_add(read(pair[1])).wrapping_add(first);
    }
    (first, second)
}
