//! A whole hookmitt in this process, on free ports and a folder of its own.

use std::{net::SocketAddr, path::PathBuf};

use bytes::Bytes;
use hookmitt_api::{Door, Host, HostOptions};
use hookmitt_engine::{Network, StoreChoice};
use http_body_util::BodyExt as _;
use serde_json::Value;
use tempfile::TempDir;

/// A running hookmitt; its folder goes with it.
pub struct App {
    /// Its data directory.
    pub folder: TempDir,
    host: Host,
    door: Door,
    sweep: Sweep,
}

/// Removes a folder for good: what still ran when it was first removed may just have made its socket there.
struct Sweep(Option<PathBuf>);

impl Drop for Sweep {
    fn drop(&mut self) {
        let Some(folder) = self.0.take() else { return };
        for _ in 0..100 {
            let _again = std::fs::remove_dir_all(&folder);
            if !folder.exists() {
                return;
            }
        }
    }
}

impl App {
    /// Starts one on an empty folder.
    pub async fn start() -> Self {
        Self::start_on(tempfile::tempdir().expect("a temporary folder")).await
    }

    /// Starts one on a folder that may hold an inbox already.
    pub async fn start_on(folder: TempDir) -> Self {
        Self::start_with(folder, Network::default()).await
    }

    /// Starts one that reaches the providers' hosts there.
    pub async fn start_reaching(network: Network) -> Self {
        Self::start_with(tempfile::tempdir().expect("a temporary folder"), network).await
    }

    /// Starts one on a folder that may hold an inbox already, which reaches the providers' hosts there.
    pub async fn start_with(folder: TempDir, network: Network) -> Self {
        let options = HostOptions {
            data_dir: folder.path().to_owned(),
            api_port: Some(0),
            pages: Some(hookmitt_web::router()),
            secrets: Some(StoreChoice::File),
            network,
            ..HostOptions::default()
        };
        let host = Host::start(options).await.expect("hookmitt starts");
        let door = host.door();
        let sweep = Sweep(Some(folder.path().to_owned()));
        Self { folder, host, door, sweep }
    }

    /// The capture port's IPv4 address.
    pub fn capture(&self) -> SocketAddr {
        address(&self.host.capture_urls())
    }

    /// The API port's IPv4 address.
    pub fn api(&self) -> SocketAddr {
        address(&self.host.api_urls())
    }

    /// A URL for the browser, with a code that works once.
    pub fn open_url(&self) -> String {
        self.host.open_url().expect("an API port")
    }

    /// The API's token.
    pub fn token(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("token")).expect("a token file")
    }

    /// Calls the API in-process. Answers the status and the JSON, null for an empty body.
    pub async fn call(&self, method: &str, path: &str, body: Value) -> (u16, Value) {
        let body = if body.is_null() { Bytes::new() } else { Bytes::from(body.to_string()) };
        let request = http::Request::builder().method(method).uri(path).body(body).expect("a request");
        let answer = self.door.call(request).await.expect("an answer");
        let status = answer.status().as_u16();
        let bytes = answer.into_body().collect().await.expect("a body").to_bytes();
        (status, serde_json::from_slice(&bytes).unwrap_or(Value::Null))
    }

    /// As [`call`](Self::call), which must answer 2xx.
    pub async fn ask(&self, method: &str, path: &str, body: Value) -> Value {
        let (status, answer) = self.call(method, path, body).await;
        assert!((200..300).contains(&status), "{method} {path}: {status} {answer}");
        answer
    }

    /// One event as `show` prints it, by anything that names it.
    pub async fn event(&self, name: &str) -> Value {
        self.ask("GET", &format!("/api/events/{}", name.replace('#', "%23")), Value::Null).await
    }

    /// Every event, newest first.
    pub async fn events(&self) -> Vec<Value> {
        let page = self.ask("GET", "/api/events?limit=1000", Value::Null).await;
        page["items"].as_array().expect("a list").clone()
    }

    /// The exact bytes of an event's body.
    pub async fn body(&self, name: &str) -> Bytes {
        let path = format!("/api/events/{}/body", name.replace('#', "%23"));
        let request = http::Request::get(path).body(Bytes::new()).expect("a request");
        let answer = self.door.call(request).await.expect("an answer");
        assert_eq!(answer.status(), 200);
        answer.into_body().collect().await.expect("a body").to_bytes()
    }

    /// Stops it cleanly; the folder stays.
    pub async fn stop(mut self) -> TempDir {
        self.sweep.0 = None;
        self.host.stop().await;
        self.folder
    }
}

fn address(urls: &[String]) -> SocketAddr {
    let url = urls.iter().find(|url| url.contains("127.0.0.1")).expect("an IPv4 address");
    url.trim_start_matches("http://").parse().expect("an address")
}
