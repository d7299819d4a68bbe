//! The handshake: who is let in, and who is not.

use std::time::Duration;

use bytes::Bytes;
use hookmitt_event::{Explain as _, GapWhy};
use hookmitt_tunnel::{Network, Options, State, TunnelError};
use hookmitt_wire::{AppFrame, Hold, RelayFrame, SourceOffer};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use tokio_rustls::TlsAcceptor;

use crate::support::{App, Relay, Tunnel, within};

#[tokio::test]
async fn a_device_proves_who_it_is_and_says_how_much_it_takes() {
    let relay = Relay::start().await;
    let tunnel = Tunnel::at(&relay);
    let mut app = App::start(tunnel.credentials.clone(), App::options());
    let mut caller = relay.call().await;
    let AppFrame::Hello { tunnel: name, device, app: program, window, window_bytes, .. } =
        caller.hello().await
    else {
        panic!("no hello")
    };
    assert_eq!((name.as_str(), program.as_str()), ("acme-dev", "story/1"));
    assert_eq!((window, window_bytes), (1024, 32 * 1024 * 1024));
    assert_eq!(device, tunnel.credentials.device_key());

    assert!(matches!(app.states()[..], [State::Connecting { attempt: 1, last_error: None }]));
    caller.welcome(hookmitt_wire::Depth::default(), 0).await;
    let (url, caught_up) = app
        .until("it is connected", |state| match state {
            State::Connected { public_url, caught_up, .. } => Some((public_url.clone(), *caught_up)),
            _ => None,
        })
        .await;
    assert_eq!(url, "https://relay.example.com/acme-dev");
    assert!(caught_up, "nothing waited");
}

#[tokio::test]
async fn a_heartbeat_goes_out_at_once_and_its_answer_tells_the_round_trip() {
    let relay = Relay::start().await;
    let mut app = App::start(Tunnel::at(&relay).credentials, App::options());
    let mut caller = relay.lets_in().await;
    let stamp = loop {
        if let AppFrame::Ping { stamp } = caller.hear_any().await {
            break stamp;
        }
    };
    let depth = crate::support::many_letters(3);
    caller.say(RelayFrame::Pong { stamp, depth }).await;
    let told = app
        .until("the round trip is known", |state| match state {
            State::Connected { rtt: Some(rtt), depth, .. } => Some((*rtt, *depth)),
            _ => None,
        })
        .await;
    assert!(told.0 > Duration::ZERO);
    assert_eq!(told.1, depth);
}

#[tokio::test]
async fn what_is_said_to_wait_is_asked_for_again_before_the_next_heartbeat() {
    let relay = Relay::start().await;
    let hour = Duration::from_secs(3_600);
    let mut options = App::options();
    (options.pace.heartbeat, options.pace.silence) = (hour, 2 * hour);
    let _app = App::start(Tunnel::at(&relay).credentials, options);
    let mut caller = relay.lets_in().await;
    let mut asked = Vec::new();
    while asked.len() < 2 {
        if let AppFrame::Ping { stamp } = caller.hear_any().await {
            asked.push(stamp);
            // This letter was waiting when the report was made, and is acknowledged by now.
            caller.say(RelayFrame::Pong { stamp, depth: crate::support::many_letters(3) }).await;
        }
    }
}

#[tokio::test]
async fn the_relay_is_told_the_sources_now_and_when_they_change() {
    let relay = Relay::start().await;
    let app = App::start(Tunnel::at(&relay).credentials, App::options());
    app.offers(vec![source("github")]);
    let mut caller = relay.lets_in().await;
    assert_eq!(next_sources(&mut caller).await, ["github"]);
    app.offers(vec![source("github"), source("stripe")]);
    assert_eq!(next_sources(&mut caller).await, ["github", "stripe"]);
    app.offers(vec![]);
    assert_eq!(next_sources(&mut caller).await, [""; 0]);
}

#[tokio::test]
async fn answers_that_are_too_large_for_a_frame_don_t_keep_the_sources_from_being_told() {
    let relay = Relay::start().await;
    let app = App::start(Tunnel::at(&relay).credentials, App::options());
    let headers = vec![("content-type".to_owned(), Bytes::from_static(b"text/html"))];
    let large = SourceOffer { body: Some("x".repeat(2 * 1024 * 1024)), headers, ..source("large") };
    app.offers(vec![source("github"), large]);
    let mut caller = relay.lets_in().await;
    let sources = loop {
        if let AppFrame::Sources(sources) = caller.hear_any().await {
            break sources;
        }
    };
    assert_eq!(sources, [source("github"), source("large")]);
}

#[tokio::test]
async fn a_relay_that_knows_the_device_no_more_is_said_and_called_again_when_somebody_nudges() {
    let relay = Relay::start().await;
    let options = App::options();
    let line = options.line.clone();
    let mut app = App::start(Tunnel::at(&relay).credentials, options);
    for code in ["unknown-tunnel", "unknown-device", "bad-signature", "version", "revoked"] {
        let mut caller = relay.call().await;
        caller.hello().await;
        let message = "this device was idle for 30 days".to_owned();
        caller.say(RelayFrame::Refused { code: code.to_owned(), message }).await;
        let error = app
            .until("it is refused", |state| match state {
                State::Refused { error } => Some(error.clone()),
                _ => None,
            })
            .await;
        assert_eq!(
            (error.any_code(), error.to_string().as_str()),
            (code, "this device was idle for 30 days")
        );
        line.nudge();
    }
    relay.lets_in().await;
    app.connected().await;
}

#[tokio::test]
async fn a_relay_that_is_busy_or_stopping_is_called_again_by_itself() {
    let relay = Relay::start().await;
    let mut app = App::start(Tunnel::at(&relay).credentials, App::options());
    for code in ["busy", "stopping", "flood", "something-new"] {
        let mut caller = relay.call().await;
        caller.hello().await;
        caller.say(RelayFrame::Refused { code: code.to_owned(), message: "not now".to_owned() }).await;
        let (why, error) = offline(&mut app).await;
        assert_eq!((why, error.any_code()), (GapWhy::Denied, code));
    }
}

#[tokio::test]
async fn a_relay_of_another_version_is_refused_in_words() {
    let relay = Relay::start().await;
    let mut app = App::start(Tunnel::at(&relay).credentials, App::options());
    let mut caller = relay.call().await;
    let mut challenge = hookmitt_wire::encode(&RelayFrame::Challenge { nonce: [0; 32] }).to_vec();
    challenge[0] = 2;
    caller.send(challenge.into()).await.unwrap();
    let error = app
        .until("it is refused", |state| match state {
            State::Refused { error } => Some(error.clone()),
            _ => None,
        })
        .await;
    assert_eq!(error.code(), "relay-version");
    let words =
        "the other side speaks version 2 of the tunnel's frames, this one 1: update whichever is older";
    assert_eq!(error.to_string(), words);
}

#[tokio::test]
async fn what_answers_without_being_a_relay_is_told_apart_from_a_relay_that_says_no() {
    let relay = Relay::start().await;
    let mut app = App::start(Tunnel::at(&relay).credentials, App::options());
    let page = "HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\nhi";
    answers(&relay, page).await;
    assert_eq!(offline(&mut app).await, (GapWhy::Relay, TunnelError::NoRelay(404)));

    let body = r#"{"type":"about:blank","code":"busy","detail":"too many devices","hint":"wait"}"#;
    let no = format!("HTTP/1.1 503 Unavailable\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    answers(&relay, &no).await;
    let (_, error) = offline(&mut app).await;
    assert_eq!((error.any_code(), error.to_string().as_str()), ("busy", "too many devices"));
    assert_eq!(error.hint().as_deref(), Some("wait"));
}

#[tokio::test]
async fn plain_http_beyond_this_machine_is_never_dialled() {
    let relay = Relay::start().await;
    let mut credentials = Tunnel::at(&relay).credentials;
    credentials.relay = "http://relay.example.com".parse().unwrap();
    let mut app = App::start(credentials, App::options());
    let error = app
        .until("it is refused", |state| match state {
            State::Refused { error } => Some(error.clone()),
            _ => None,
        })
        .await;
    assert_eq!(error.code(), "relay-without-tls");
}

#[tokio::test]
async fn tls_is_checked_against_an_authority_of_one_s_own_where_it_is_named() {
    let authority_key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = params.self_signed(&authority_key).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ca.pem");
    std::fs::write(&file, authority.pem()).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec!["localhost".to_owned()])
        .unwrap()
        .signed_by(&key, &Issuer::new(params, authority_key))
        .unwrap();

    let ring = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(ring)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key.serialize_der().try_into().unwrap())
        .unwrap();
    let acceptor = TlsAcceptor::from(std::sync::Arc::new(config));
    let relay = Relay::start().await;
    let mut credentials = Tunnel::at(&relay).credentials;
    let port = relay.listener.local_addr().unwrap().port();
    credentials.relay = format!("https://localhost:{port}").parse().unwrap();

    let mut app = App::start(credentials.clone(), App::options());
    within("TLS", acceptor.accept(relay.tcp().await)).await.map(drop).unwrap_err();
    let (why, error) = offline(&mut app).await;
    assert_eq!((why, error.code()), (GapWhy::Untrusted, "relay-untrusted"));
    drop(app);

    let network = Network::with_authorities(&file).unwrap();
    let _app = App::start(credentials, Options { network, ..App::options() });
    let socket = loop {
        // What the first app began before it ended comes first.
        if let Ok(socket) = within("TLS", acceptor.accept(relay.tcp().await)).await {
            break socket;
        }
    };
    within("the upgrade", Box::pin(tokio_tungstenite::accept_async(socket))).await.unwrap();
}

/// Answers the next connection with this plain HTTP response.
async fn answers(relay: &Relay, answer: &str) {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let mut tcp = relay.tcp().await;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(within("a request", tcp.read_u8()).await.expect("a byte"));
    }
    tcp.write_all(answer.as_bytes()).await.expect("the app reads");
    tcp.shutdown().await.expect("the app reads");
}

async fn offline(app: &mut App) -> (GapWhy, TunnelError) {
    app.until("it is offline", |state| match state {
        State::Offline { why, error: Some(error), .. } => Some((*why, error.clone())),
        _ => None,
    })
    .await
}

async fn next_sources(caller: &mut crate::support::Caller) -> Vec<String> {
    loop {
        if let AppFrame::Sources(sources) = caller.hear_any().await {
            return sources.into_iter().map(|source| source.slug).collect();
        }
    }
}

fn source(slug: &str) -> SourceOffer {
    SourceOffer {
        slug: slug.to_owned(),
        provider: None,
        hold: Hold::Handshakes,
        status: None,
        headers: Vec::new(),
        body: None,
        delay_ms: 0,
    }
}
