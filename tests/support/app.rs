//! A whole hookmitt in this process, on free ports and a temporary folder.

use std::{net::SocketAddr, path::PathBuf};

use bytes::Bytes;
use hookmitt_api::{Door, Host, HostOptions};
use hookmitt_engine::{Network, StoreChoice};
use http_body_util::BodyExt as _;
use serde_json::Value;
use tempfile::TempDir;

/// A running hookmitt. Its folder is removed when it is dropped.
pub struct App {
    /// Its data directory.
    pub folder: TempDir,
    host: Host,
    door: Door,
    sweep: Sweep,
}

/// Removes the folder a second time when dropped: a task that still ran during the first removal may have created its
/// socket there.
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
    /// Starts it on an empty folder.
    pub async fn start() -> Self {
        Self::start_on(tempfile::tempdir().expect("a temporary folder")).await
    }

    /// Starts it on a folder that may already contain an inbox.
    pub async fn start_on(folder: TempDir) -> Self {
        Self::start_with(folder, Network::default()).await
    }

    /// Starts it on an empty folder, with this network for calls to the providers' hosts.
    pub async fn start_reaching(network: Network) -> Self {
        Self::start_with(tempfile::tempdir().expect("a temporary folder"), network).await
    }

    /// Starts it on a folder that may already contain an inbox, with this network for calls to the providers' hosts.
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

    /// Returns the capture port's IPv4 address.
    pub fn capture(&self) -> SocketAddr {
        address(&self.host.capture_urls())
    }

    /// Returns the API port's IPv4 address.
    pub fn api(&self) -> SocketAddr {
        address(&self.host.api_urls())
    }

    /// Returns a URL for the browser, with a one-time code.
    pub fn open_url(&self) -> String {
        self.host.open_url().expect("an API port")
    }

    /// Returns the API's token.
    pub fn token(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("token")).expect("a token file")
    }

    /// Calls the API in-process. Returns the status and the JSON body, or null if the body is not JSON.
    pub async fn call(&self, method: &str, path: &str, body: Value) -> (u16, Value) {
        let body = if body.is_null() { Bytes::new() } else { Bytes::from(body.to_string()) };
        let request = http::Request::builder().method(method).uri(path).body(body).expect("a request");
        let answer = self.door.call(request).await.expect("an answer");
        let status = answer.status().as_u16();
        let bytes = answer.into_body().collect().await.expect("a body").to_bytes();
        (status, serde_json::from_slice(&bytes).unwrap_or(Value::Null))
    }

    /// Like [`call`](Self::call), but panics unless the status is 2xx.
    pub async fn ask(&self, method: &str, path: &str, body: Value) -> Value {
        let (status, answer) = self.call(method, path, body).await;
        assert!((200..300).contains(&status), "{method} {path}: {status} {answer}");
        answer
    }

    /// Returns one event as `show` prints it. `name` is anything that names an event, for example `#12`.
    pub async fn event(&self, name: &str) -> Value {
        self.ask("GET", &format!("/api/events/{}", name.replace('#', "%23")), Value::Null).await
    }

    /// Returns all events, newest first, but at most 1,000.
    pub async fn events(&self) -> Vec<Value> {
        let page = self.ask("GET", "/api/events?limit=1000", Value::Null).await;
        page["items"].as_array().expect("a list").clone()
    }

    /// Returns the exact bytes of an event's body.
    pub async fn body(&self, name: &str) -> Bytes {
        let path = format!("/api/events/{}/body", name.replace('#', "%23"));
        let request = http::Request::get(path).body(Bytes::new()).expect("a request");
        let answer = self.door.call(request).await.expect("an answer");
        assert_eq!(answer.status(), 200);
        answer.into_body().collect().await.expect("a body").to_bytes()
    }

    /// Stops it cleanly, and returns the folder.
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
