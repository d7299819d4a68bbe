//! The form in which packed bytes are stored: a byte that names the form, and then the bytes in that form.

use std::cell::RefCell;

use zstd::{bulk::Decompressor, zstd_safe::get_frame_content_size};

use crate::{InboxError, dictionary::Prepared};

/// The bytes as they are, because compressing them doesn't pay.
const PLAIN: u8 = 0;
/// A frame of zstd, made with the dictionary of its row if that has one.
const FRAME: u8 = 1;

/// A frame yields at most 128 KiB for each of its blocks, and no block is shorter than four bytes.
const BLOCK: u64 = 128 * 1024;
const SHORTEST: u64 = 4;

/// Returns the form of bytes that `frame` is the compressed frame of. It is used if it is shorter by an eighth at least.
pub(crate) fn form(bytes: &[u8], frame: &[u8]) -> Vec<u8> {
    let pays = frame.len() < bytes.len() - bytes.len() / 8;
    if pays { [&[FRAME], frame].concat() } else { [&[PLAIN], bytes].concat() }
}

/// Whether the bytes are stored as they are.
pub(crate) fn is_plain(form: &[u8]) -> bool {
    form.first() == Some(&PLAIN)
}

/// Returns the bytes that a form stands for. A damaged form is told in words; it never takes much more memory than what
/// it can really hold.
pub(crate) fn bytes(form: &[u8], dictionary: Option<Prepared>) -> Result<Vec<u8>, InboxError> {
    let damaged = || InboxError::Lost("compressed bytes of an event can't be read".to_owned());
    match form.split_first() {
        Some((&PLAIN, bytes)) => Ok(bytes.to_vec()),
        Some((&FRAME, frame)) => decompressed(frame, dictionary).ok_or_else(damaged),
        _ => Err(damaged()),
    }
}

fn decompressed(frame: &[u8], dictionary: Option<Prepared>) -> Option<Vec<u8>> {
    let size = get_frame_content_size(frame).ok()??;
    if size > (frame.len() as u64 / SHORTEST + 1) * BLOCK {
        return None;
    }
    let size = usize::try_from(size).ok()?;
    let bytes = DECOMPRESSOR.with_borrow_mut(|decompressor| {
        match dictionary {
            Some(dictionary) => decompressor.set_prepared_dictionary(dictionary)?,
            None => decompressor.set_dictionary(&[])?,
        }
        decompressor.decompress(frame, size)
    });
    bytes.ok().filter(|bytes| bytes.len() == size)
}

thread_local! {
    /// Its memory is what takes long to set up, and it serves any dictionary.
    static DECOMPRESSOR: RefCell<Decompressor<'static>> = RefCell::default();
}
