//! A relay that gets its certificate by itself, from a real ACME server that checks whether the relay owns its name.

use std::{fs, net::Ipv4Addr, path::Path, sync::Arc, time::Duration};

use hookmitt_event::Timestamp;
use hookmitt_stories::{
    Authority, Ran, RelayProcess, Reply, Secured, Server, eventually, free_port, hookmitt, request, secured,
    serve, signature, within,
};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore,
    crypto::ring,
    pki_types::{CertificateDer, ServerName},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

const MONTHS: Duration = Duration::from_secs(90 * 86_400);

/// An authority, and the place where the relay will run.
struct Set {
    authority: Authority,
    root: CertificateDer<'static>,
    port: u16,
    dir: tempfile::TempDir,
}

async fn set(life: Duration) -> Option<Set> {
    let port = free_port();
    let authority = Authority::start(port, life).await?;
    let root = authority.root().await;
    Some(Set { authority, root, port, dir: tempfile::tempdir().unwrap() })
}

impl Set {
    async fn relay(&self) -> RelayProcess {
        let (address, url) = (format!("127.0.0.1:{}", self.port), format!("https://localhost:{}", self.port));
        let mut flags = vec!["--public-url", url.as_str(), "--metrics", "127.0.0.1:0"];
        let more = self.authority.flags();
        flags.extend(more.iter().map(String::as_str));
        RelayProcess::start_at(self.dir.path(), &address, &flags).await
    }

    /// Sends a request as a client that trusts only the authority; returns `None` while there is no certificate.
    async fn over_tls(&self, asked: Vec<u8>) -> Option<Secured> {
        let address = (Ipv4Addr::LOCALHOST, self.port).into();
        secured(address, "localhost", vec![self.root.clone()], asked).await
    }

    async fn healthy(&self) -> Secured {
        let asked = || request("GET", "/-/healthz", &[], b"");
        let came = eventually("TLS with a certificate", async || self.over_tls(asked()).await).await;
        assert_eq!(came.reply().status, 200);
        came
    }

    /// Starts an app with a tunnel through the relay and a GitHub source.
    async fn app(&self, data_dir: &Path) -> Server {
        let mut command = serve(data_dir);
        command.env("HOOKMITT_RELAY_CA", self.authority.root_file().await);
        let app = Server::spawn(command).await;
        app.delivers().await;
        let token = RelayProcess::token(self.dir.path()).await;
        let relay = format!("https://localhost:{}", self.port);
        app.ask("POST", "/api/sources", json!({ "slug": "github", "provider": "github" })).await;
        app.ask("POST", "/api/tunnels", json!({ "relay": relay, "token": token, "name": "acme-dev" })).await;
        app
    }

    async fn github(&self, body: &[u8]) -> Reply {
        let signed = format!("sha256={}", signature("s3cret", body));
        let headers = [("X-GitHub-Event", "ping"), ("X-Hub-Signature-256", signed.as_str())];
        let asked = request("POST", "/acme-dev/github", &headers, body);
        let sent = async || Some(self.over_tls(asked.clone()).await?.reply());
        eventually("the relay knows the source", async || sent().await.filter(|reply| reply.status != 404))
            .await
    }
}

async fn tunnel(app: &Server) -> Option<Value> {
    let tunnels = app.ask("GET", "/api/tunnels", Value::Null).await;
    tunnels["items"].get(0).cloned().filter(|tunnel| tunnel["state"] == "connected")
}

async fn arrived(app: &Server, reply: &Reply) -> Value {
    let path = format!("/api/events/{}", reply.header("x-hookmitt-event-id").unwrap());
    eventually("the event is in the inbox", async || {
        let found = app.call("GET", &path, &Value::Null).await;
        (found.status == 200).then(|| found.json())
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_relay_gets_its_certificate_keeps_it_and_takes_webhooks_over_tls() {
    let Some(set) = set(MONTHS).await else { return };
    let mut relay = set.relay().await;
    relay.process.says("no certificate yet").await;
    relay.process.says("a new certificate is in use").await;
    let first = set.healthy().await.shown;
    assert_eq!(set.authority.orders(), 1, "{}", set.authority.said());
    let counted = relay.metrics().await;
    assert!(
        counted.contains("accepted_total 0"),
        "nobody sent anything but the authority's challenge: {counted}"
    );
    assert!(!counted.contains("refused_total{"), "{counted}");
    let until = counted
        .lines()
        .find_map(|line| line.strip_prefix("hookmitt_relay_certificate_expires_timestamp_seconds "));
    let left = until.unwrap().parse::<i64>().unwrap() - Timestamp::now().as_seconds();
    assert!((80..=90).contains(&(left / 86_400)), "{left}");

    let data = tempfile::tempdir().unwrap();
    let app = set.app(data.path()).await;
    let reply = set.github(b"{}").await;
    assert_eq!(reply.status, 200);
    assert_eq!(arrived(&app, &reply).await["url"], format!("https://127.0.0.1/acme-dev/github"));

    relay.process.stop().await.exits(0);
    let mut relay = set.relay().await;
    relay.process.says("the certificate is valid until").await;
    assert_eq!(set.healthy().await.shown, first, "the same as before");
    assert_eq!(set.github(b"{}").await.status, 200);
    assert_eq!(set.authority.orders(), 1, "no other was asked for");
    only_its_owner_reads(&set.dir.path().join("acme"));
}

#[cfg(unix)]
fn only_its_owner_reads(folder: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let inner = fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    assert_eq!((mode(folder), mode(&inner)), (0o700, 0o700));
    for name in ["account.json", "certificate.pem"] {
        assert_eq!(mode(&inner.join(name)), 0o600, "{name}");
    }
}

#[cfg(not(unix))]
fn only_its_owner_reads(_: &Path) {}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_is_renewed_in_time_and_nobody_is_cut_off() {
    let Some(set) = set(Duration::from_secs(9)).await else { return };
    let _relay = set.relay().await;
    let first = set.healthy().await.shown;
    let data = tempfile::tempdir().unwrap();
    let app = set.app(data.path()).await;
    let before = eventually("the tunnel is connected", async || tunnel(&app).await).await;

    let mut last = first;
    for _ in 0..2 {
        last = eventually("another certificate", async || {
            let shown = set.healthy().await.shown;
            (shown != last).then_some(shown)
        })
        .await;
    }
    let reply = set.github(b"{}").await;
    assert_eq!(reply.status, 200);
    arrived(&app, &reply).await;
    let after = tunnel(&app).await.unwrap();
    assert_eq!(after["since"], before["since"], "the same connection all the time");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_challenge_that_fails_is_explained_and_tried_again() {
    let Some(set) = set(MONTHS).await else { return };
    set.authority.names_lead_to(Ipv4Addr::new(127, 0, 0, 9)).await; // an address where the relay isn't
    let mut relay = set.relay().await;
    relay.process.says("could not verify localhost").await;
    let said = relay.process.err();
    let line = said.lines().find(|line| line.contains("could not verify")).unwrap();
    for part in ["ERROR", "nobody can connect", "must point to this machine", "acme-not-ours", "in 5 s"] {
        assert!(line.contains(part), "{part}: {line}");
    }
    set.authority.names_lead_to(Ipv4Addr::LOCALHOST).await;
    set.healthy().await;
    assert!(set.authority.orders() > 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_authority_that_keeps_silent_holds_up_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let silent = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let directory = format!("https://{}/dir", silent.local_addr().unwrap());
    let flags = ["--public-url", "https://localhost", "--acme", "--acme-directory", &directory];
    let relay = RelayProcess::start(dir.path(), &[&flags[..], &["--metrics", "127.0.0.1:0"]].concat()).await;
    let (_asked, _) = within("the relay asks", silent.accept()).await.unwrap();
    assert!(relay.metrics().await.contains("certificate_expires_timestamp_seconds 0"));
    // The relay has no certificate, and says so at once.
    let mut caller = TcpStream::connect(relay.address).await.unwrap();
    caller.write_all(&client_hello()).await.unwrap();
    let mut answer = Vec::new();
    within("a TLS alert", caller.read_to_end(&mut answer)).await.unwrap();
    assert_eq!(answer.first(), Some(&21), "{answer:?}");
    relay.process.stop().await.exits(0);
}

/// Returns the first bytes of a client that starts a TLS handshake.
fn client_hello() -> Vec<u8> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(RootCertStore::empty()).with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let mut bytes = Vec::new();
    ClientConnection::new(Arc::new(config), name).unwrap().write_tls(&mut bytes).unwrap();
    bytes
}

#[tokio::test]
async fn what_can_not_be_had_is_said_at_the_start() {
    let dir = tempfile::tempdir().unwrap();
    let relay = async |flags: &[&str]| {
        let mut command = hookmitt(dir.path());
        command.args(["relay", "--listen", "127.0.0.1:0"]).args(flags);
        Ran::of(command).await.exits(2).err
    };
    let url = ["--public-url", "https://relay.test", "--acme"];
    let said = relay(&[&url[..], &["--wildcard"]].concat()).await;
    assert!(said.contains("*.relay.test") && said.contains("--tls-cert"), "{said}");
    let said = relay(&[&url[..], &["--acme-domain", "*.other.test"]].concat()).await;
    assert!(said.contains("*.other.test") && said.contains("--tls-cert"), "{said}");
    let said = relay(&["--public-url", "https://192.0.2.1", "--acme"]).await;
    assert!(said.contains("192.0.2.1") && said.contains("isn't a host name"), "{said}");
    let said = relay(&["--public-url", "http://relay.test", "--acme"]).await;
    assert!(said.contains("--public-url https://relay.test"), "{said}");
    let said = relay(&[&url[..], &["--acme-ca", "nowhere.pem"]].concat()).await;
    assert!(said.contains("nowhere.pem"), "{said}");
    let said = relay(&[&url[..], &["--tls-cert", "a", "--tls-key", "b"]].concat()).await;
    assert!(said.contains("cannot be used with"), "{said}");
    let said = relay(&["--acme"]).await;
    assert!(said.contains("--public-url"), "{said}");
}
