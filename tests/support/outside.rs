//! Public URLs without a relay: a smee channel, and programs that open public URLs.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    process::Command,
    sync::watch,
    task::JoinSet,
};

use crate::{Reply, eventually, exchange, parse_reply};

/// A server that sends what smee.io sends, to every connected listener.
pub struct SmeeChannel {
    address: SocketAddr,
    open: Arc<Mutex<Vec<TcpStream>>>,
    answers: watch::Sender<bool>,
    _serving: JoinSet<()>,
}

impl SmeeChannel {
    /// Opens a channel.
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (open, answers) = (Arc::<Mutex<Vec<TcpStream>>>::default(), watch::Sender::new(true));
        let mut serving = JoinSet::new();
        serving.spawn(serve(listener, Arc::clone(&open), answers.subscribe()));
        Self { address, open, answers, _serving: serving }
    }

    /// Returns the channel's URL.
    pub fn url(&self) -> String {
        format!("http://{}/AbC123", self.address)
    }

    /// Waits until at least one listener is connected.
    pub async fn is_heard(&self) {
        eventually("somebody listens to the channel", async || (!self.lock().is_empty()).then_some(())).await;
    }

    /// Sends the message that the channel makes of a request: one JSON object with the header lines, `body`, `query`
    /// and `timestamp`.
    pub async fn pass_on(&self, headers: &[(&str, &str)], body: &Value) {
        let now = hookmitt_event::Timestamp::now().as_micros() / 1_000;
        let mut message = json!({
            "host": "smee.io", "x-forwarded-for": "203.0.113.9", "x-forwarded-proto": "https",
            "content-type": "application/json", "content-length": "1234", "connection": "close",
            "body": body, "query": {}, "timestamp": now,
        });
        for (name, value) in headers {
            message[name.to_ascii_lowercase()] = json!(value);
        }
        self.say(&format!("id: 7\ndata: {message}\n\n")).await;
    }

    /// Sends a keep-alive message, as smee.io does every 30 s.
    pub async fn ping(&self) {
        self.say("event: ping\ndata: {}\n\n").await;
    }

    /// Waits for a listener, then writes this text to every listener.
    pub async fn say(&self, text: &str) {
        self.is_heard().await;
        let listeners = std::mem::take(&mut *self.lock());
        for mut stream in listeners {
            if stream.write_all(text.as_bytes()).await.is_ok() {
                self.lock().push(stream);
            }
        }
    }

    /// With `true`, closes all connections and answers 502 from now on. With `false`, serves again.
    pub fn breaks(&self, is_broken: bool) {
        self.answers.send_replace(!is_broken);
        if is_broken {
            self.lock().clear();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<TcpStream>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn serve(listener: TcpListener, open: Arc<Mutex<Vec<TcpStream>>>, answers: watch::Receiver<bool>) {
    const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nCache-Control: no-cache\r\nConnection: keep-alive\r\n\r\nevent: ready\ndata: {}\n\n";
    const NEW: &str = "HTTP/1.1 307 Temporary Redirect\r\nLocation: /AbC123\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    while let Ok((mut stream, _)) = listener.accept().await {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            match stream.read_u8().await {
                Ok(byte) => head.push(byte),
                Err(_) => break,
            }
        }
        let is_well = *answers.borrow() && head.starts_with(b"GET /AbC123 ");
        let answer = match () {
            () if is_well => HEAD,
            () if head.starts_with(b"GET /new ") => NEW,
            () => "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n",
        };
        if stream.write_all(answer.as_bytes()).await.is_ok() && is_well {
            open.lock().unwrap_or_else(PoisonError::into_inner).push(stream);
        }
    }
}

/// Programs that play `cloudflared` and `ngrok`, installed in a temporary folder.
pub struct Programs {
    folder: TempDir,
    player: PathBuf,
}

/// A program that has started, as it describes itself.
#[derive(Clone, Debug)]
pub struct QuickUrl {
    /// Its process.
    pub pid: u32,
    /// The local address that stands for the public URL.
    pub edge: SocketAddr,
    /// The port to which it was told to forward.
    pub port: u16,
    /// The public URL that it printed.
    pub url: String,
}

impl Programs {
    /// Installs programs under these names; `player` is the binary that plays all of them.
    pub fn install(player: &Path, names: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let programs = Self { folder, player: player.to_owned() };
        std::fs::create_dir(programs.path()).expect("a folder");
        for name in names {
            programs.reinstall(name);
        }
        programs
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("bin")
    }

    /// Sets a command's `PATH` to these programs alone.
    pub fn on_path_of(&self, command: &mut Command) {
        command.env("PATH", self.path()).env("QUICK_URL_DIR", self.folder.path());
    }

    /// Installs one program.
    pub fn reinstall(&self, name: &str) {
        std::os::unix::fs::symlink(&self.player, self.path().join(name)).expect("a link");
    }

    /// Uninstalls one program.
    pub fn uninstall(&self, name: &str) {
        std::fs::remove_file(self.path().join(name)).expect("it was there");
    }

    /// Returns the programs of this name that have started: for each local port, the one that started last.
    pub fn running(&self, name: &str) -> Vec<QuickUrl> {
        let files = std::fs::read_dir(self.folder.path()).expect("the folder").flatten();
        let of_it = files.filter(|file| file.file_name().to_string_lossy().starts_with(&format!("{name}-")));
        let read = |path: PathBuf| {
            let note: Value = serde_json::from_slice(&std::fs::read(path).ok()?).ok()?;
            Some(QuickUrl {
                pid: u32::try_from(note["pid"].as_u64()?).ok()?,
                edge: note["edge"].as_str()?.parse().ok()?,
                port: u16::try_from(note["port"].as_u64()?).ok()?,
                url: note["url"].as_str()?.to_owned(),
            })
        };
        of_it.filter_map(|file| read(file.path())).collect()
    }

    /// Waits until the program that printed this URL has started, and returns it.
    pub async fn of_url(&self, name: &str, public_url: &str) -> QuickUrl {
        let what = format!("{name} runs at {public_url}");
        eventually(&what, async || {
            self.running(name).into_iter().find(|run| public_url.starts_with(&run.url))
        })
        .await
    }
}

impl QuickUrl {
    /// Posts a request to the public URL, as a sender on the internet does.
    pub async fn post(&self, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        let mut request = format!("POST {path} HTTP/1.1\r\nConnection: close\r\n").into_bytes();
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            let host = self.url.trim_start_matches("https://");
            request.extend_from_slice(format!("Host: {host}\r\n").as_bytes());
        }
        for (name, value) in headers {
            request.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        }
        request.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
        request.extend_from_slice(body);
        parse_reply(&exchange(self.edge, &request).await)
    }

    /// Makes the program write a line to its log.
    pub async fn says(&self, line: &str) {
        assert_eq!(exchange(self.edge, format!("say {line}\n").as_bytes()).await, b"said");
    }

    /// Kills it at once (SIGKILL).
    pub async fn dies(&self) {
        let killed = Command::new("kill").args(["-9", &self.pid.to_string()]).status().await.expect("kill");
        assert!(killed.success());
    }

    /// Waits until its process is gone.
    pub async fn is_gone(&self) {
        let gone = format!("the process {} is gone", self.pid);
        eventually(&gone, async || {
            let Ok(stat) = std::fs::read_to_string(format!("/proc/{}/stat", self.pid)) else {
                return Some(());
            };
            // A zombie counts as gone, because there may be nobody to reap it.
            stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z')).then_some(())
        })
        .await;
    }
}
