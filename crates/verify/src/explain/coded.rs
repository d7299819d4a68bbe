//! Bodies that arrive compressed or in base64 although the sender signed the content.

use std::io::Read;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use flate2::read::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

use crate::signature::Signed;

use super::{finding::Finding, trial::Trial};

/// The limits of decompression: the size in bytes, and how many times the size of the body.
const LARGEST: usize = 64 << 20;
const TIMES: usize = 100;

/// Decodes the body, and returns a finding if the signature matches the decoded content.
pub(crate) fn find(trial: &mut Trial<'_>, signed: &Signed<'_>) -> Option<Finding> {
    let body = signed.parts.view.body;
    let coding = signed.parts.view.headers.get_str("content-encoding").unwrap_or_default();
    let mut inside = Vec::new();
    if body.starts_with(&[0x1f, 0x8b]) {
        inside.push(("gzip", read(MultiGzDecoder::new(body), body.len(), |count| trial.spend(count))));
    }
    if coding.eq_ignore_ascii_case("deflate") || body.first().is_some_and(|first| first & 0x0f == 8) {
        inside.push(("zlib", read(ZlibDecoder::new(body), body.len(), |count| trial.spend(count))));
        inside.push(("deflate", read(DeflateDecoder::new(body), body.len(), |count| trial.spend(count))));
    }
    if coding.eq_ignore_ascii_case("br") {
        inside.push((
            "brotli",
            read(brotli_decompressor::Decompressor::new(body, 4096), body.len(), |count| trial.spend(count)),
        ));
    }
    inside.push(("base64", STANDARD.decode(body.trim_ascii()).ok().filter(|inside| !inside.is_empty())));
    let mut inside = inside.into_iter().filter_map(|(name, bytes)| Some((name, bytes?)));
    let (name, bytes) = inside.find(|(_, bytes)| trial.fits_body(signed, bytes))?;
    let sender = trial.sender;
    Some(
        Finding::proven("body_decoded", format!("The content inside the {name} verifies"))
            .titled(format!("Body wrapped in {name}"))
            .saying(
                format!("{sender} signed the content: the signature matches once {name} is removed."),
                format!("Remove {name} before you verify the signature, or turn off whatever adds it."),
            )
            .sentence(format!("the body was wrapped in {name} on its way here"))
            .detail("Secret and sender are right; the signed bytes are inside.")
            .fitting(format!("Without {name}"))
            .body(bytes),
    )
}

/// Whether the body may be compressed. This is so if it doesn't look like text, or is empty.
pub(crate) fn is_compressed(body: &[u8]) -> bool {
    let text = matches!(body.trim_ascii_start().first(), Some(b'{' | b'[' | b'<' | b'"'))
        || std::str::from_utf8(body).is_ok();
    !text || body.is_empty()
}

/// Reads all of a decoder's output. Returns `None` if the input is malformed, the output exceeds the limits, or `spend`
/// has no work left for it.
fn read(mut decoder: impl Read, size: usize, mut spend: impl FnMut(usize) -> bool) -> Option<Vec<u8>> {
    let most = LARGEST.min(size.saturating_mul(TIMES));
    let mut bytes = Vec::new();
    let mut part = [0; 16 << 10];
    loop {
        let count = decoder.read(&mut part).ok()?;
        if count == 0 {
            return Some(bytes);
        }
        bytes.extend_from_slice(&part[..count]);
        if bytes.len() > most || !spend(count) {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    fn gzip(plain: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(plain).unwrap();
        encoder.finish().unwrap()
    }

    fn inside(body: &[u8]) -> Option<Vec<u8>> {
        read(MultiGzDecoder::new(body), body.len(), |_| true)
    }

    #[test]
    fn threat_7_decompression_stops_at_a_hundred_times_the_size() {
        let text: Vec<u8> = (0..50_000_u32).flat_map(|number| number.to_string().into_bytes()).collect();
        assert_eq!(inside(&gzip(&text)).as_deref(), Some(&text[..]));
        let bomb = gzip(&vec![0; 8 << 20]);
        assert!(bomb.len() * TIMES < 8 << 20, "it is one");
        assert_eq!(inside(&bomb), None);
        let mut asked = 0;
        let stopped = read(MultiGzDecoder::new(&bomb[..]), bomb.len(), |count| {
            asked += count;
            true
        });
        assert_eq!(stopped, None);
        assert!(asked <= bomb.len() * TIMES + (16 << 10), "{asked} bytes were taken out of it");
    }

    #[test]
    fn threat_7_decompression_stops_at_64_mib_and_where_the_time_is_spent() {
        let mut read_so_far = 0;
        let endless = read(std::io::repeat(b'x'), usize::MAX, |count| {
            read_so_far += count;
            true
        });
        assert_eq!(endless, None);
        assert!(read_so_far <= LARGEST + (16 << 10), "{read_so_far}");
        assert_eq!(read(std::io::repeat(b'x'), usize::MAX, |_| false), None);
    }
}
