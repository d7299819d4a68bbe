//! Processes whose output is collected while they run.

use std::{
    net::SocketAddr,
    process::Stdio,
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::Value;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    process::{Child, Command},
    task::JoinSet,
    time::Instant,
};

use crate::{
    command::address_in,
    wait::{LONG, PACE},
};

/// The result of a process that has ended.
#[derive(Clone, Debug)]
pub struct Ran {
    /// Its exit code, or -1 if a signal ended it.
    pub code: i32,
    /// What it wrote to standard output.
    pub out: Vec<u8>,
    /// What it wrote to standard error.
    pub err: String,
}

impl Ran {
    /// Runs a command to its end.
    pub async fn of(command: Command) -> Self {
        Process::start(command).end().await
    }

    /// Like [`of`](Self::of), with these bytes on standard input.
    pub async fn with_input(mut command: Command, input: &[u8]) -> Self {
        command.stdin(Stdio::piped());
        let mut process = Process::start(command);
        let mut stdin = process.child.stdin.take().expect("stdin is piped");
        let _closed = stdin.write_all(input).await; // it may end without reading everything
        drop(stdin);
        process.end().await
    }

    /// Panics, and prints the output, unless the exit code was `code`. Returns itself.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        let out = String::from_utf8_lossy(&self.out);
        assert_eq!(self.code, code, "standard output:\n{out}\nstandard error:\n{}", self.err);
        self
    }

    /// Returns standard output as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.out).into_owned()
    }

    /// Parses standard output as JSON, one value per line.
    #[track_caller]
    pub fn json(&self) -> Vec<Value> {
        let read =
            |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
        self.text().lines().map(read).collect()
    }
}

type Heard = Arc<Mutex<Vec<u8>>>;

/// A running process. It is killed when dropped.
pub struct Process {
    child: Child,
    out: Heard,
    err: Heard,
    ears: JoinSet<()>,
}

impl Process {
    /// Starts a command, and collects everything that it writes.
    pub fn start(mut command: Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?} doesn't start: {error}"));
        let (out, err) = (Heard::default(), Heard::default());
        let mut ears = JoinSet::new();
        ears.spawn(hear(child.stdout.take().expect("stdout is piped"), Arc::clone(&out)));
        ears.spawn(hear(child.stderr.take().expect("stderr is piped"), Arc::clone(&err)));
        Self { child, out, err, ears }
    }

    /// Returns what it has written to standard output so far.
    pub fn out(&self) -> String {
        text(&self.out)
    }

    /// Returns what it has written to standard error so far.
    pub fn err(&self) -> String {
        text(&self.err)
    }

    /// Waits until it has written a whole line with these words to either output. Once it has ended, an unfinished last
    /// line counts, too.
    pub async fn says(&mut self, words: &str) {
        let said = |process: &Self| {
            let whole = |text: &str| whole_lines(text).any(|line| line.contains(words));
            let ended = process.ears.is_empty();
            let (out, err) = (process.out(), process.err());
            whole(&out) || whole(&err) || ended && (out.contains(words) || err.contains(words))
        };
        self.shows(&format!("it says {words:?}"), |process| said(process).then_some(())).await;
    }

    /// Waits until its standard error names the capture address. Returns the address in the last such line.
    pub async fn capture(&mut self) -> SocketAddr {
        let said = |process: &Self| {
            let err = process.err();
            whole_lines(&err).rev().filter(|line| line.contains("capture")).find_map(address_in)
        };
        self.shows("it says where it captures", said).await
    }

    /// Waits until `look` returns something for what has been written. Panics if the process ends before that.
    async fn shows<T>(&mut self, what: &str, look: impl Fn(&Self) -> Option<T>) -> T {
        let late = Instant::now() + LONG;
        loop {
            let ended = self.child.try_wait().expect("its own child").is_some();
            if ended {
                self.heard_out().await;
            }
            if let Some(seen) = look(self) {
                return seen;
            }
            let gone = if ended { "it ended before" } else { "it never came to this:" };
            assert!(!ended && Instant::now() < late, "{gone} {what}:\n{}{}", self.out(), self.err());
            tokio::time::sleep(PACE).await;
        }
    }

    /// Returns its process id.
    pub fn id(&self) -> u32 {
        self.child.id().expect("it runs")
    }

    /// Sends it a signal, for example `INT`.
    pub async fn signal(&self, name: &str) {
        let id = self.id().to_string();
        let sent =
            Command::new("kill").args([&format!("-{name}"), &id]).status().await.expect("kill is there");
        assert!(sent.success());
    }

    /// Waits until it ends.
    pub async fn end(mut self) -> Ran {
        let ended = tokio::time::timeout(LONG, self.child.wait()).await;
        let status = ended.unwrap_or_else(|_| panic!("it doesn't end:\n{}{}", self.out(), self.err()));
        self.heard_out().await;
        let out = std::mem::take(&mut *self.out.lock().unwrap_or_else(PoisonError::into_inner));
        Ran { code: status.expect("its own child").code().unwrap_or(-1), out, err: self.err() }
    }

    /// Waits until its outputs are closed: a process that it started and left behind may hold them open.
    async fn heard_out(&mut self) {
        let ears = &mut self.ears;
        let closed = tokio::time::timeout(LONG, async { while ears.join_next().await.is_some() {} });
        if closed.await.is_err() {
            panic!("it ended, but something it started still writes:\n{}{}", self.out(), self.err());
        }
    }

    /// Asks it to end (SIGINT), and waits until it has ended.
    pub async fn stop(self) -> Ran {
        self.signal("INT").await;
        self.end().await
    }

    /// Kills it at once (SIGKILL).
    pub async fn kill(mut self) {
        self.child.kill().await.expect("its own child");
    }
}

async fn hear(mut stream: impl AsyncRead + Unpin, heard: Heard) {
    let mut some = vec![0; 64 * 1024];
    while let Ok(read @ 1..) = stream.read(&mut some).await {
        heard.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&some[..read]);
    }
}

/// Returns only complete lines, because what a pipe has brought so far may end in the middle of a port number.
fn whole_lines(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.rfind('\n').map_or("", |end| &text[..end]).lines()
}

fn text(heard: &Heard) -> String {
    String::from_utf8_lossy(&heard.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_line_is_not_read() {
        let read = |text: &str| whole_lines(text).rev().find_map(address_in).map(|address| address.port());
        assert_eq!(read("  capture  http://127.0.0.1:44"), None);
        assert_eq!(read("hookmitt\n  capture  http://127.0.0.1:4400\n  API"), Some(4400));
    }
}
