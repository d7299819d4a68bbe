//! A sample of each frame, with every field filled.

use bytes::Bytes;
use hookmitt_wire::{AppFrame, Depth, Hold, Letter, Parcel, Received, RelayFrame, SourceOffer, TunnelDevice};

pub(crate) fn depth() -> Depth {
    Depth {
        letters: 3,
        bytes: 70_000,
        oldest: Some(1_750_000_000_000_000),
        refused: 2,
        refused_at: Some(-1),
        unknown: 300,
    }
}

pub(crate) fn parcel() -> Parcel {
    Parcel {
        epoch: std::array::from_fn(|n| u8::try_from(n).unwrap_or_default()),
        number: 9_999,
        received_at: 1_750_000_000_000_120,
        held: true,
        data: Bytes::from_static(b"sealed"),
    }
}

fn device() -> TunnelDevice {
    TunnelDevice {
        key: [7; 32],
        name: "laptop".into(),
        joined_at: 1_750_000_000_000_000,
        seen_at: -1,
        is_connected: true,
        is_owner: false,
        proof: Some([5; 32]),
    }
}

pub(crate) fn relay_frames() -> Vec<(&'static str, RelayFrame)> {
    let url = "https://relay.example.com/acme-dev".to_owned();
    vec![
        ("challenge", RelayFrame::Challenge { nonce: [0xa5; 32] }),
        (
            "welcome",
            RelayFrame::Welcome { public_url: url, depth: depth(), newest: 77, now: 1_750_000_000_000_000 },
        ),
        ("refused", RelayFrame::Refused { code: "unknown-device".into(), message: "who?".into() }),
        ("parcel", RelayFrame::Parcel { position: 300, parcel: parcel(), size: 6 }),
        ("piece", RelayFrame::Piece { position: 300, data: Bytes::from_static(b"more") }),
        ("pong", RelayFrame::Pong { stamp: u64::MAX, depth: Depth::default() }),
        ("invited", RelayFrame::Invited { code: "one-time".into(), until: 1_750_000_000_000_000 }),
        ("devices", RelayFrame::Devices { sealing_key: [6; 32], devices: vec![device()] }),
        ("revoked", RelayFrame::Revoked(None)),
        ("not_revoked", RelayFrame::Revoked(Some(("not-owner".into(), "no".into())))),
        ("key", RelayFrame::SealingKey { sealing_key: [6; 32], note: Bytes::from_static(b"note") }),
    ]
}

pub(crate) fn app_frames() -> Vec<(&'static str, AppFrame)> {
    [first_words(), words_about_devices()].concat()
}

/// The frames that only a side with vocabulary 2 sends.
fn words_about_devices() -> Vec<(&'static str, AppFrame)> {
    vec![
        ("introduce", AppFrame::Introduce { letters: 2, proof: [5; 32] }),
        ("who", AppFrame::Devices),
        (
            "revoke",
            AppFrame::Revoke {
                device: [1; 32],
                before: [2; 32],
                sealing_key: [6; 32],
                notes: vec![([3; 32], Bytes::from_static(b"note"))],
            },
        ),
        ("which_key", AppFrame::SealingKey),
    ]
}

fn first_words() -> Vec<(&'static str, AppFrame)> {
    let headers = vec![("X-Answer".to_owned(), Bytes::from_static(b"\xff yes"))];
    let offer = |slug: &str, hold| SourceOffer {
        slug: slug.to_owned(),
        provider: Some("github".to_owned()),
        hold,
        status: Some(204),
        headers: headers.clone(),
        body: Some("{}".to_owned()),
        delay_ms: 1_500,
    };
    let plain = SourceOffer {
        slug: "plain".to_owned(),
        provider: None,
        hold: Hold::Never,
        status: None,
        headers: Vec::new(),
        body: None,
        delay_ms: 0,
    };
    vec![
        (
            "hello",
            AppFrame::Hello {
                tunnel: "acme-dev".into(),
                device: [7; 32],
                signature: vec![9; 64].into(),
                app: "hookmitt/0.1.0".into(),
                window: 1_024,
                window_bytes: 16 * 1024 * 1024,
            },
        ),
        (
            "sources",
            AppFrame::Sources(vec![offer("github", Hold::Handshakes), offer("discord", Hold::Always), plain]),
        ),
        ("ack", AppFrame::Ack { through: 8, also: vec![10, 300] }),
        (
            "answer",
            AppFrame::Answer {
                event: [1; 16],
                status: 401,
                headers: headers.clone(),
                body: Bytes::from_static(b"no"),
            },
        ),
        ("ping", AppFrame::Ping { stamp: 1 }),
        ("invite", AppFrame::Invite),
        ("leave", AppFrame::Leave),
    ]
}

/// A letter of version 2.
pub(crate) fn dated_letter() -> Letter {
    let received = Received { at: 1_750_000_000_000_120, held: true };
    Letter { received: Some(received), ..letter() }
}

/// A letter of version 1.
pub(crate) fn letter() -> Letter {
    Letter {
        id: [3; 16],
        slug: "github".into(),
        method: "POST".into(),
        path: "/a//b%2F".into(),
        query: Some(String::new()),
        http10: true,
        headers: Bytes::from_static(b"X-A:  1\r\nx-a: \xff\r\n"),
        body: Bytes::from_static(b"{\"a\":1}"),
        sha256: [4; 32],
        url: "https://relay.example.com/acme-dev/github/a//b%2F?".into(),
        remote: "192.0.2.7".into(),
        forwarded: Bytes::from_static(b"Via: 1.1 edge\r\n"),
        received: None,
    }
}
