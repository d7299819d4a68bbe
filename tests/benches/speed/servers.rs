//! The two servers that are compared, each in its own process.

use std::{
    io::{BufRead as _, BufReader},
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use anyhow::Context as _;
use axum::{Router, body::Bytes, routing::post};

/// A running server. It is killed when dropped.
pub(crate) struct Server {
    pub(crate) process: Child,
    pub(crate) address: SocketAddr,
}

impl Server {
    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ended_before = self.process.kill();
        let _reaped = self.process.wait();
    }
}

/// Runs the server that a capture is compared with: it reads the body, answers 200, and stores nothing.
pub(crate) fn bare_handler() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let handler = post(async |body: Bytes| if body.is_empty() { "empty" } else { "ok" });
        let router = Router::new().route("/github", handler.clone()).route("/{tunnel}/github", handler);
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
        #[expect(clippy::print_stdout, reason = "the parent reads the address here")]
        {
            println!("http://{}", listener.local_addr()?);
        }
        use axum::serve::ListenerExt as _;
        let listener = listener.tap_io(|stream| {
            let _ = stream.set_nodelay(true);
        });
        axum::serve(listener, router).await?;
        Ok(())
    })
}

pub(crate) fn start_bare() -> anyhow::Result<Server> {
    start_self(&["--bare-handler"])
}

/// Starts this program again with arguments that make it a server, and reads the address that it prints.
pub(crate) fn start_self(arguments: &[&str]) -> anyhow::Result<Server> {
    let mut process =
        Command::new(std::env::current_exe()?).args(arguments).stdout(Stdio::piped()).spawn()?;
    let output = process.stdout.take().context("no output")?;
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line)?;
    let address = line.trim().trim_start_matches("http://").parse()?;
    Ok(Server { process, address })
}

/// Returns the path of the `hookmitt` binary: the one that `HOOKMITT_BENCH_BIN` names, otherwise the release build in
/// this benchmark's target folder.
pub(crate) fn binary() -> anyhow::Result<PathBuf> {
    if let Some(path) = std::env::var_os("HOOKMITT_BENCH_BIN") {
        return Ok(path.into());
    }
    let here = std::env::current_exe()?;
    let folder = here.parent().and_then(Path::parent).context("no target folder")?;
    let path = folder.join("hookmitt");
    anyhow::ensure!(path.exists(), "{} is missing: `make bench` builds it", path.display());
    Ok(path)
}

/// Starts `hookmitt serve` on a data directory, on free ports.
pub(crate) fn start_hookmitt(data_dir: &Path) -> anyhow::Result<Server> {
    let mut process = Command::new(binary()?)
        .args(["serve", "--no-open", "--port", "0", "--api-port", "0", "--data-dir"])
        .arg(data_dir)
        .env("HOOKMITT_KEYRING", "off")
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()?;
    let mut output = BufReader::new(process.stderr.take().context("no output")?);
    let address = capture_address(&mut output)?;
    // Its later output is read and dropped, because the process would block on a full pipe.
    std::thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
    Ok(Server { process, address })
}

/// Returns the first IPv4 loopback address that is printed: the capture port's, or for a relay its public URL's.
pub(crate) fn capture_address(output: &mut impl std::io::BufRead) -> anyhow::Result<SocketAddr> {
    let mut said = String::new();
    loop {
        let mut line = String::new();
        anyhow::ensure!(output.read_line(&mut line)? > 0, "hookmitt ended: {said}");
        said.push_str(&line);
        if let Some(start) = line.find("http://127.0.0.1:") {
            let rest = &line[start + "http://".len()..];
            let end = rest
                .find(|letter: char| !letter.is_ascii_digit() && !matches!(letter, '.' | ':'))
                .unwrap_or(rest.len());
            return Ok(rest[..end].parse()?);
        }
    }
}
