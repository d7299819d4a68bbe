//! Property tests: every frame of vocabulary 1, and every letter, decodes to what was encoded.

use std::fmt::Debug;

use bytes::Bytes;
use hookmitt_wire::{
    AppFrame, Depth, Hold, Letter, Parcel, Received, RelayFrame, SourceOffer, decode, encode,
};
use proptest::{collection::vec, option, prelude::*, sample::Index};
use serde::{Serialize, de::DeserializeOwned};

fn bytes() -> impl Strategy<Value = Bytes> {
    any::<Vec<u8>>().prop_map(Bytes::from)
}

fn headers() -> impl Strategy<Value = Vec<(String, Bytes)>> {
    vec((any::<String>(), bytes()), 0..4)
}

fn depth() -> impl Strategy<Value = Depth> {
    any::<(u64, u64, Option<i64>, u64, Option<i64>, u64)>().prop_map(
        |(letters, bytes, oldest, refused, refused_at, unknown)| Depth {
            letters,
            bytes,
            oldest,
            refused,
            refused_at,
            unknown,
        },
    )
}

fn parcel() -> impl Strategy<Value = Parcel> {
    (any::<([u8; 32], u32, i64, bool)>(), bytes()).prop_map(|((epoch, number, received_at, held), data)| {
        Parcel { epoch, number, received_at, held, data }
    })
}

fn relay_frame() -> impl Strategy<Value = RelayFrame> {
    prop_oneof![
        any::<[u8; 32]>().prop_map(|nonce| RelayFrame::Challenge { nonce }),
        (any::<String>(), depth(), any::<u64>(), any::<i64>()).prop_map(
            |(public_url, depth, newest, now)| RelayFrame::Welcome { public_url, depth, newest, now }
        ),
        any::<(String, String)>().prop_map(|(code, message)| RelayFrame::Refused { code, message }),
        (any::<u64>(), parcel(), any::<u32>()).prop_map(|(position, parcel, size)| RelayFrame::Parcel {
            position,
            parcel,
            size
        }),
        (any::<u64>(), bytes()).prop_map(|(position, data)| RelayFrame::Piece { position, data }),
        (any::<u64>(), depth()).prop_map(|(stamp, depth)| RelayFrame::Pong { stamp, depth }),
        any::<(String, i64)>().prop_map(|(code, until)| RelayFrame::Invited { code, until }),
    ]
}

fn offer() -> impl Strategy<Value = SourceOffer> {
    let hold = prop_oneof![Just(Hold::Handshakes), Just(Hold::Always), Just(Hold::Never)];
    (any::<(String, Option<String>, Option<u16>, Option<String>, u64)>(), hold, headers()).prop_map(
        |((slug, provider, status, body, delay_ms), hold, headers)| SourceOffer {
            slug,
            provider,
            hold,
            status,
            headers,
            body,
            delay_ms,
        },
    )
}

fn app_frame() -> impl Strategy<Value = AppFrame> {
    prop_oneof![
        (any::<(String, [u8; 32], String, u32, u32)>(), bytes()).prop_map(
            |((tunnel, device, app, window, window_bytes), signature)| AppFrame::Hello {
                tunnel,
                device,
                signature,
                app,
                window,
                window_bytes,
            }
        ),
        vec(offer(), 0..4).prop_map(AppFrame::Sources),
        any::<(u64, Vec<u64>)>().prop_map(|(through, also)| AppFrame::Ack { through, also }),
        (any::<([u8; 16], u16)>(), headers(), bytes())
            .prop_map(|((event, status), headers, body)| AppFrame::Answer { event, status, headers, body }),
        any::<u64>().prop_map(|stamp| AppFrame::Ping { stamp }),
        Just(AppFrame::Invite),
        Just(AppFrame::Leave),
    ]
}

fn letter() -> impl Strategy<Value = Letter> {
    let texts = any::<(String, String, String, String, String)>();
    let received = option::of(any::<(i64, bool)>().prop_map(|(at, held)| Received { at, held }));
    let parts = (option::of(any::<String>()), any::<([u8; 16], [u8; 32], bool)>(), received);
    (texts, parts, bytes(), bytes(), bytes()).prop_map(|(texts, parts, headers, body, forwarded)| {
        let (slug, method, path, url, remote) = texts;
        let (query, (id, sha256, http10), received) = parts;
        Letter {
            id,
            slug,
            method,
            path,
            query,
            http10,
            headers,
            body,
            sha256,
            url,
            remote,
            forwarded,
            received,
        }
    })
}

/// Checks that a frame decodes to itself, and that decoding fails with a byte more or with the end cut off anywhere.
fn comes_back<F>(frame: &F, cut: Index) -> Result<(), TestCaseError>
where
    F: Serialize + DeserializeOwned + PartialEq + Debug,
{
    let written = encode(frame);
    let read = decode::<F>(&written);
    prop_assert_eq!(read.as_ref(), Ok(frame));
    prop_assert!(decode::<F>(&[&written[..], &[0]].concat()).is_err(), "a byte more");
    let short = cut.index(written.len());
    prop_assert!(decode::<F>(&written[..short]).is_err(), "{} bytes of {}", short, written.len());
    Ok(())
}

proptest! {
    #[test]
    fn a_relay_s_frame_comes_back(frame in relay_frame(), cut: Index) {
        comes_back(&frame, cut)?;
    }

    #[test]
    fn an_app_s_frame_comes_back(frame in app_frame(), cut: Index) {
        comes_back(&frame, cut)?;
    }

    #[test]
    fn a_letter_comes_back(letter in letter()) {
        let written = letter.to_bytes();
        prop_assert_eq!(Letter::from_bytes(&written), Ok(letter));
        prop_assert!(Letter::from_bytes(&written[..written.len() - 1]).is_err());
        prop_assert!(Letter::from_bytes(&[&written[..], &[0]].concat()).is_err());
    }

    #[test]
    fn any_bytes_are_a_frame_or_an_error(mut bytes: Vec<u8>) {
        // Random bytes would almost always fail at the version byte and test nothing else.
        if let Some(version) = bytes.first_mut() {
            *version = 1;
        }
        if let Ok(frame) = decode::<RelayFrame>(&bytes) {
            prop_assert_eq!(decode(&encode(&frame)), Ok(frame));
        }
        if let Ok(frame) = decode::<AppFrame>(&bytes) {
            prop_assert_eq!(decode(&encode(&frame)), Ok(frame));
        }
        if let Ok(letter) = Letter::from_bytes(&bytes) {
            prop_assert_eq!(Letter::from_bytes(&letter.to_bytes()), Ok(letter));
        }
    }
}
