//! Who may receive a tunnel's letters: a device with its own key, and nobody who eavesdrops or guesses (Threat 9).

use bytes::Bytes;
use ed25519_dalek::SigningKey;
use hookmitt_stories::{Device, Line, RelayProcess, offer, open_tunnel, post, relay_token};
use hookmitt_wire::{AppFrame, RelayFrame, encode};
use serde_json::json;

use super::relay::set;

/// Returns the relay's refusal of a first frame, if it refuses.
async fn answer(line: &mut Line, word: &AppFrame) -> Option<String> {
    line.say(word).await;
    line.refused().await
}

#[tokio::test]
async fn threat_9_a_hello_that_was_heard_before_proves_nothing() {
    let set = set(&[]).await;
    let mut line = Line::dial(set.relay.address).await;
    let nonce = line.challenge().await;
    let hello = set.device.hello(&nonce, 10, 1_000);
    line.say(&hello).await;
    assert!(matches!(line.next().await, Some(RelayFrame::Welcome { .. })));
    let mut replayed = Line::dial(set.relay.address).await;
    assert_ne!(replayed.challenge().await, nonce);
    assert_eq!(answer(&mut replayed, &hello).await.as_deref(), Some("bad-signature"));
}

#[tokio::test]
async fn threat_9_strangers_and_unknown_tunnels_are_told_the_same() {
    let set = set(&[]).await;
    let stranger = Device { key: SigningKey::from_bytes(&[9; 32]), ..set.device.clone() };
    let nowhere = Device { tunnel: "no-such-tunnel".to_owned(), ..set.device.clone() };
    for device in [stranger, nowhere] {
        let mut line = Line::dial(set.relay.address).await;
        let nonce = line.challenge().await;
        let hello = device.hello(&nonce, 10, 1_000);
        assert_eq!(answer(&mut line, &hello).await.as_deref(), Some("unknown-device"));
    }
}

#[tokio::test]
async fn what_is_no_frame_is_refused_in_words_and_others_go_on() {
    let set = set(&[]).await;
    let mut good = set.device.offering(vec![offer("s")]).await;
    let hello = set.device.hello(&[0; 32], 1, 1);
    let mut newer = encode(&hello).to_vec();
    newer[0] = 9;
    let words = [
        (Bytes::from(newer), Some("version")),
        (Bytes::from_static(b"\x01\xff\xff\xff"), Some("bad-frame")),
        (encode(&AppFrame::Ping { stamp: 1 }), Some("bad-frame")),
        (encode(&hello), Some("bad-signature")),
        (Bytes::from(vec![1; 2 * 1024 * 1024]), None),
    ];
    for (word, code) in words {
        let mut line = Line::dial(set.relay.address).await;
        line.challenge().await;
        line.say_bytes(word).await;
        assert_eq!(line.refused().await.as_deref(), code);
    }
    assert_eq!(set.post("/acme-dev/s", b"still there").await.status, 202);
    assert_eq!(good.letter().await.letter.body, "still there");
}

#[tokio::test]
async fn a_device_that_floods_or_lies_is_cut_off_and_others_go_on() {
    let set = set(&[]).await;
    let token = RelayProcess::token(set.dir.path()).await;
    let other = Device::open(set.relay.address, &token, None).await;
    let mut good = other.offering(vec![offer("s")]).await;
    let mut flooding = set.device.connect().await;
    for stamp in 0..500 {
        flooding.say(&AppFrame::Ping { stamp }).await;
    }
    assert_eq!(flooding.refused().await.as_deref(), Some("flood"));
    let mut lying = set.device.connect().await;
    lying.say(&AppFrame::Ack { through: 1_000, also: Vec::new() }).await;
    assert_eq!(lying.refused().await.as_deref(), Some("bad-frame"));
    let path = format!("/{}/s", other.tunnel);
    assert_eq!(post(set.relay.address, &path, &[], b"still there").await.status, 202);
    assert_eq!(good.letter().await.letter.body, "still there");
}

#[tokio::test]
async fn a_device_that_comes_back_takes_its_own_place() {
    let set = set(&[]).await;
    let mut before = set.device.offering(vec![offer("s")]).await;
    let mut after = set.device.connect().await;
    let told = before.refused().await;
    assert_eq!(told.as_deref(), Some("connected-elsewhere"), "it is not used any more, or a copy uses it");
    set.post("/acme-dev/s", b"x").await;
    assert_eq!(after.letter().await.letter.body, "x");
}

#[tokio::test]
async fn a_device_that_leaves_shuts_its_tunnel_and_the_name_is_gone() {
    let set = set(&[]).await;
    let token = RelayProcess::token(set.dir.path()).await;
    let mut line = set.device.offering(vec![offer("s")]).await;
    line.say(&AppFrame::Leave).await;
    assert_eq!(line.refused().await, None);
    assert_eq!(set.post("/acme-dev/s", b"x").await.status, 404);
    let key = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";
    let order = json!({ "name": "acme-dev", "sealing_key": key, "device_key": key, "device_name": "x" });
    let reply = open_tunnel(set.relay.address, &token, &order).await;
    let told = (reply.status, reply.json()["code"].as_str().map(str::to_owned));
    assert_eq!(told, (409, Some("name-taken".to_owned())));
}

#[tokio::test]
async fn a_token_opens_so_many_tunnels_and_says_how_many() {
    let dir = tempfile::tempdir().unwrap();
    let made =
        relay_token(dir.path(), &["create", "--tunnels", "1", "--json"]).await.exits(0).json().remove(0);
    assert_eq!(made["most_tunnels"], 1);
    let token = made["token"].as_str().unwrap();
    let relay = RelayProcess::start(dir.path(), &[]).await;
    let device = Device::open(relay.address, token, None).await;
    let key = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";
    let order = json!({ "name": "second", "sealing_key": key, "device_key": key, "device_name": "x" });
    let reply = open_tunnel(relay.address, token, &order).await;
    let said = reply.json();
    assert_eq!((reply.status, said["code"].as_str()), (403, Some("too-many-tunnels")));
    assert!(said["hint"].as_str().unwrap().contains("--tunnels"), "{said}");
    let listed = relay_token(dir.path(), &["list", "--json"]).await.exits(0).json().remove(0);
    assert_eq!((&listed["most_tunnels"], &listed["tunnels"]), (&json!(1), &json!([device.tunnel])));
    assert!(relay_token(dir.path(), &["list"]).await.exits(0).text().contains("  1/1  "));
}

#[tokio::test]
async fn threat_9_who_guesses_tokens_is_not_listened_to_for_a_while() {
    let set = set(&[]).await;
    let token = RelayProcess::token(set.dir.path()).await;
    for _ in 0..10 {
        assert_eq!(open_tunnel(set.relay.address, "hmr_guess", &json!({})).await.status, 401);
    }
    let refused = open_tunnel(set.relay.address, &token, &json!({})).await;
    assert_eq!((refused.status, refused.json()["code"].as_str()), (429, Some("too-many-guesses")));
    assert!(refused.header("retry-after").unwrap().parse::<u64>().unwrap() <= 61);
}

#[tokio::test]
async fn bad_orders_are_explained() {
    let set = set(&[]).await;
    let token = RelayProcess::token(set.dir.path()).await;
    let key = "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";
    let zero = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    let order = |name: &str, sealing: &str| json!({ "name": name, "sealing_key": sealing, "device_key": key, "device_name": "x" });
    let table = [
        (order("UPPER", key), 400, "bad-name"),
        (order("ab", key), 400, "bad-name"),
        (order("-/-", key), 400, "bad-name"),
        (order("fine", "short"), 400, "bad-key"),
        (order("fine", zero), 400, "bad-key"),
        (json!({ "name": "fine" }), 422, "bad-input"),
    ];
    for (order, status, code) in table {
        let reply = open_tunnel(set.relay.address, &token, &order).await;
        assert_eq!((reply.status, reply.json()["code"].as_str()), (status, Some(code)), "{order}");
        assert!(reply.header("content-type") == Some("application/problem+json"));
    }
}
