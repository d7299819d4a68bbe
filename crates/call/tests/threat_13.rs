//! Threat 13: the system's store vouches for servers that the user names, and for no others.
#![cfg(all(unix, not(target_os = "macos")))] // elsewhere the system's store is not a file
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]

use std::{env, ffi::OsStr, fs, path::Path, process::Command, sync::Arc};

use hookmitt_call::{Tls, TlsError, Trust, connect};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::{ServerConfig, crypto::ring};
use tokio::{
    net::TcpListener,
    time::{Duration, Instant},
};
use tokio_rustls::TlsAcceptor;
use url::Host;

/// Tells a child process of this test what it should find.
const CASE: &str = "HOOKMITT_TEST_CASE";

/// Writes an authority of our own, and a server's certificate issued by it, to files.
fn authority(folder: &Path) {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let names = vec!["localhost".to_owned()];
    let certificate = CertificateParams::new(names).unwrap().signed_by(&key, &authority).unwrap();
    fs::create_dir(folder.join("store")).unwrap();
    fs::write(folder.join("store/ours.pem"), authority.pem()).unwrap();
    fs::write(folder.join("certificate.der"), certificate.der()).unwrap();
    fs::write(folder.join("key.der"), key.serialize_der()).unwrap();
}

/// Performs a handshake with a server that presents that certificate.
async fn handshake(folder: &Path, trust: Trust) -> Result<(), TlsError> {
    let read = |name: &str| fs::read(folder.join(name)).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![read("certificate.der").into()], read("key.der").try_into().unwrap())
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let served = async {
        let (tcp, _) = listener.accept().await.unwrap();
        TlsAcceptor::from(Arc::new(config)).accept(tcp).await.map(drop)
    };
    let called = async {
        let tcp = connect(&[address], Instant::now() + Duration::from_secs(60)).await.unwrap();
        Tls::new(trust).handshake(&Host::Domain("localhost"), tcp).await.map(drop)
    };
    tokio::join!(called, served).0
}

/// Runs the test in a process of its own, in which only these variables say where the system's store is.
fn child(case: &str, folder: &Path, variables: &[(&str, &OsStr)]) {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "threat_13_the_system_vouches_for_those_whom_the_user_names", "--nocapture"]);
    command.env_remove("SSL_CERT_FILE").env_remove("SSL_CERT_DIR").env(CASE, case).current_dir(folder);
    let ran = command.envs(variables.iter().copied()).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout) + String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success() && said.contains("1 passed"), "{case}: {said}");
}

#[tokio::test]
async fn threat_13_the_system_vouches_for_those_whom_the_user_names() {
    let Ok(case) = env::var(CASE) else {
        let folder = tempfile::tempdir().unwrap();
        authority(folder.path());
        let store = folder.path().join("store");
        child("trusted", folder.path(), &[("SSL_CERT_FILE", store.join("ours.pem").as_os_str())]);
        child("trusted", folder.path(), &[("SSL_CERT_DIR", store.as_os_str())]);
        child("unknown", folder.path(), &[("SSL_CERT_FILE", OsStr::new("/nowhere/at/all"))]);
        child("unknown", folder.path(), &[]);
        return;
    };
    let folder = env::current_dir().unwrap();
    let refused = |tried: Result<(), TlsError>| match tried {
        Err(TlsError::Refused(why)) => assert!(why.to_string().contains("UnknownIssuer"), "{case}: {why}"),
        other => panic!("{case}: {other:?}"),
    };
    refused(handshake(&folder, Trust::built_in()).await);
    match case.as_str() {
        "trusted" => handshake(&folder, Trust::with_system()).await.unwrap(),
        _ => refused(handshake(&folder, Trust::with_system()).await),
    }
    // The certificates of a named file are trusted, whatever is in the system's store.
    let trust = Trust::with_system().and_file(&folder.join("store/ours.pem"), "none").unwrap();
    handshake(&folder, trust).await.unwrap();
}
