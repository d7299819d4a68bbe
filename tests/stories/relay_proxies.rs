//! A relay behind a real proxy, with the files in `deploy/`: requests arrive unchanged, with their senders' addresses.

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hookmitt_event::{HeaderLines, HttpVersion, Request, Timestamp};
use hookmitt_stories::{
    Proxy, RelayProcess, Reply, Server, eventually, free_port, parse_reply, secured_from, serve, signature,
};
use hookmitt_verify::{SignBy, provider, sign};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use super::tunnel::{id_of, on_the_wire};

/// The senders' address, which differs from the proxy's.
pub(super) const SENDER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

/// Sources with the secrets of the providers that they are named after. GitHub signs the body, the others more.
pub(super) const SECRETS: [(&str, &str); 5] = [
    ("github", "s3cret"),
    ("twilio", "an-auth-token"),
    ("square", "a-key"),
    ("trello", "an-app's-secret"),
    ("contentful", "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"),
];

/// An app, its tunnel, a relay, and a proxy in front of the relay.
pub(super) struct Set {
    pub(super) proxy: Proxy,
    relay: RelayProcess,
    app: Server,
    pub(super) host: String,
    _dirs: [TempDir; 2],
}

pub(super) async fn set(proxy: impl AsyncFnOnce(u16, SocketAddr) -> Option<Proxy>) -> Option<Set> {
    let dirs = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let port = free_port();
    let (host, url) = (format!("localhost:{port}"), format!("https://localhost:{port}"));
    let token = RelayProcess::token(dirs[0].path()).await;
    let flags = ["--public-url", &url, "--trusted-proxy", "127.0.0.1"];
    let relay = RelayProcess::start(dirs[0].path(), &flags).await;
    let proxy = proxy(port, relay.address).await?;
    let app = app(dirs[1].path(), &proxy).await;
    app.ask("POST", "/api/tunnels", json!({ "relay": url, "token": token, "name": "acme-dev" })).await;
    let set = Set { proxy, relay, app, host, _dirs: dirs };
    eventually("the tunnel is connected through the proxy", async || set.connected_since().await).await;
    Some(set)
}

async fn app(data_dir: &Path, proxy: &Proxy) -> Server {
    let mut command = serve(data_dir);
    command.env("HOOKMITT_RELAY_CA", proxy.root_file());
    let app = Server::spawn(command).await;
    app.delivers().await;
    for (source, secret) in SECRETS {
        app.ask("POST", "/api/sources", json!({ "slug": source, "provider": source })).await;
        let value = json!({ "value_base64": STANDARD.encode(secret) });
        app.ask("PUT", &format!("/api/sources/{source}/secrets/default"), value).await;
    }
    app
}

impl Set {
    async fn connected_since(&self) -> Option<Timestamp> {
        let tunnels = self.app.ask("GET", "/api/tunnels", Value::Null).await;
        let tunnel = tunnels["items"].get(0).filter(|tunnel| tunnel["state"] == "connected")?;
        tunnel["since"].as_str()?.parse().ok()
    }

    /// Sends a request to a source through the proxy, as soon as the relay knows the source.
    pub(super) async fn send(&self, source: &str, asked: &Request) -> Reply {
        let bytes = on_the_wire(source, asked);
        eventually("the relay knows the source", async || {
            let (bytes, root) = (bytes.clone(), vec![self.proxy.root()]);
            let came = secured_from(SENDER, self.proxy.address, "localhost", root, bytes).await;
            let reply = came.unwrap_or_else(|| panic!("no answer: {}", self.proxy.said())).reply();
            (reply.status != 404).then_some(reply)
        })
        .await
    }

    /// Returns a signed GitHub request whose sender also forges some header lines.
    fn github(&self, body: &[u8]) -> Request {
        let signed = format!("sha256={}", signature("s3cret", body));
        let headers = [
            ("Host", self.host.as_str()),
            ("X-GitHub-Event", "ping"),
            ("x_odd.name", "kept"),
            ("X-Hub-Signature-256", &signed),
            ("X-Forwarded-For", "6.6.6.6"),
            ("X-Forwarded-Host", "evil.example"),
            ("X-Forwarded-Proto", "http"),
            ("X-Real-IP", "6.6.6.6"),
            ("Forwarded", "for=6.6.6.6;host=evil.example"),
        ];
        plain(&headers, Some("x=%20&y"), body)
    }

    pub(super) async fn arrived(&self, reply: &Reply) -> Value {
        assert_eq!(reply.status, 200, "{reply:?}");
        let path = format!("/api/events/{}", id_of(reply));
        eventually("the event is in the inbox", async || {
            let found = self.app.call("GET", &path, &Value::Null).await;
            (found.status == 200).then(|| found.json())
        })
        .await
    }

    /// Checks what every proxy has to leave unchanged.
    async fn does_no_harm(&self) {
        let body = b"{\"zen\": \"a \0 and a \xff\" }\r\n\r\n";
        let event = self.arrived(&self.send("github//a/../b%2Fc", &self.github(body)).await).await;
        assert_eq!(event["verdict"], "valid", "{event}");
        assert_eq!(event["sha256"], hex::encode(Sha256::digest(body)));
        assert_eq!((&event["path"], &event["query"]), (&json!("//a/../b%2Fc"), &json!("x=%20&y")));
        let url = format!("https://{}/acme-dev/github//a/../b%2Fc?x=%20&y", self.host);
        assert_eq!(event["url"], url, "the public one");
        assert!(event["remote"].as_str().unwrap().contains("127.0.0.2"), "{}", event["remote"]);
        let (headers, forwarded) = (event["headers"].to_string(), event["forwarded"].to_string());
        assert!(headers.contains("kept") && !headers.to_lowercase().contains("forwarded"), "{headers}");
        assert!(forwarded.contains("127.0.0.2") && forwarded.contains("https"), "beside it: {forwarded}");
        let path = format!("/api/events/{}/body", event["id"].as_str().unwrap());
        assert_eq!(self.app.call("GET", &path, &Value::Null).await.body, body);
    }

    /// Checks that what a sender claims about itself is not believed.
    async fn is_not_lied_to(&self) {
        let event = self.arrived(&self.send("github", &self.github(b"{}")).await).await;
        let said = format!("{} {} {}", event["remote"], event["url"], event["forwarded"]);
        assert!(!event["remote"].to_string().contains("6.6.6.6"), "{said}");
        assert!(
            !event["url"].to_string().contains("evil") && !said.contains("X-Forwarded-For\",\"6.6"),
            "{said}"
        );
        // In a request that doesn't come through the proxy, such header lines are neither believed nor removed.
        let bytes = on_the_wire("github", &self.github(b"{}"));
        let event = self.arrived(&past(SENDER, self.relay.address, &bytes).await).await;
        assert!(event["remote"].as_str().unwrap().starts_with("127.0.0.2:"), "{}", event["remote"]);
        assert!(event["headers"].to_string().contains("6.6.6.6"), "{}", event["headers"]);
        assert_eq!(event["verdict"], "valid");
    }

    /// Checks that a signature over the public URL holds.
    async fn keeps_the_url(&self) {
        let headers = [("Host", self.host.as_str()), ("Content-Type", "application/x-www-form-urlencoded")];
        let unsigned = plain(&headers, Some("a=1"), b"Body=Ahoy&From=%2B15550001111");
        let url = format!("https://{}/acme-dev/twilio/in?a=1", self.host);
        let by = SignBy {
            url: Some(&url),
            ..SignBy::new(provider("twilio").unwrap(), b"an-auth-token", Timestamp::now())
        };
        let event = self.arrived(&self.send("twilio/in", &sign(&by, &unsigned).unwrap()).await).await;
        assert_eq!((&event["verdict"], &event["url"]), (&json!("valid"), &json!(url)), "{event}");
    }

    async fn takes_the_largest(&self) {
        let body = vec![b'x'; 25 * 1024 * 1024];
        let event = self.arrived(&self.send("github", &self.github(&body)).await).await;
        assert_eq!(event["sha256"], hex::encode(Sha256::digest(&body)));
        assert_eq!(event["verdict"], "valid");
    }
}

pub(super) fn plain(headers: &[(&str, &str)], query: Option<&str>, body: &[u8]) -> Request {
    Request {
        method: "POST".to_owned(),
        path: String::new(),
        query: query.map(str::to_owned),
        version: HttpVersion::Http11,
        headers: HeaderLines::from_pairs(headers.iter().copied()).unwrap(),
        body: body.to_vec().into(),
    }
}

/// Sends bytes from this address, without TLS.
async fn past(from: Ipv4Addr, address: SocketAddr, bytes: &[u8]) -> Reply {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind((from, 0).into()).unwrap();
    let mut stream = socket.connect(address).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    parse_reply(&answer)
}

#[tokio::test(flavor = "multi_thread")]
async fn behind_nginx_a_relay_gets_what_was_sent_and_knows_from_whom() {
    let idle = Duration::from_secs(15);
    let short = |site: String| {
        assert!(site.contains("proxy_read_timeout 60s"), "{site}");
        site.replace("proxy_read_timeout 60s", &format!("proxy_read_timeout {}s", idle.as_secs()))
    };
    let Some(set) = set(async |port, relay| Proxy::nginx(port, relay, short).await).await else { return };
    let since = set.connected_since().await.unwrap();
    set.does_no_harm().await;
    set.is_not_lied_to().await;
    set.keeps_the_url().await;
    set.takes_the_largest().await;
    eventually("it is quiet for longer than the proxy waits", async || {
        let now = set.connected_since().await?;
        assert_eq!(now, since, "the heartbeats keep it: {}", set.proxy.said());
        (Timestamp::now().since(since) > idle * 2).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn behind_caddy_a_relay_gets_what_was_sent_and_knows_from_whom() {
    let Some(set) = set(Proxy::caddy).await else { return };
    set.does_no_harm().await;
    set.is_not_lied_to().await;
    set.keeps_the_url().await;
    set.takes_the_largest().await;
}
