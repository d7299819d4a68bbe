//! Targets behind TLS.

use std::{
    io::{Read as _, Write as _},
    sync::Arc,
    time::Duration,
};

use hookmitt_call::Trust;
use hookmitt_forward::{Outcome, TargetUrl, Tls, send, tls};
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned, crypto::ring};

use crate::server::{bare, request, server};

/// Self-signed for `localhost` and 127.0.0.1, valid for a hundred years.
const CERTIFICATE: &[u8] = include_bytes!("localhost.cert.der");
const KEY: &[u8] = include_bytes!("localhost.key.der");

async fn sent(port: u16, tls: &Tls) -> Outcome {
    let target = TargetUrl::parse(&format!("https://127.0.0.1:{port}/")).expect("an address is a target");
    let stored = request("POST", "/x", b"A: 1\r\n", "body");
    send(&target, &bare(&stored), Duration::from_secs(60), tls).await
}

fn answer_in_tls(tcp: std::net::TcpStream) -> Vec<u8> {
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("ring supports the default versions")
        .with_no_client_auth()
        .with_single_cert(vec![CERTIFICATE.into()], KEY.to_vec().try_into().expect("a PKCS #8 key"))
        .expect("the key fits the certificate");
    let connection = ServerConnection::new(Arc::new(config)).expect("the configuration is complete");
    let mut stream = StreamOwned::new(connection, tcp);
    let mut got = vec![0; 4096];
    let mut length = 0;
    while !got[..length].ends_with(b"\r\n\r\nbody") {
        match stream.read(&mut got[length..]) {
            Ok(read) if read > 0 => length += read,
            _ => break, // refused by the client
        }
    }
    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    got.truncate(length);
    got
}

#[tokio::test]
async fn the_same_bytes_go_through_tls() {
    let (address, served) = server(answer_in_tls);
    let mut roots = RootCertStore::empty();
    roots.add(CERTIFICATE.into()).unwrap();
    let outcome = sent(address.port(), &Tls::new(Trust::only(roots))).await;
    assert!(matches!(&outcome, Outcome::Answered { body, .. } if body == "ok"), "{outcome:?}");
    let want = format!("POST /x HTTP/1.1\r\nHost: {address}\r\nA: 1\r\nContent-Length: 4\r\n\r\nbody");
    assert_eq!(String::from_utf8(served.join().unwrap()).unwrap(), want);
}

#[tokio::test]
async fn an_unknown_certificate_is_refused_as_a_real_attempt() {
    let (address, served) = server(answer_in_tls);
    let outcome = sent(address.port(), &tls()).await;
    let Outcome::Broken { error, sent, .. } = outcome else { panic!("{outcome:?}") };
    assert!(error.contains("certificate") && !sent, "{error}");
    assert_eq!(served.join().unwrap(), b"");
}

#[tokio::test]
async fn a_plain_server_does_not_speak_tls() {
    let (address, served) = server(|mut stream| {
        let _ = stream.read(&mut [0; 512]);
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    });
    let outcome = sent(address.port(), &tls()).await;
    assert!(matches!(&outcome, Outcome::Broken { error, .. } if error.contains("TLS")), "{outcome:?}");
    served.join().unwrap().unwrap();
}
