//! A relay that terminates TLS itself.

use std::{fs, net::SocketAddr, path::Path};

use hookmitt_stories::{RelayProcess, eventually, exchange, request, secured};
use rustls::pki_types::CertificateDer;

/// Makes a certificate for `relay.test` and stores it where the relay looks for it.
fn certificate(dir: &Path) -> CertificateDer<'static> {
    let made = rcgen::generate_simple_self_signed(vec!["relay.test".to_owned()]).unwrap();
    fs::write(dir.join("key.pem"), made.signing_key.serialize_pem()).unwrap();
    fs::write(dir.join("cert.pem"), made.cert.pem()).unwrap();
    made.cert.der().clone()
}

/// Returns the answer to `GET /-/healthz` for a client that trusts only this certificate.
async fn healthz(address: SocketAddr, trusted: CertificateDer<'static>) -> Option<String> {
    let asked = request("GET", "/-/healthz", &[], b"");
    let came = secured(address, "relay.test", vec![trusted], asked).await?;
    Some(String::from_utf8_lossy(&came.answer).into_owned())
}

#[tokio::test]
async fn a_certificate_from_files_is_read_anew_when_it_changes() {
    let dir = tempfile::tempdir().unwrap();
    let (chain, key) = (dir.path().join("cert.pem"), dir.path().join("key.pem"));
    let first = certificate(dir.path());
    let flags = ["--tls-cert", chain.to_str().unwrap(), "--tls-key", key.to_str().unwrap()];
    let relay = RelayProcess::start(dir.path(), &flags).await;
    let answered = healthz(relay.address, first.clone()).await.unwrap();
    assert!(answered.starts_with("HTTP/1.1 200 OK") && answered.contains("\"ok\":true"), "{answered}");

    fs::write(&chain, "nonsense").unwrap();
    let second = certificate(dir.path());
    eventually("the new certificate is used", async || healthz(relay.address, second.clone()).await).await;
    assert_eq!(healthz(relay.address, first).await, None);

    let plain = exchange(relay.address, b"GET /-/healthz HTTP/1.1\r\n\r\n").await;
    assert!(!plain.starts_with(b"HTTP/1.1 200"), "nothing is said in the clear");
}

#[tokio::test]
async fn a_certificate_that_can_not_be_used_is_said_at_the_start() {
    let dir = tempfile::tempdir().unwrap();
    certificate(dir.path());
    let (chain, key) = (dir.path().join("cert.pem"), dir.path().join("key.pem"));
    fs::write(&key, "nonsense").unwrap();
    let mut command = hookmitt_stories::hookmitt(dir.path());
    command.args(["relay", "--tls-cert"]).arg(&chain).arg("--tls-key").arg(&key);
    let ran = hookmitt_stories::Ran::of(command).await.exits(2);
    assert!(ran.err.contains("key.pem"), "{}", ran.err);
}
