//! `hookmitt serve` as a process of its own: its output is kept, and its API is called over TCP.

use std::{
    ffi::OsStr,
    net::SocketAddr,
    path::Path,
    process::ExitStatus,
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::Value;
use tokio::{
    process::{Child, Command},
    task::JoinSet,
};

use crate::{
    Reply, Serving,
    command::{address_in, hookmitt},
    eventually, exchange, parse_reply,
};

const TOKEN: &str = "a-token-that-the-stories-know";

/// Returns the command `hookmitt serve` for a data directory, on free ports.
pub fn serve(data_dir: &Path) -> Command {
    serve_on(data_dir, 0)
}

/// Like [`serve`], with this capture port.
pub fn serve_on(data_dir: &Path, port: u16) -> Command {
    let mut command = hookmitt(data_dir);
    command.args(["serve", "--no-open", "--api-port", "0", "--port", &port.to_string()]);
    command.env("HOOKMITT_TOKEN", TOKEN);
    command
}

/// Returns a command in which `wrapper` (a program and its arguments) starts `command`, with that command's
/// environment. Stderr is piped.
pub fn under<S: AsRef<OsStr>>(wrapper: &[S], command: &Command) -> Command {
    let inner = command.as_std();
    let (program, arguments) = wrapper.split_first().expect("a program");
    let mut outer = Command::new(program);
    outer.args(arguments).arg(inner.get_program()).args(inner.get_args());
    for (name, value) in inner.get_envs() {
        match value {
            Some(value) => outer.env(name, value),
            None => outer.env_remove(name),
        };
    }
    outer
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .kill_on_drop(true);
    outer
}

/// A running `hookmitt serve`. It is killed when dropped.
pub struct Server {
    /// The process.
    pub process: Child,
    /// The capture port's IPv4 address.
    pub capture: SocketAddr,
    /// The API port's IPv4 address.
    pub api: SocketAddr,
    said: Arc<Mutex<String>>,
    _reading: JoinSet<()>,
}

impl Server {
    /// Serves from a data directory.
    pub async fn start(data_dir: &Path) -> Self {
        Self::spawn(serve(data_dir)).await
    }

    /// Starts a command made by [`serve`], and waits until it prints where it listens.
    pub async fn spawn(mut command: Command) -> Self {
        command.stdout(std::process::Stdio::null());
        let Serving { process, capture, mut said, mut lines } = Serving::spawn(command).await;
        let api = loop {
            let line = lines.next_line().await.expect("text").unwrap_or_else(|| panic!("it ended: {said}"));
            said.push_str(&line);
            said.push('\n');
            if let Some(api) = address_in(&line) {
                break api;
            }
        };
        let said = Arc::new(Mutex::new(said));
        let mut reading = JoinSet::new();
        let all = Arc::clone(&said);
        reading.spawn(async move {
            while let Ok(Some(line)) = lines.next_line().await {
                let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
                all.push_str(&line);
                all.push('\n');
            }
        });
        Self { process, capture, api, said, _reading: reading }
    }

    /// Returns its process id.
    pub fn pid(&self) -> u32 {
        self.process.id().expect("it runs")
    }

    /// Returns everything that it has printed on stderr so far.
    pub fn said(&self) -> String {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Calls the API with the token.
    pub async fn call(&self, method: &str, path: &str, body: &Value) -> Reply {
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let mut request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {TOKEN}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            self.api,
            body.len()
        )
        .into_bytes();
        request.extend_from_slice(&body);
        parse_reply(&exchange(self.api, &request).await)
    }

    /// Like [`call`](Self::call), but panics unless the status is 2xx. Returns the JSON body.
    pub async fn ask(&self, method: &str, path: &str, body: Value) -> Value {
        let reply = self.call(method, path, &body).await;
        assert!((200..300).contains(&reply.status), "{method} {path}: {reply:?}");
        reply.json()
    }

    /// Waits until it is the process that delivers.
    pub async fn delivers(&self) {
        eventually("this process delivers", async || {
            let stats = self.ask("GET", "/api/stats", Value::Null).await;
            (stats["delivers"] == true).then_some(())
        })
        .await;
    }

    /// Kills it at once, as a power cut would (SIGKILL).
    pub async fn kill(mut self) {
        self.process.kill().await.expect("it can be killed");
    }

    /// Waits until something else has ended it, at most a minute.
    pub async fn ended(mut self) -> ExitStatus {
        let ended = tokio::time::timeout(std::time::Duration::from_secs(60), self.process.wait()).await;
        ended.expect("it ends within a minute").expect("a status")
    }
}
