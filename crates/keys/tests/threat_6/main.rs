//! Tests every rule of Threat 6, keys by URL, against a provider's host on this machine.

mod desk;
mod server;

use std::{
    io::Write as _,
    time::{Duration, Instant},
};

use desk::{Desk, KEY_URL};
use hookmitt_keys::{LARGEST, TIME_LIMIT};
use hookmitt_verify::{PairKind, PublicForm, Published, PublishedKeys as _, TestKeyPair};
use server::{Server, ok};

fn pair() -> TestKeyPair {
    TestKeyPair::generate(PairKind::P256).expect("a key pair")
}

fn pem(pair: &TestKeyPair) -> String {
    pair.public(PublicForm::Pem).expect("any key can be PEM")
}

/// Returns a set of one key with this id.
fn jwks(pair: &TestKeyPair, kid: &str) -> String {
    let key = pair.public_key().clone().with_key_id(kid).written(PublicForm::Jwk).expect("a JWK");
    format!(r#"{{"keys":[{key}]}}"#)
}

#[tokio::test]
async fn a_wanted_key_is_fetched_once_and_kept_over_a_restart() {
    let pair = pair();
    let text = pem(&pair);
    let server = Server::answering(move |line| {
        assert_eq!(line, "GET /key?x=1 HTTP/1.1");
        ok(&text)
    });
    let url = format!("{KEY_URL}?x=1");
    let desk = Desk::new(server.network());
    assert_eq!(desk.store.find(&url, None), Published::Awaited);
    let key = Published::Key(pair.public_key().clone());
    let arrivals = desk.store.arrivals();
    assert_eq!(desk.want(&url, None).await, key);
    assert!(arrivals.has_changed().unwrap(), "who waits is told");
    desk.store.want(&url, None);
    let Desk { folder, .. } = desk;
    let again = Desk::in_folder(server.network(), folder);
    assert_eq!(again.store.find(&url, None), key);
    assert_eq!(server.asked(), 1);
    again.pass(3601); // its max-age is an hour
    assert_eq!(again.store.find(&url, None), Published::Awaited);
}

#[tokio::test]
async fn threat_6_only_hosts_on_the_list_are_asked() {
    let server = Server::answering(|_| ok("nothing"));
    let desk = Desk::new(server.network());
    for url in [
        "https://other.example.test/key",
        "https://keys.example.test:8443/key",
        "https://x@keys.example.test/",
    ] {
        desk.store.want(url, None);
        assert!(matches!(desk.store.find(url, None), Published::Unavailable(_)), "{url}");
    }
    assert_eq!(server.asked(), 0);
}

#[tokio::test]
async fn threat_6_keys_come_over_https_alone() {
    let server = Server::answering(|_| ok("nothing"));
    let desk = Desk::new(server.network());
    let found = desk.store.find("http://keys.example.test/key", None);
    assert_eq!(found, Published::Unavailable("it isn't fetched from there: not https".to_owned()));
    // A host whose certificate was signed by an untrusted authority is not the provider's.
    let stranger = Server::answering(|_| ok(""));
    let roots = rustls::RootCertStore::empty();
    let distrustful = Desk::new(stranger.network_trusting(roots));
    assert!(distrustful.refusal(KEY_URL).await.contains("certificate"));
    assert_eq!(stranger.asked(), 0);
}

/// Certificates that only the system trusts do not count. A test of `hookmitt-call` shows that `SSL_CERT_FILE`, which
/// is set here, does make such a server trusted elsewhere.
#[tokio::test]
async fn threat_13_whom_the_system_trusts_may_publish_nothing() {
    const CASE: &str = "HOOKMITT_TEST_CASE";
    let server = Server::answering(|_| ok("nothing"));
    if std::env::var_os(CASE).is_none() {
        // A separate process is needed, because certificates are loaded when the process starts.
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ca.pem"), server.certificate()).unwrap();
        let ran = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "threat_13_whom_the_system_trusts_may_publish_nothing", "--nocapture"])
            .env("SSL_CERT_FILE", folder.path().join("ca.pem"))
            .env(CASE, "child")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&ran.stdout) + String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    let refusal = Desk::new(server.usual_network()).refusal(KEY_URL).await;
    assert!(refusal.contains("UnknownIssuer"), "{refusal}");
    assert_eq!(server.asked(), 0);
}

#[tokio::test]
async fn threat_6_no_redirect_is_followed() {
    let server = Server::answering(|_| {
        b"HTTP/1.1 302 Found\r\nLocation: https://keys.example.test/other\r\nContent-Length: 0\r\n\r\n"
            .to_vec()
    });
    let desk = Desk::new(server.network());
    assert_eq!(desk.refusal(KEY_URL).await, "the answer was a redirect, which is not followed");
    assert_eq!(server.asked(), 1);
}

#[tokio::test]
async fn threat_6_no_more_than_10_kb_are_read() {
    let text = pem(&pair());
    let padded = format!("{text}{}", " ".repeat(LARGEST - text.len()));
    let server = Server::answering(move |line| match line {
        "GET /fits HTTP/1.1" => ok(&padded),
        _ => ok(&format!("{padded} ")),
    });
    let desk = Desk::new(server.network());
    assert!(matches!(desk.want("https://keys.example.test/fits", None).await, Published::Key(_)));
    assert_eq!(desk.refusal(KEY_URL).await, "the answer was larger than 10 KB");
    // The limit also holds for an answer without a length, and for one without an end.
    let endless = Server::talking(|_, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        while stream.write_all(&[b'x'; 1024]).is_ok() {}
    });
    assert_eq!(Desk::new(endless.network()).refusal(KEY_URL).await, "the answer was larger than 10 KB");
}

#[tokio::test]
async fn threat_6_nobody_is_waited_for_longer_than_5_seconds() {
    let server = Server::talking(|_, stream| {
        // One byte at a time: each byte is progress, but all of them together are too slow.
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
        while stream.write_all(b"x").is_ok() {
            std::thread::sleep(Duration::from_millis(100));
        }
    });
    let desk = Desk::new(server.network());
    let begun = Instant::now();
    desk.store.want(KEY_URL, None);
    assert_eq!(server.asked(), 0, "wanting a key doesn't wait for it");
    assert_eq!(desk.refusal(KEY_URL).await, "there was no answer within 5 seconds");
    assert!(begun.elapsed() >= TIME_LIMIT);
}

#[tokio::test]
async fn threat_6_what_failed_is_left_alone_for_a_while() {
    let server = Server::answering(|_| b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec());
    let desk = Desk::new(server.network());
    let arrivals = desk.store.arrivals();
    assert_eq!(desk.refusal(KEY_URL).await, "the answer was 404");
    assert!(!arrivals.has_changed().unwrap(), "no key has come");
    desk.pass(59);
    desk.store.want(KEY_URL, None);
    assert!(matches!(desk.store.find(KEY_URL, None), Published::Unavailable(_)));
    desk.pass(1);
    desk.refusal(KEY_URL).await;
    assert_eq!(server.asked(), 2);
    desk.pass(119); // the second pause is twice as long
    assert!(matches!(desk.store.find(KEY_URL, None), Published::Unavailable(_)));
}

#[tokio::test]
async fn threat_6_an_unknown_key_id_asks_again_once_a_minute() {
    let pair = pair();
    let (first, second) = (jwks(&pair, "k1"), jwks(&pair, "k2"));
    let times = std::sync::atomic::AtomicUsize::new(0);
    let server = Server::answering(move |_| match times.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
        0 => ok(&first),
        _ => ok(&second),
    });
    let desk = Desk::new(server.network());
    let has = |found: &Published, kid: &str| matches!(found, Published::Key(key) if key.knows(Some(kid)));
    assert!(has(&desk.want(KEY_URL, Some("k1")).await, "k1"));
    let lately = desk.store.find(KEY_URL, Some("k2"));
    assert!(has(&lately, "k1") && !has(&lately, "k2"), "the set as it is, for the verdict to name the id");
    desk.pass(60);
    assert_eq!(desk.store.find(KEY_URL, Some("k2")), Published::Awaited);
    assert!(has(&desk.want(KEY_URL, Some("k2")).await, "k2"));
    assert_eq!(server.asked(), 2);
}

/// A host that publishes one genuine key, at a path that cannot be guessed from the others.
fn host_with_one_key(pair: &TestKeyPair) -> Server {
    let text = pem(pair);
    Server::answering(move |line| match line {
        "GET /key/genuine HTTP/1.1" => ok(&text),
        _ => b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec(),
    })
}

#[tokio::test]
async fn threat_6_made_up_urls_don_t_shut_out_a_genuine_one() {
    let pair = pair();
    let server = host_with_one_key(&pair);
    let desk = Desk::new(server.network());
    let genuine = format!("{KEY_URL}/genuine");
    let made_up = |number: usize| format!("{KEY_URL}/{number}");
    // 64 URLs that have failed and must not be fetched again soon, and 1000 that wait.
    for number in 0..64 {
        desk.refusal(&made_up(number)).await;
    }
    assert_eq!(desk.store.find(&genuine, None), Published::Awaited, "it may be fetched");
    for number in 100..1_100 {
        desk.store.want(&made_up(number), None);
    }
    let (before, mut changes) = (server.asked(), desk.store.changes());
    desk.store.want(&genuine, None);
    while desk.store.find(&genuine, None) == Published::Awaited {
        tokio::time::timeout(Duration::from_secs(60), changes.changed()).await.unwrap().unwrap();
    }
    assert_eq!(desk.store.find(&genuine, None), Published::Key(pair.public_key().clone()));
    let meanwhile = server.asked() - before;
    assert!(meanwhile <= 10, "it has its turn among the next ones, not after {meanwhile}");
    // URLs that failed are not fetched again.
    assert!(matches!(desk.store.find(&made_up(1), None), Published::Unavailable(_)));
    // The genuine key is not forgotten when more URLs fail later.
    for number in 2_000..2_100 {
        desk.refusal(&made_up(number)).await;
    }
    assert!(matches!(desk.store.find(&genuine, None), Published::Key(_)));
}

#[tokio::test]
async fn threat_6_made_up_urls_fill_neither_the_memory_nor_the_queue() {
    let server = Server::answering(|_| b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n".to_vec());
    let desk = Desk::new(server.network());
    let url = |number: usize| format!("{KEY_URL}/{number}");
    for number in 0..10_000 {
        desk.store.want(&url(number), None);
    }
    let mut changes = desk.store.changes();
    while *changes.borrow_and_update() < 64 {
        changes.changed().await.expect("a task that fetches");
    }
    // Any URL still in the queue would be fetched between these.
    for last in ["/a", "/b", "/c", "/d"] {
        desk.refusal(&format!("{KEY_URL}{last}")).await;
    }
    assert_eq!(server.asked(), 64 + 4, "only so many waited");
    let endless = format!("{KEY_URL}/{}", "a".repeat(2_048));
    desk.store.want(&endless, None);
    assert!(matches!(desk.store.find(&endless, None), Published::Unavailable(_)));
}

#[tokio::test]
async fn threat_6_plaid_s_keys_are_only_ever_supplied() {
    let server = Server::answering(|_| ok("nothing"));
    let desk = Desk::new(server.network());
    let url = "https://production.plaid.com/webhook_verification_key/get";
    desk.store.want(url, Some("k1"));
    let Published::Unavailable(reason) = desk.store.find(url, Some("k1")) else { panic!("it can't be had") };
    assert!(reason.contains("API credentials"), "{reason}");
    assert_eq!(server.asked(), 0);
}

#[cfg(unix)]
#[tokio::test]
async fn threat_8_the_kept_keys_are_their_owner_s_alone_to_write() {
    use std::os::unix::fs::PermissionsExt as _;
    let text = pem(&pair());
    let server = Server::answering(move |_| ok(&text));
    let desk = Desk::new(server.network());
    desk.want(KEY_URL, None).await;
    let kept = std::fs::metadata(desk.folder.path().join("keys.json")).expect("a file");
    assert_eq!(kept.permissions().mode() & 0o777, 0o600);
    // A damaged file counts as empty.
    std::fs::write(desk.folder.path().join("keys.json"), b"{").expect("room");
    let Desk { folder, .. } = desk;
    assert_eq!(Desk::in_folder(server.network(), folder).store.find(KEY_URL, None), Published::Awaited);
}
