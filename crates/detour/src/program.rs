//! A running program: the URL that it names, and the state of its connection.

use std::{collections::VecDeque, path::Path, time::Duration};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader},
    sync::mpsc,
    task::JoinSet,
    time::timeout,
};

use crate::{DetourError, Quick, guard::Guarded, quick::Word};

/// How long a program may take to name its URL.
const NAMED_WITHIN: Duration = Duration::from_secs(30);

/// How long a program may take to end when it is asked to.
const GRACE: Duration = Duration::from_secs(2);

/// How many of the last lines of a program's output are kept, to be shown when it ends.
const LAST_WORDS: usize = 4;

/// Longer lines, in bytes, are read in pieces, because no line of a log is that long.
const LONGEST: u64 = 64 * 1024;

/// A running program. It ends when this value is dropped.
#[derive(Debug)]
pub struct QuickTunnel {
    which: Quick,
    guarded: Guarded,
    lines: mpsc::Receiver<String>,
    last_words: VecDeque<String>,
    url: String,
    _readers: JoinSet<()>,
}

/// A change in a program's connection.
#[derive(Clone, Debug)]
pub enum Turn {
    /// The program is connected, at [`url`](QuickTunnel::url).
    Up,
    /// The program has lost its connection, and tries again by itself.
    Down(DetourError),
    /// The program has ended.
    Over(DetourError),
}

impl QuickTunnel {
    /// Starts the program for a capture port on this machine, and waits for its public URL.
    ///
    /// # Errors
    /// Returns a [`DetourError`] if the program isn't installed, can't be started, ends, or names no URL in time.
    pub async fn start(which: Quick, port: u16) -> Result<Self, DetourError> {
        Self::start_at(which, &which.find()?, port).await
    }

    /// Like [`start`](Self::start), with the path of the program.
    ///
    /// # Errors
    /// Like [`start`](Self::start).
    pub async fn start_at(which: Quick, path: &Path, port: u16) -> Result<Self, DetourError> {
        if !path.exists() {
            return Err(DetourError::Missing(which));
        }
        let mut guarded = Guarded::start(path, &which.arguments(port))
            .map_err(|error| DetourError::NotStarted { which, why: error.to_string() })?;
        let (tell, lines) = mpsc::channel(64);
        let mut readers = JoinSet::new();
        read(&mut readers, guarded.child.stdout.take(), tell.clone());
        read(&mut readers, guarded.child.stderr.take(), tell);
        let (last_words, url) = (VecDeque::new(), String::new());
        let mut tunnel = Self { which, guarded, lines, last_words, url, _readers: readers };
        match timeout(NAMED_WITHIN, tunnel.named()).await {
            Ok(Some(url)) => tunnel.url = url,
            Ok(None) => return Err(tunnel.ended()),
            Err(_) => {
                let (seconds, said) = (NAMED_WITHIN.as_secs(), tunnel.said());
                tunnel.stop().await;
                return Err(DetourError::NoUrl { which, seconds, said });
            }
        }
        Ok(tunnel)
    }

    /// Returns the public URL, without a slash at its end.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Waits until the log reports a change of the connection or the URL, or until the program ends. The future may be
    /// dropped without losing a change.
    pub async fn turn(&mut self) -> Turn {
        while let Some(line) = self.lines.recv().await {
            let word = self.which.word_in(&line);
            self.keep(line);
            match word {
                Some(Word::Named(url)) => {
                    self.url = url;
                    return Turn::Up;
                }
                Some(Word::Up) => return Turn::Up,
                Some(Word::Down) => {
                    return Turn::Down(DetourError::Cut { which: self.which, said: self.last_word() });
                }
                None => {}
            }
        }
        Turn::Over(self.ended())
    }

    /// Waits until the program ends by itself, and returns why.
    pub async fn over(&mut self) -> DetourError {
        loop {
            if let Turn::Over(why) = self.turn().await {
                return why;
            }
        }
    }

    /// Ends the program: asks it first, and kills it if that doesn't help.
    pub async fn stop(mut self) {
        self.guarded.dismiss();
        if cfg!(unix) && timeout(GRACE, self.guarded.child.wait()).await.is_ok() {
            return;
        }
        if let Err(error) = self.guarded.kill().await {
            tracing::warn!(program = self.which.program(), %error, "could not be stopped");
        }
    }

    async fn named(&mut self) -> Option<String> {
        while let Some(line) = self.lines.recv().await {
            if let Some(Word::Named(url)) = self.which.word_in(&line) {
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
        self.last_words.push_back(line.chars().take(200).collect());
    }

    fn last_word(&self) -> String {
        self.last_words.back().cloned().unwrap_or_default()
    }

    fn said(&self) -> String {
        let words: Vec<_> = self.last_words.iter().map(String::as_str).collect();
        if words.is_empty() { "it printed nothing".to_owned() } else { words.join(" / ") }
    }

    fn ended(&self) -> DetourError {
        DetourError::Ended { which: self.which, said: self.said() }
    }
}

/// Reads lines on a task that ends with the program's output.
fn read(
    readers: &mut JoinSet<()>,
    output: Option<impl AsyncRead + Unpin + Send + 'static>,
    tell: mpsc::Sender<String>,
) {
    let Some(output) = output else { return };
    readers.spawn(async move {
        let mut output = BufReader::new(output);
        let mut line = Vec::new();
        loop {
            line.clear();
            match (&mut output).take(LONGEST).read_until(b'\n', &mut line).await {
                Ok(1..) => {}
                _ => return,
            }
            if tell.send(String::from_utf8_lossy(line.trim_ascii_end()).into_owned()).await.is_err() {
                return;
            }
        }
    });
}
