//! Bodies that are compressed or wrapped where what was signed is not.

use std::io::Read;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

use crate::signature::Signed;

use super::{finding::Finding, trial::Trial};

/// A body is decompressed to so many bytes at most, and to so many times its size.
const LARGEST: usize = 64 << 20;
const TIMES: usize = 100;

/// Looks for what is inside, as long as the signature holds over that.
pub(crate) fn find(trial: &mut Trial<'_>, signed: &Signed<'_>) -> Option<Finding> {
    let body = signed.parts.view.body;
    let coding = signed.parts.view.headers.get_str("content-encoding").unwrap_or_default();
    let mut inside = Vec::new();
    if body.starts_with(&[0x1f, 0x8b]) {
        inside.push(("gzip", read(trial, MultiGzDecoder::new(body), body.len())));
    }
    if coding.eq_ignore_ascii_case("deflate") || body.first().is_some_and(|first| first & 0x0f == 8) {
        inside.push(("zlib", read(trial, ZlibDecoder::new(body), body.len())));
        inside.push(("deflate", read(trial, DeflateDecoder::new(body), body.len())));
    }
    if coding.eq_ignore_ascii_case("br") {
        inside.push(("brotli", read(trial, brotli_decompressor::Decompressor::new(body, 4096), body.len())));
    }
    inside.push(("base64", STANDARD.decode(body.trim_ascii()).ok().filter(|inside| !inside.is_empty())));
    let mut inside = inside.into_iter().filter_map(|(name, bytes)| Some((name, bytes?)));
    let (name, bytes) = inside.find(|(_, bytes)| trial.fits_body(signed, bytes))?;
    let sender = trial.sender;
    Some(
        Finding::proven("body_decoded", format!("What is inside the {name} verifies"))
            .titled(format!("Body still in {name}"))
            .saying(
                format!("{sender} signed what is inside: the signature holds once {name} is undone."),
                format!(
                    "Undo {name} before the signature is checked, or keep whatever adds it out of the way."
                ),
            )
            .sentence(format!("the body was put into {name} on its way here"))
            .detail("Secret and sender are right; the bytes inside are the signed ones.")
            .fitting(format!("Without {name}"))
            .body(bytes),
    )
}

/// Whether it begins as compressed bytes do.
pub(crate) fn is_compressed(body: &[u8]) -> bool {
    let text = matches!(body.trim_ascii_start().first(), Some(b'{' | b'[' | b'<' | b'"'))
        || std::str::from_utf8(body).is_ok();
    !text || body.is_empty()
}

/// All that a decoder gives, within bounds; `None` where it is broken or too much.
fn read(trial: &mut Trial<'_>, mut decoder: impl Read, size: usize) -> Option<Vec<u8>> {
    let most = LARGEST.min(size.saturating_mul(TIMES));
    let mut bytes = Vec::new();
    let mut part = [0; 16 << 10];
    loop {
        let count = decoder.read(&mut part).ok()?;
        if count == 0 {
            return Some(bytes);
        }
        bytes.extend_from_slice(&part[..count]);
        if bytes.len() > most || !trial.spend(count) {
            return None;
        }
    }
}
