//! Starts an installed `cloudflared` or `ngrok` and picks up the public URL that it names.

use std::{collections::VecDeque, path::Path, process::Stdio, time::Duration};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, BufReader},
    process::{Child, Command},
    sync::mpsc,
    task::JoinSet,
    time::timeout,
};
use url::Url;

use crate::DetourError;

/// How long a program may take to name its URL.
const NAMED_WITHIN: Duration = Duration::from_secs(30);

/// How long a program may take to end when it is asked to.
const GRACE: Duration = Duration::from_secs(3);

/// So many lines are kept of what a program says, for when it ends.
const LAST_WORDS: usize = 4;

/// A program that makes quick public URLs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quick {
    /// Cloudflare's quick tunnels: a new name at each start, 200 requests at once at most.
    Cloudflared,
    /// ngrok's agent: it needs an account's token.
    Ngrok,
}

impl Quick {
    /// The program's name.
    pub const fn program(self) -> &'static str {
        match self {
            Self::Cloudflared => "cloudflared",
            Self::Ngrok => "ngrok",
        }
    }

    fn arguments(self, port: u16) -> Vec<String> {
        let words: &[&str] = match self {
            Self::Cloudflared => &["tunnel", "--no-autoupdate", "--url"],
            Self::Ngrok => &["http", "--log", "stdout", "--log-format", "json"],
        };
        let here = format!("http://127.0.0.1:{port}");
        words.iter().map(|word| (*word).to_owned()).chain([here]).collect()
    }

    /// The public URL in a line of the program's log, without a slash at its end.
    fn url_in(self, line: &str) -> Option<String> {
        match self {
            Self::Cloudflared => line.split_whitespace().find_map(|word| public(word, ".trycloudflare.com")),
            Self::Ngrok => {
                let line: serde_json::Value = serde_json::from_str(line).ok()?;
                let is_start = line["msg"].as_str() == Some("started tunnel");
                line["url"].as_str().filter(|_| is_start).and_then(|url| public(url, ""))
            }
        }
    }
}

fn public(word: &str, ending: &str) -> Option<String> {
    let url = Url::parse(word).ok()?;
    let host = url.host_str()?;
    // Cloudflare's own API is named in its errors.
    let fits = url.scheme() == "https" && host.ends_with(ending) && host != "api.trycloudflare.com";
    fits.then(|| url.origin().ascii_serialization())
}

/// A program that runs, and ends with this.
#[derive(Debug)]
pub struct QuickTunnel {
    which: Quick,
    child: Child,
    lines: mpsc::Receiver<String>,
    last_words: VecDeque<String>,
    url: String,
    _readers: JoinSet<()>,
}

impl QuickTunnel {
    /// Starts the program for the capture port on this machine, and waits for its public URL.
    ///
    /// # Errors
    /// [`DetourError`]: it isn't installed, it ended, or it named no URL in time.
    pub async fn start(which: Quick, port: u16) -> Result<Self, DetourError> {
        Self::start_at(which, Path::new(which.program()), port).await
    }

    /// As [`start`](Self::start), with the program at a path.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    pub async fn start_at(which: Quick, path: &Path, port: u16) -> Result<Self, DetourError> {
        let program = which.program();
        let mut child = Command::new(path)
            .args(which.arguments(port))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| match error.kind() {
                std::io::ErrorKind::NotFound => DetourError::Missing(program),
                _ => DetourError::NotStarted { program, why: error.to_string() },
            })?;
        let (tell, lines) = mpsc::channel(64);
        let mut readers = JoinSet::new();
        read(&mut readers, child.stdout.take(), tell.clone());
        read(&mut readers, child.stderr.take(), tell);
        let (last_words, url) = (VecDeque::new(), String::new());
        let mut tunnel = Self { which, child, lines, last_words, url, _readers: readers };
        match timeout(NAMED_WITHIN, tunnel.named()).await {
            Ok(Some(url)) => tunnel.url = url,
            Ok(None) => return Err(tunnel.ended()),
            Err(_) => {
                let (seconds, said) = (NAMED_WITHIN.as_secs(), tunnel.said());
                return Err(DetourError::NoUrl { program, seconds, said });
            }
        }
        Ok(tunnel)
    }

    /// The public URL, without a slash at its end.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Waits until the program ends by itself, and says why.
    pub async fn over(&mut self) -> DetourError {
        while let Some(line) = self.lines.recv().await {
            self.keep(line);
        }
        self.ended()
    }

    /// Ends the program.
    pub async fn stop(mut self) {
        #[cfg(unix)]
        if let Some(id) = self.child.id().and_then(|id| rustix::process::Pid::from_raw(id.cast_signed())) {
            let _gone = rustix::process::kill_process(id, rustix::process::Signal::TERM);
            if timeout(GRACE, self.child.wait()).await.is_ok() {
                return;
            }
        }
        if let Err(error) = self.child.kill().await {
            tracing::warn!(program = self.which.program(), %error, "could not be ended");
        }
    }

    async fn named(&mut self) -> Option<String> {
        while let Some(line) = self.lines.recv().await {
            if let Some(url) = self.which.url_in(&line) {
                return Some(url);
            }
            self.keep(line);
        }
        None
    }

    fn keep(&mut self, line: String) {
        tracing::debug!(program = self.which.program(), line, "says");
        if self.last_words.len() == LAST_WORDS {
            self.last_words.pop_front();
        }
        self.last_words.push_back(line);
    }

    fn said(&self) -> String {
        let words: Vec<_> =
            self.last_words.iter().map(|line| line.chars().take(200).collect::<String>()).collect();
        if words.is_empty() { "it said nothing".to_owned() } else { words.join(" / ") }
    }

    fn ended(&self) -> DetourError {
        DetourError::Ended { program: self.which.program(), said: self.said() }
    }
}

/// Reads lines on a task that ends with the program.
fn read(
    readers: &mut JoinSet<()>,
    output: Option<impl AsyncRead + Unpin + Send + 'static>,
    tell: mpsc::Sender<String>,
) {
    let Some(output) = output else { return };
    readers.spawn(async move {
        let mut lines = BufReader::new(output).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            if tell.send(line).await.is_err() {
                return;
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_is_picked_out_of_what_the_program_says() {
        let line = "2026-11-21T09:00:00Z INF |  https://four-random-plain-words.trycloudflare.com     |";
        assert_eq!(
            Quick::Cloudflared.url_in(line).as_deref(),
            Some("https://four-random-plain-words.trycloudflare.com")
        );
        let line = r#"{"lvl":"info","msg":"started tunnel","name":"x","url":"https://ab12.ngrok-free.app"}"#;
        assert_eq!(Quick::Ngrok.url_in(line).as_deref(), Some("https://ab12.ngrok-free.app"));
    }

    #[test]
    fn other_urls_are_not_taken_for_it() {
        for line in [
            "see https://developers.cloudflare.com/cloudflare-one/",
            "http://x.trycloudflare.com",
            "failed to request https://api.trycloudflare.com/tunnel",
        ] {
            assert_eq!(Quick::Cloudflared.url_in(line), None, "{line}");
        }
        for line in ["https://a.ngrok.app", r#"{"msg":"starting web service","url":"https://a.b"}"#] {
            assert_eq!(Quick::Ngrok.url_in(line), None, "{line}");
        }
    }
}
