//! Threat 13: certificates that the system trusts are trusted for targets and relays.

use std::{fs, path::Path};

use hookmitt_stories::{Ran, RelayProcess, hookmitt};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use tokio::process::Command;

/// Makes an authority like mkcert's, and a certificate by it for `localhost`.
fn certificate(dir: &Path) {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, "our own authority");
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let names = vec!["localhost".to_owned()];
    let certificate = CertificateParams::new(names).unwrap().signed_by(&key, &authority).unwrap();
    fs::write(dir.join("ca.pem"), authority.pem()).unwrap();
    fs::write(dir.join("other.pem"), rcgen::generate_simple_self_signed([]).unwrap().cert.pem()).unwrap();
    fs::write(dir.join("cert.pem"), certificate.pem()).unwrap();
    fs::write(dir.join("key.pem"), key.serialize_pem()).unwrap();
}

/// Returns a command whose system certificate store is this file.
fn trusting(store: &Path, arguments: &[&str]) -> (Command, tempfile::TempDir) {
    let data = tempfile::tempdir().unwrap();
    let mut command = hookmitt(data.path());
    command.args(arguments).env("SSL_CERT_FILE", store).env_remove("SSL_CERT_DIR");
    (command, data)
}

#[cfg(all(unix, not(target_os = "macos")))] // elsewhere the system's store is not a file
#[tokio::test]
async fn threat_13_a_target_and_a_relay_may_have_a_certificate_that_the_system_trusts() {
    let dir = tempfile::tempdir().unwrap();
    certificate(dir.path());
    let at = |name: &str| dir.path().join(name).display().to_string();
    let token = RelayProcess::token(dir.path()).await;
    let flags = ["--tls-cert", &at("cert.pem"), "--tls-key", &at("key.pem")];
    let relay = RelayProcess::start(dir.path(), &flags).await;
    let url = format!("https://localhost:{}", relay.address.port());
    let (known, unknown) = (dir.path().join("ca.pem"), dir.path().join("nowhere.pem"));

    let target = format!("{url}/-/healthz");
    let send = ["send", "github", "--to", &target, "--json"];
    let (command, _data) = trusting(&known, &send);
    let reached = Ran::of(command).await.exits(1).json().remove(0);
    assert_eq!(reached["response_status"], 405, "{reached}");
    for (store, is_read) in [(dir.path().join("other.pem"), true), (unknown.clone(), false)] {
        let (command, _data) = trusting(&store, &send);
        let refused = Ran::of(command).await.exits(3);
        let line = refused.json().remove(0);
        assert!(line["error"].as_str().unwrap().contains("UnknownIssuer"), "{line}");
        let said = refused.err.contains("the system's certificates can't be used");
        assert!(said != is_read && !refused.err.contains("ERROR"), "{}", refused.err);
    }

    let add = ["tunnel", "add", &url, "--name", "acme-dev"];
    let (command, _data) = trusting(&unknown, &add);
    let refused = Ran::with_input(command, token.as_bytes()).await.exits(3);
    assert!(refused.err.contains("can't be trusted"), "{}", refused.err);
    let (command, _data) = trusting(&known, &add);
    let added = Ran::with_input(command, token.as_bytes()).await.exits(0);
    assert_eq!(added.text(), format!("https://{}/acme-dev\n", relay.address));
}
