//! A whole hookmitt with its relay, a teammate, and secrets planted in each. All their output is kept.

use std::{
    ffi::OsStr,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hookmitt_stories::{
    Planted, Process, Ran, RelayProcess, Watcher, eventually, exchange, hookmitt, parse_reply,
};
use serde_json::Value;
use tempfile::TempDir;
use tokio::process::Command;

use super::super::listen::folder;

pub(super) const WEBHOOK: &str = "planted-webhook \"secret\"/+&%\\ 1";
pub(super) const OF_ENV: &str = "planted-environment/+&% \"secret\" 2";
pub(super) const API_KEY: &str = "planted-api-key/+&%secret4";
pub(super) const LENT: &str = "planted-lent/+&% \"secret\" 3";
pub(super) const WRONG_TOKEN: &str = "hmr_planted-Wrong-Relay-Token-4";
pub(super) const WRONG_INVITE: &str = "hookmitt-invite:planted-Wrong-Invite-5";
pub(super) const WRONG_BEARER: &str = "planted-wrong-api-token-6";
pub(super) const IN_JSON: &str = "planted-in-bad-json/+& 7";
pub(super) const ARGUMENT: &str = "planted-Argument=8";
pub(super) const DAMAGED: &str = "planted-in-a-damaged-vault-9";
pub(super) const BAD_KEY: &str = "UGxhbnRlZFByaXZhdGVLZXkxMFBsYW50ZWRQcml2YXRlS2V5MTA";

/// Everything that runs, and everything that it printed or answered.
pub(super) struct Scene {
    pub(super) planted: Planted,
    pub(super) data: TempDir,
    pub(super) mate: TempDir,
    pub(super) relay: RelayProcess,
    pub(super) relay_dir: TempDir,
    pub(super) relay_token: String,
    pub(super) serve: Process,
    pub(super) capture: SocketAddr,
    pub(super) api: SocketAddr,
    pub(super) bearer: String,
    watcher: Watcher,
    said: Vec<(String, Vec<u8>)>,
}

/// Returns the command with everything logged, and with secrets in its environment.
pub(super) fn telling_all(data_dir: &Path, arguments: &[impl AsRef<OsStr>]) -> Command {
    let mut command = hookmitt(data_dir);
    command.args(arguments).env("HOOKMITT_LOG", "trace").env("PLANTED", OF_ENV).env("LENT", LENT);
    command.env_remove("HOOKMITT_RELAY_TOKEN").env_remove("DBUS_SESSION_BUS_ADDRESS");
    command
}

impl Scene {
    pub(super) async fn set() -> Self {
        let watcher = Watcher::start();
        let mut planted = Planted::default();
        for (name, value) in [
            ("the webhook secret", WEBHOOK),
            ("the secret of the environment", OF_ENV),
            ("the lent secret", LENT),
            ("the API key", API_KEY),
            ("a token that the relay refuses", WRONG_TOKEN),
            ("a damaged invitation", WRONG_INVITE),
            ("a wrong API token", WRONG_BEARER),
            ("a secret at the wrong place", IN_JSON),
            ("a secret in a damaged vault", DAMAGED),
            ("a private key in a wrong file", BAD_KEY),
        ] {
            planted.plant(name, value.as_bytes());
        }
        let (data, mate, relay_dir) = (folder(), folder(), folder());
        let made = Ran::of(telling_all(relay_dir.path(), &["relay", "token", "create"])).await.exits(0);
        let relay_token = made.text().trim().to_owned();
        planted.plant("the relay's token", relay_token.as_bytes());
        let mut relay = RelayProcess::command(relay_dir.path(), "127.0.0.1:0", &["--log-json"]);
        let relay = RelayProcess::spawn({
            relay.env("HOOKMITT_LOG", "trace");
            relay
        })
        .await;
        let flags = ["serve", "--no-open", "--json", "--port", "0", "--api-port", "0"];
        let mut serve = Process::start(telling_all(data.path(), &flags));
        let capture = serve.capture().await;
        let api = api_of(&mut serve).await;
        let bearer = std::fs::read_to_string(data.path().join("token")).expect("a token");
        planted.plant("the API's token", bearer.as_bytes());
        let said = vec![("relay token create".to_owned(), made.err.into_bytes())];
        Self {
            planted,
            data,
            mate,
            relay,
            relay_dir,
            relay_token,
            serve,
            capture,
            api,
            bearer,
            watcher,
            said,
        }
    }

    /// Runs a command with this standard input, and records its output in `said`.
    pub(super) async fn runs(&mut self, arguments: &[&str], input: &str) -> Ran {
        let command = telling_all(self.data.path(), arguments);
        self.runs_as(command, &arguments.join(" "), input).await
    }

    pub(super) async fn runs_as(&mut self, command: Command, name: &str, input: &str) -> Ran {
        let ran = Ran::with_input(command, input.as_bytes()).await;
        self.hears(format!("{name}: standard output"), ran.out.clone());
        self.hears(format!("{name}: standard error"), ran.err.clone().into_bytes());
        ran
    }

    /// Like [`runs`](Self::runs), for a command that prints a secret on request: only its messages are kept.
    pub(super) async fn asks_for(&mut self, arguments: &[&str]) -> String {
        let ran = Ran::of(telling_all(self.data.path(), arguments)).await.exits(0);
        let text = ran.text().trim().to_owned();
        self.hears(format!("{}: standard error", arguments.join(" ")), ran.err.into_bytes());
        text
    }

    /// Calls the API, and records its answer in `said`.
    pub(super) async fn calls(&mut self, bearer: &str, method: &str, path: &str, body: &[u8]) -> u16 {
        let mut asked = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {bearer}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            self.api,
            body.len()
        )
        .into_bytes();
        asked.extend_from_slice(body);
        let answer = exchange(self.api, &asked).await;
        let status = parse_reply(&answer).status;
        self.hears(format!("{method} {path} {}", String::from_utf8_lossy(body)), answer);
        status
    }

    pub(super) fn hears(&mut self, name: String, bytes: Vec<u8>) {
        self.said.push((name, bytes));
    }

    /// Registers the tunnel's keys, read from the vault, as planted secrets.
    pub(super) fn plant_kept_keys(&mut self) {
        let tunnels = read_vault(&self.data.path().join("tunnels/secrets.json"));
        for keys in tunnels {
            assert_eq!((keys[0], keys[33]), (2, 1), "version 2: a device's key, and one of the tunnel's");
            self.planted.plant("a device's key", &keys[1..33]);
            self.planted.plant("the tunnel's key", &keys[34..66]);
        }
        let pem = read_vault(&self.data.path().join("secrets.json"))
            .into_iter()
            .find(|value| value.starts_with(b"-----BEGIN PRIVATE KEY-----"));
        let pem = String::from_utf8(pem.expect("a test key")).expect("PEM");
        let line = pem.lines().nth(1).expect("a line of the key");
        self.planted.plant("the test key", line.as_bytes());
        self.planted.plant("the test key's bytes", &STANDARD.decode(line).expect("base64")[16..]);
    }

    /// Stops everything, and searches all output: messages, files, logs, the process list.
    pub(super) async fn search_all(mut self) {
        let serve = self.serve.stop().await;
        self.said.push(("serve: standard output".to_owned(), serve.out));
        self.said.push(("serve: its log".to_owned(), serve.err.into_bytes()));
        let relay = self.relay.process.stop().await;
        self.said.push(("relay: standard output".to_owned(), relay.out));
        self.said.push(("relay: its log".to_owned(), relay.err.into_bytes()));
        self.said.push(("the process list".to_owned(), self.watcher.seen().into_bytes()));
        for dir in [&self.data, &self.mate, &self.relay_dir] {
            for path in files(dir.path()) {
                let bytes = std::fs::read(&path).unwrap_or_default();
                self.said.push((path.display().to_string(), bytes));
            }
        }
        let mut leaks = Vec::new();
        for (name, bytes) in &self.said {
            leaks.extend(self.planted.found_in(bytes).iter().map(|secret| format!("{secret} is in {name}")));
        }
        assert!(leaks.is_empty(), "{}", leaks.join("\n"));
    }
}

async fn api_of(serve: &mut Process) -> SocketAddr {
    eventually("it says where its API is", async || {
        let err = serve.err();
        let line = err.lines().find(|line| line.trim_start().starts_with("API "))?.to_owned();
        line.split_whitespace()
            .find_map(|word| word.strip_prefix("http://127.0.0.1:"))
            .and_then(|port| port.parse::<u16>().ok().map(|port| SocketAddr::from(([127, 0, 0, 1], port))))
    })
    .await
}

fn read_vault(file: &Path) -> Vec<Vec<u8>> {
    let kept: Value = serde_json::from_slice(&std::fs::read(file).expect("a vault")).expect("JSON");
    let values =
        kept.as_array().expect("a list").iter().map(|one| one["value_base64"].as_str().expect("a value"));
    values.map(|value| STANDARD.decode(value).expect("base64")).collect()
}

/// Returns every file except those that store secrets.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        let keeps_secrets = path
            .file_name()
            .is_some_and(|name| name == "secrets.json" || name == "api-keys.json" || name == "token");
        if path.is_dir() {
            all.extend(files(&path));
        } else if path.is_file() && !keeps_secrets {
            all.push(path);
        }
    }
    all
}
