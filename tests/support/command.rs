//! The `hookmitt` binary as a process of its own.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Stdio,
};

use tokio::{
    io::{AsyncBufReadExt as _, BufReader, Lines},
    process::{Child, ChildStderr, Command},
};

/// Returns a command that runs the `hookmitt` binary: the one that `HOOKMITT_BIN` names, otherwise the one in the
/// target folder that this test binary is in. The command doesn't use the keychain or the user's folders, and its
/// process is killed when dropped.
pub fn hookmitt(data_dir: &Path) -> Command {
    let mut command = Command::new(binary());
    command
        .env("HOOKMITT_DATA_DIR", data_dir)
        .env("HOOKMITT_KEYRING", "off")
        .env_remove("HOOKMITT_TOKEN")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}

fn binary() -> PathBuf {
    if let Some(path) = std::env::var_os("HOOKMITT_BIN") {
        return path.into();
    }
    let here = std::env::current_exe().expect("this binary's path");
    let folder = here.parent().and_then(Path::parent).expect("a target folder");
    let path = folder.join(format!("hookmitt{}", std::env::consts::EXE_SUFFIX));
    assert!(path.exists(), "{} is missing: run `cargo build -p hookmitt-cli` or `make test`", path.display());
    path
}

/// A running `hookmitt serve`.
pub struct Serving {
    /// The process.
    pub process: Child,
    /// The capture port's IPv4 address.
    pub capture: SocketAddr,
    /// What it has printed on stderr so far.
    pub said: String,
    /// The lines that it prints on stderr from now on.
    pub lines: Lines<BufReader<ChildStderr>>,
}

impl Serving {
    /// Starts `hookmitt serve` on free ports, and waits until it prints its capture address.
    pub async fn start(data_dir: &Path) -> Self {
        let mut command = hookmitt(data_dir);
        command.args(["serve", "--no-open", "--port", "0", "--api-port", "0"]);
        Self::spawn(command).await
    }

    /// Starts a command that serves, and waits until it prints its capture address.
    pub async fn spawn(mut command: Command) -> Self {
        let mut process = command.spawn().expect("hookmitt starts");
        let mut lines = BufReader::new(process.stderr.take().expect("stderr")).lines();
        let mut said = String::new();
        loop {
            let line = lines.next_line().await.expect("text");
            let line = line.unwrap_or_else(|| panic!("hookmitt ended: {said}"));
            said.push_str(&line);
            said.push('\n');
            if let Some(capture) = address_in(&line) {
                return Self { process, capture, said, lines };
            }
        }
    }

    /// Reads and drops its stderr until the end, so that the process never blocks on a full pipe.
    pub async fn drain(&mut self) {
        while let Ok(Some(_)) = self.lines.next_line().await {}
    }

    /// Kills it at once, as a power cut would (SIGKILL).
    pub async fn kill(mut self) {
        self.process.kill().await.expect("it can be killed");
    }
}

/// Returns the address in the first IPv4 loopback URL of a line.
pub(crate) fn address_in(line: &str) -> Option<SocketAddr> {
    let rest = &line[line.find("http://127.0.0.1:")? + "http://".len()..];
    let end = rest.find(|letter: char| !letter.is_ascii_digit() && !matches!(letter, '.' | ':'));
    rest[..end.unwrap_or(rest.len())].parse().ok()
}
