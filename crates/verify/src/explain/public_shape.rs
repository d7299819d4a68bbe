//! Mistakes in how signatures of private keys are written.

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD},
};

use crate::{request_view::RequestView, signature::Signed};

use super::{
    finding::Finding,
    renamed,
    slip::{SHORTEST_PIECE, Slip, unpadded},
    trial::Trial,
};

/// Finds the right signature bytes in another encoding, or as two bare ECDSA numbers.
pub(crate) fn written_otherwise(trial: &mut Trial<'_>, signed: &Signed<'_>) -> Option<Finding> {
    let raw = signed.raw();
    let mut readings: Vec<Vec<u8>> = Vec::new();
    for word in signed.accepted().chain([raw]).chain(raw.split(|byte| b" \",'".contains(byte))) {
        let bytes = [
            hex::decode(word).ok(),
            STANDARD_NO_PAD.decode(unpadded(word)).ok(),
            URL_SAFE_NO_PAD.decode(unpadded(word)).ok(),
            word.split(|byte| *byte == b'=').nth(1).and_then(|rest| hex::decode(rest).ok()),
        ];
        readings.extend(bytes.into_iter().flatten().filter(|bytes| bytes.len() >= SHORTEST_PIECE));
    }
    let ders: Vec<_> = readings.iter().filter_map(|bytes| der(bytes)).collect();
    let spaced: Vec<u8> = raw.iter().map(|byte| if *byte == b' ' { b'+' } else { *byte }).collect();
    readings.extend(STANDARD_NO_PAD.decode(unpadded(&spaced)).ok());
    readings.extend(ders);
    readings.dedup();
    let place = signed.scheme.signature.get(signed.place)?.header()?;
    for bytes in readings {
        let text = signed.scheme.encoding.encode(&bytes);
        if raw == text.as_bytes() {
            continue;
        }
        let headers = renamed::with_line(signed.parts.view.headers, place, text.as_bytes())?;
        let view = RequestView { headers: &headers, ..signed.parts.view };
        if trial.fits(signed.scheme, view) {
            let framed = raw.windows(text.len()).any(|part| part == text.as_bytes());
            let slip = if framed { Slip::Format } else { Slip::Encoding };
            return Some(slip.finding(trial.sender, signed, true));
        }
    }
    None
}

/// Encodes an ECDSA signature's two numbers in DER.
fn der(joined: &[u8]) -> Option<Vec<u8>> {
    if joined.len() != 64 {
        return None;
    }
    let number = |bytes: &[u8]| {
        let start = bytes.iter().position(|byte| *byte != 0).unwrap_or(bytes.len() - 1);
        let pad: &[u8] = if bytes[start] & 0x80 != 0 { &[0] } else { &[] };
        let value = [pad, &bytes[start..]].concat();
        [&[2, u8::try_from(value.len()).unwrap_or_default()], &value[..]].concat()
    };
    let both = [number(&joined[..32]), number(&joined[32..])].concat();
    Some([&[0x30, u8::try_from(both.len()).ok()?], &both[..]].concat())
}
