//! The relay: every acknowledged event is kept, sealed, and comes out byte for byte.

use std::fs;

use hookmitt_stories::{
    Device, RelayProcess, Reply, eventually, exchange, offer, open_tunnel, parse_reply, post, relay_token,
    within,
};
use hookmitt_wire::{AppFrame, Hold, RelayFrame, SourceOffer};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

/// How many small webhooks come after a large one.
const SMALL: usize = 100;

/// A relay with one tunnel.
pub(super) struct Set {
    pub(super) dir: TempDir,
    pub(super) relay: RelayProcess,
    pub(super) device: Device,
}

pub(super) async fn set(flags: &[&str]) -> Set {
    let dir = tempfile::tempdir().unwrap();
    let token = RelayProcess::token(dir.path()).await;
    let relay = RelayProcess::start(dir.path(), flags).await;
    let device = Device::open(relay.address, &token, Some("acme-dev")).await;
    Set { dir, relay, device }
}

impl Set {
    pub(super) async fn post(&self, path: &str, body: &[u8]) -> Reply {
        post(self.relay.address, path, &[], body).await
    }

    /// Returns how many outgoing bytes the relay reports to have in memory.
    pub(super) async fn outgoing(&self) -> usize {
        let text = self.relay.metrics().await;
        let line = text.lines().find_map(|line| line.strip_prefix("hookmitt_relay_outgoing_bytes "));
        line.unwrap().parse().unwrap()
    }
}

#[tokio::test]
async fn a_webhook_is_stored_sealed_and_drained_byte_for_byte() {
    let set = set(&[]).await;
    drop(set.device.offering(vec![offer("github")]).await);
    let raw = b"PURGE /acme-dev/github//a/../b%2Fc?x=%20&y HTTP/1.1\r\nHost: Relay.Test\r\nX-B: 1\r\nx-b:  2 \r\n\
                X-Forwarded-For: 6.6.6.6\r\nContent-Length: 15\r\nConnection: close\r\n\r\nthe body's \0\xff!\n";
    let reply = parse_reply(&exchange(set.relay.address, raw).await);
    assert_eq!(reply.status, 202);
    let id = reply.header("x-hookmitt-event-id").unwrap().to_owned();
    assert_eq!(reply.json(), serde_json::json!({ "received": true, "id": id }));

    let mut line = set.device.connect().await;
    assert_eq!((line.depth.letters, line.newest), (1, 1));
    let came = line.letter().await;
    let letter = &came.letter;
    assert_eq!((letter.method.as_str(), letter.slug.as_str()), ("PURGE", "github"));
    assert_eq!((letter.path.as_str(), letter.query.as_deref()), ("//a/../b%2Fc", Some("x=%20&y")));
    let lines = "Host: Relay.Test\r\nX-B: 1\r\nx-b:  2 \r\nX-Forwarded-For: 6.6.6.6\r\nContent-Length: 15\r\n\
                 Connection: close\r\n";
    assert_eq!(String::from_utf8_lossy(&letter.headers), lines);
    assert_eq!(&letter.body[..], b"the body's \0\xff!\n");
    assert_eq!(letter.sha256[..], Sha256::digest(&letter.body)[..]);
    assert_eq!(letter.url, "http://Relay.Test/acme-dev/github//a/../b%2Fc?x=%20&y");
    assert_eq!(hookmitt_event::EventId::from_bytes(letter.id).to_string(), id);
    assert!(letter.forwarded.is_empty() && letter.remote.starts_with("127.0.0.1:"));

    line.ack(came.position).await;
    let depth = line.until("it is acknowledged", |depth| depth.letters == 0).await;
    assert_eq!(depth.oldest, None);
}

#[tokio::test]
async fn whoever_steals_the_disk_learns_nothing_of_a_webhook() {
    let set = set(&[]).await;
    let _line = set.device.offering(vec![offer("github")]).await;
    let reply = set.post("/acme-dev/github/very/private?q=hush", b"an unmistakable body").await;
    assert_eq!(reply.status, 202);
    set.relay.process.stop().await.exits(0);
    let mut files = 0;
    for file in fs::read_dir(set.dir.path()).unwrap() {
        let bytes = fs::read(file.unwrap().path()).unwrap();
        files += 1;
        for secret in ["unmistakable", "very/private", "hush"] {
            assert!(!bytes.windows(secret.len()).any(|part| part == secret.as_bytes()), "{secret}");
        }
    }
    assert!(files > 0);
}

#[tokio::test]
async fn what_was_thanked_for_outlives_a_kill() {
    let Set { dir, relay, device } = set(&[]).await;
    drop(device.offering(vec![offer("s")]).await);
    for number in 0..20 {
        let reply = post(relay.address, "/acme-dev/s", &[], format!("{number}").as_bytes()).await;
        assert_eq!(reply.status, 202);
    }
    relay.process.kill().await;
    let relay = RelayProcess::start(dir.path(), &[]).await;
    let device = Device { relay: relay.address, ..device };
    let mut line = device.connect().await;
    for number in 0..20 {
        assert_eq!(line.letter().await.letter.body, format!("{number}"));
    }
}

#[tokio::test]
async fn every_device_of_a_tunnel_gets_every_webhook_and_only_its_own_cursor_moves() {
    let set = set(&[]).await;
    let mut laptop = set.device.offering(vec![offer("s")]).await;
    laptop.say(&AppFrame::Invite).await;
    let Some(RelayFrame::Invited { code, .. }) = laptop.next().await else { panic!("no code") };
    let desktop = set.device.join(&code).await.unwrap();
    assert_eq!(set.device.join(&code).await.err().unwrap().json()["code"], "unknown-code");
    let mut desktop = desktop.connect().await;
    set.post("/acme-dev/s", b"for both").await;
    let came = laptop.letter().await;
    laptop.ack(came.position).await;
    laptop.until("the laptop has it", |depth| depth.letters == 0).await;
    assert_eq!(desktop.letter().await.letter.body, "for both");
    assert_eq!(desktop.pong().await.letters, 1);
}

#[tokio::test]
async fn small_webhooks_pass_a_large_one_between_its_pieces() {
    let set = set(&["--metrics", "127.0.0.1:0"]).await;
    drop(set.device.offering(vec![offer("s")]).await);
    let (large, small) = (vec![b'x'; 25 * 1024 * 1024], [b'y'; 2_000]);
    assert_eq!(set.post("/acme-dev/s", &large).await.status, 202);
    for _ in 0..SMALL {
        assert_eq!(set.post("/acme-dev/s", &small).await.status, 202);
    }
    let mut line = set.device.connect().await;
    let Some(RelayFrame::Parcel { position, parcel, size }) = line.next().await else { panic!("no letter") };
    // No more is read until the small letters are on their way out too; the sockets don't buffer the large one.
    let both = large.len() + SMALL * small.len() / 2;
    eventually("all are in memory", async || (set.outgoing().await > both).then_some(())).await;
    let (mut data, mut passed) = (parcel.data.to_vec(), 0);
    while data.len() < size as usize {
        match line.next().await.unwrap() {
            RelayFrame::Piece { position: of, data: piece } => {
                assert_eq!(of, position);
                data.extend(piece);
            }
            RelayFrame::Parcel { position, parcel, .. } => {
                assert_eq!(line.open(position, parcel).letter.body, small[..]);
                passed += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    let came = line.open(position, hookmitt_wire::Parcel { data: data.into(), ..parcel });
    assert!(passed > 0 && came.letter.body == large);
}

#[tokio::test]
async fn a_full_window_holds_letters_back_until_some_are_acknowledged() {
    let set = set(&[]).await;
    drop(set.device.offering(vec![offer("s")]).await);
    for number in 0..5 {
        set.post("/acme-dev/s", format!("{number}").as_bytes()).await;
    }
    let mut line = set.device.connect_with(2, 1_000_000).await;
    let (first, second) = (line.letter().await, line.letter().await);
    assert_eq!((&first.letter.body[..], &second.letter.body[..]), (&b"0"[..], &b"1"[..]));
    line.say(&AppFrame::Ping { stamp: 1 }).await;
    assert!(matches!(line.next().await, Some(RelayFrame::Pong { .. })), "no third letter before the pong");
    line.say(&AppFrame::Ack { through: first.position, also: vec![second.position] }).await;
    assert_eq!(line.letter().await.letter.body, "2");
    assert_eq!(line.letter().await.letter.body, "3");
}

#[tokio::test]
async fn a_sender_is_held_where_only_the_app_can_answer() {
    let set = set(&["--hold", "30s"]).await;
    let discord = SourceOffer { hold: Hold::Always, ..offer("discord") };
    let mut line = set.device.offering(vec![offer("slack"), discord]).await;
    let headers = [
        ("X-Slack-Signature", "v0=0"),
        ("X-Slack-Request-Timestamp", "1"),
        ("Content-Type", "application/json"),
    ];
    let body = br#"{"type":"url_verification","challenge":"c"}"#;
    let answered = async {
        let came = line.letter().await;
        assert!(came.parcel.held);
        let answer = AppFrame::Answer {
            event: came.letter.id,
            status: 200,
            headers: vec![
                ("content-type".to_owned(), "text/plain".into()),
                ("Connection".to_owned(), "close".into()),
            ],
            body: "c".into(),
        };
        line.say(&answer).await;
    };
    let (reply, ()) = tokio::join!(post(set.relay.address, "/acme-dev/slack", &headers, body), answered);
    assert_eq!((reply.status, &reply.body[..]), (200, &b"c"[..]));
    assert_eq!(reply.header("content-type"), Some("text/plain"));

    let answered = async {
        let came = line.letter().await;
        let answer = |event| AppFrame::Answer { event, status: 401, headers: Vec::new(), body: "".into() };
        line.say(&answer([0; 16])).await; // an answer for an unknown event
        line.say(&answer(came.letter.id)).await;
    };
    let (reply, ()) = tokio::join!(set.post("/acme-dev/discord", b"{}"), answered);
    assert_eq!(reply.status, 401);

    let usual = post(set.relay.address, "/acme-dev/slack", &headers, br#"{"type":"event_callback"}"#).await;
    assert_eq!(usual.status, 200);
    assert!(!line.letter().await.parcel.held);
}

#[tokio::test]
async fn where_the_app_does_not_answer_the_source_does() {
    let set = set(&["--hold", "50ms"]).await;
    let told =
        SourceOffer { hold: Hold::Always, status: Some(418), body: Some("later".to_owned()), ..offer("s") };
    drop(set.device.offering(vec![told]).await);
    let reply = set.post("/acme-dev/s", b"x").await;
    assert_eq!((reply.status, &reply.body[..]), (418, &b"later"[..]));
    let came = set.device.connect().await.letter().await;
    assert_eq!(came.letter.body, "x");
}

#[tokio::test]
async fn a_store_that_is_not_there_is_not_made_to_look_for_tokens() {
    let dir = tempfile::tempdir().unwrap();
    let (nowhere, typo) = (dir.path().join("nowhere"), dir.path().join("typo"));
    let store = format!("sqlite:{}", typo.join("x.db").display());
    for verb in [&["list"][..], &["revoke", "tk_any"]] {
        for (place, named) in [(&typo, &["--store", &store][..]), (&nowhere, &[])] {
            let said = relay_token(&nowhere, &[verb, named].concat()).await.exits(3).err;
            assert!(said.contains("there is no store at") && said.contains("--store"), "{said}");
            assert!(!place.join("x.db").exists() && !place.join("relay.db").exists(), "{said}");
        }
    }
    assert!(!typo.exists(), "nor is its folder");
    relay_token(dir.path(), &["create", "--store", &store]).await.exits(0);
    let listed = relay_token(dir.path(), &["list", "--json", "--store", &store]).await.exits(0);
    assert_eq!(listed.json().len(), 1);
}

#[tokio::test]
async fn a_token_is_shown_once_and_revoking_it_shuts_its_tunnels() {
    let dir = tempfile::tempdir().unwrap();
    let made =
        relay_token(dir.path(), &["create", "--name", "acme", "--json"]).await.exits(0).json().remove(0);
    let (id, token) = (made["id"].as_str().unwrap().to_owned(), made["token"].as_str().unwrap().to_owned());
    assert!(token.starts_with("hmr_"));
    let relay = RelayProcess::start(dir.path(), &[]).await;
    let device = Device::open(relay.address, &token, None).await;
    let other = Device::open(relay.address, &token, None).await;
    let listed = relay_token(dir.path(), &["list", "--json"]).await.exits(0);
    let entry = &listed.json()[0];
    let mut tunnels = [device.tunnel.as_str(), &other.tunnel];
    tunnels.sort_unstable();
    let mut named: Vec<_> =
        entry["tunnels"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    named.sort_unstable();
    assert_eq!((entry["id"].as_str(), named), (Some(id.as_str()), tunnels.to_vec()));
    assert!(!listed.text().contains(&token));

    let mut line = device.offering(vec![offer("s")]).await;
    let path = format!("/{}/s", device.tunnel);
    assert_eq!(post(relay.address, &path, &[], b"x").await.status, 202);
    let revoked = relay_token(dir.path(), &["revoke", &id]).await.exits(0).err;
    assert!(revoked.contains(&device.tunnel) && revoked.contains("can't be used again"), "{revoked}");
    assert!(revoked.contains("hookmitt relay token rotate"), "{revoked}");
    eventually("its tunnel is shut", async || {
        (post(relay.address, &path, &[], b"x").await.status == 404).then_some(())
    })
    .await;
    line.say(&AppFrame::Ping { stamp: 1 }).await;
    assert_eq!(line.refused().await.as_deref(), Some("unknown-device"));
    relay_token(dir.path(), &["revoke", "tk_nobody"]).await.exits(2);
}

#[tokio::test]
async fn a_token_gets_a_new_secret_and_its_tunnels_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let made = relay_token(dir.path(), &["create", "--json"]).await.exits(0).json().remove(0);
    let (id, leaked) = (made["id"].as_str().unwrap(), made["token"].as_str().unwrap());
    let relay = RelayProcess::start(dir.path(), &[]).await;
    let device = Device::open(relay.address, leaked, None).await;
    let line = device.offering(vec![offer("s")]).await;

    let rotated = relay_token(dir.path(), &["rotate", id]).await.exits(0);
    let token = rotated.text().trim().to_owned();
    assert!(token.starts_with("hmr_") && token != leaked && !rotated.err.contains(&token), "{rotated:?}");
    let refused = open_tunnel(relay.address, leaked, &serde_json::json!({})).await;
    assert_eq!(refused.status, 401, "{refused:?}");
    Device::open(relay.address, &token, None).await;

    let path = format!("/{}/s", device.tunnel);
    assert_eq!(post(relay.address, &path, &[], b"x").await.status, 202, "the open tunnel takes events");
    drop(line);
    let again = relay_token(dir.path(), &["rotate", id, "--json"]).await.exits(0).json().remove(0);
    assert!(again["id"] == id && again["token"].as_str().is_some_and(|new| new != token), "{again}");
    let listed = relay_token(dir.path(), &["list"]).await.exits(0).text();
    assert!(listed.contains(&device.tunnel) && listed.contains("2/"), "{listed}");

    relay_token(dir.path(), &["revoke", id]).await.exits(0);
    let refused = relay_token(dir.path(), &["rotate", id]).await.exits(2).err;
    assert!(refused.contains("is revoked") && refused.contains("token create"), "{refused}");
    relay_token(dir.path(), &["rotate", "tk_nobody"]).await.exits(2);
}

#[tokio::test]
async fn at_the_end_senders_are_answered_and_devices_are_told() {
    let set = set(&["--hold", "60s"]).await;
    let held = SourceOffer { hold: Hold::Always, ..offer("s") };
    let mut line = set.device.offering(vec![held]).await;
    let address = set.relay.address;
    let ending = async {
        let came = line.letter().await;
        set.relay.process.signal("INT").await;
        line.say(&AppFrame::Answer {
            event: came.letter.id,
            status: 207,
            headers: Vec::new(),
            body: "".into(),
        })
        .await;
        line.refused().await
    };
    let (reply, told) =
        within("it ends", async { tokio::join!(post(address, "/acme-dev/s", &[], b"x"), ending) }).await;
    assert_eq!((reply.status, told.as_deref()), (207, Some("stopping")));
    set.relay.process.end().await.exits(0);
}

#[tokio::test]
async fn at_the_end_nobody_waits_out_a_delay_or_an_app_that_is_not_there() {
    let set = set(&["--hold", "60s"]).await;
    let slow = SourceOffer { delay_ms: 30_000, ..offer("slow") };
    let held = SourceOffer { hold: Hold::Always, ..offer("held") };
    let mut line = set.device.offering(vec![slow, held]).await;
    let address = set.relay.address;
    let ending = async {
        line.letter().await;
        line.letter().await;
        set.relay.process.signal("INT").await;
    };
    let replies = async {
        tokio::join!(
            post(address, "/acme-dev/slow", &[], b"x"),
            post(address, "/acme-dev/held", &[], b"y"),
            ending
        )
    };
    let (slow, held, ()) = within("both are answered", replies).await;
    assert_eq!((slow.status, held.status), (202, 202), "what is stored is thanked for");
    set.relay.process.end().await.exits(0);
}
