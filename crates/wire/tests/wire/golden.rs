//! Frames and letters keep their exact bytes. A change here needs a new version, or it breaks every running tunnel.

use std::fmt::Debug;

use hookmitt_wire::{
    HELLO_CONTEXT, Invited, Join, Letter, OpenTunnel, Opened, VERSION, decode, encode, hello_text,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;

use crate::samples::{app_frames, dated_letter, letter, relay_frames};

/// Each line holds a frame's name and its bytes in hex.
const GOLDEN: &str = include_str!("golden.txt");

fn golden(name: &str) -> &'static str {
    let line = GOLDEN.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("golden.txt lacks {name}"))
}

fn has_its_bytes<F: Serialize + DeserializeOwned + PartialEq + Debug>(name: &str, frame: F) {
    assert_eq!(hex::encode(encode(&frame)), golden(name), "{name}");
    let bytes = hex::decode(golden(name)).expect("hex");
    assert_eq!(decode::<F>(&bytes), Ok(frame), "{name}");
}

#[test]
fn every_frame_has_the_bytes_that_it_had() {
    assert_eq!(VERSION, 1);
    relay_frames().into_iter().for_each(|(name, frame)| has_its_bytes(name, frame));
    app_frames().into_iter().for_each(|(name, frame)| has_its_bytes(name, frame));
}

#[test]
fn a_letter_has_the_bytes_that_it_had() {
    for (name, letter) in [("letter", letter()), ("dated_letter", dated_letter())] {
        assert_eq!(hex::encode(letter.to_bytes()), golden(name));
        assert_eq!(Letter::from_bytes(&hex::decode(golden(name)).unwrap()), Ok(letter));
    }
}

#[test]
fn every_line_of_the_golden_file_is_one_that_is_tested() {
    let lines: Vec<_> = GOLDEN.lines().filter_map(|line| line.split(' ').next()).collect();
    let names = relay_frames().into_iter().map(|(name, _)| name);
    let names: Vec<_> = names
        .chain(app_frames().into_iter().map(|(name, _)| name))
        .chain(["letter", "dated_letter"])
        .collect();
    assert_eq!(lines, names);
}

#[test]
fn what_a_device_signs_names_its_purpose_its_tunnel_and_the_nonce() {
    let text = hello_text("acme-dev", &[5; 32]);
    assert_eq!(HELLO_CONTEXT, b"hookmitt tunnel hello v1\0");
    assert_eq!(text, [b"hookmitt tunnel hello v1\0acme-dev\0".as_slice(), &[5; 32]].concat());
    assert_ne!(hello_text("acme", &[5; 32]), hello_text("acme-dev", &[5; 32]));
}

#[test]
fn what_is_asked_by_http_has_the_names_that_it_had() {
    let order = OpenTunnel {
        name: None,
        sealing_key: "s".into(),
        device_key: "d".into(),
        device_name: "laptop".into(),
    };
    let text = json!({ "name": null, "sealing_key": "s", "device_key": "d", "device_name": "laptop" });
    assert_eq!(serde_json::to_value(&order).unwrap(), text);
    let short = json!({ "sealing_key": "s", "device_key": "d", "device_name": "laptop" });
    assert_eq!(serde_json::from_value::<OpenTunnel>(short).unwrap(), order);

    let join = Join {
        tunnel: "acme-dev".into(),
        code: "c".into(),
        device_key: "d".into(),
        device_name: "laptop".into(),
    };
    let text = json!({ "tunnel": "acme-dev", "code": "c", "device_key": "d", "device_name": "laptop" });
    assert_eq!(serde_json::to_value(join).unwrap(), text);

    let opened = Opened { tunnel: "acme-dev".into(), public_url: "https://r.example/acme-dev".into() };
    // A newer relay may add fields.
    let text = json!({ "tunnel": "acme-dev", "public_url": "https://r.example/acme-dev", "region": "eu" });
    assert_eq!(serde_json::from_value::<Opened>(text).unwrap(), opened);

    let invited = Invited {
        relay: "https://r.example/".into(),
        tunnel: "acme-dev".into(),
        sealing_secret: "s".into(),
        code: "c".into(),
        owner: None,
    };
    let text =
        json!({ "relay": "https://r.example/", "tunnel": "acme-dev", "sealing_secret": "s", "code": "c" });
    assert_eq!(serde_json::to_value(&invited).unwrap(), text);
    assert_eq!(serde_json::from_value::<Invited>(text.clone()).unwrap(), invited);
    let owned = Invited { owner: Some("o".into()), ..invited };
    assert_eq!(serde_json::to_value(owned).unwrap()["owner"], "o");
}
