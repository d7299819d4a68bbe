//! `hookmitt serve` on a kept inbox.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    net::SocketAddr,
    path::Path,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use serde_json::Value;

use super::client::Client;
use crate::{
    host::resident,
    report::mib,
    servers::{Server, binary},
};

/// How often it is looked at whether a server rests, and how long it may have been busy meanwhile, in hundredths of a
/// second: its chores look for work every few seconds.
const LOOK_EVERY: Duration = Duration::from_secs(12);
const RESTS_BELOW: u64 = 25;

pub(super) const TOKEN: &str = "a-token-that-the-benchmark-knows";

/// A running server. It is killed when dropped.
pub(super) struct Served {
    server: Server,
    /// How long it took from the start of the process until events were taken.
    pub(super) ready_after: Duration,
}

impl Served {
    /// Starts on a data directory whose files the system has dropped from memory, so far as it lets us ask for that.
    pub(super) fn cold(data_dir: &Path) -> anyhow::Result<Self> {
        forget(data_dir)?;
        Self::start(data_dir)
    }

    pub(super) fn start(data_dir: &Path) -> anyhow::Result<Self> {
        let started = Instant::now();
        let mut process = Command::new(binary()?)
            .args(["serve", "--no-open", "--json", "--port", "0", "--api-port", "0", "--data-dir"])
            .arg(data_dir)
            .env("HOOKMITT_KEYRING", "off")
            .env("HOOKMITT_TOKEN", TOKEN)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut output = BufReader::new(process.stdout.take().context("no output")?);
        let mut line = String::new();
        output.read_line(&mut line)?;
        let ready_after = started.elapsed();
        // Its later output is read and dropped, because the process would block on a full pipe.
        thread::spawn(move || std::io::copy(&mut output, &mut std::io::sink()));
        let ready: Value = serde_json::from_str(&line).with_context(|| format!("not ready: {line:?}"))?;
        let port = ready["ready"]["api_port"].as_u64().context("no API port")?;
        let address = SocketAddr::from(([127, 0, 0, 1], u16::try_from(port)?));
        Ok(Self { server: Server { process, address }, ready_after })
    }

    pub(super) async fn client(&self) -> anyhow::Result<Client> {
        Client::connect(self.server.address).await
    }

    /// Waits until it rests: until it has indexed and compressed all that it began with, and given back what that freed.
    pub(super) fn settle(&self) -> anyhow::Result<()> {
        let mut before = self.worked()?;
        loop {
            thread::sleep(LOOK_EVERY);
            let now = self.worked()?;
            if now - before < RESTS_BELOW {
                return Ok(());
            }
            before = now;
        }
    }

    /// Returns how long its threads have been running since it started, in hundredths of a second.
    fn worked(&self) -> anyhow::Result<u64> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.server.pid()))?;
        let (_name, fields) = stat.rsplit_once(')').context("no name")?;
        let times: Vec<u64> =
            fields.split_whitespace().skip(11).take(2).map(str::parse).collect::<Result<_, _>>()?;
        Ok(times.iter().sum())
    }

    /// Returns its resident memory in MiB.
    pub(super) fn resident(&self) -> anyhow::Result<f64> {
        Ok(mib(resident(self.server.pid())?))
    }

    /// Returns the most memory that it had resident since its start, in MiB.
    pub(super) fn largest_resident(&self) -> anyhow::Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.server.pid()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).context("no VmHWM")?;
        let kib: u64 = line.trim().trim_end_matches(" kB").parse()?;
        Ok(mib(kib * 1_024))
    }
}

/// Asks the system to drop the files of a folder from its memory.
#[cfg(target_os = "linux")]
fn forget(folder: &Path) -> anyhow::Result<()> {
    use rustix::fs::{Advice, fadvise};
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        // There may be a socket.
        if entry.file_type()?.is_file() {
            let file = fs::File::open(entry.path())?;
            file.sync_all()?;
            fadvise(&file, 0, None, Advice::DontNeed)?;
        }
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn forget(_: &Path) -> anyhow::Result<()> {
    Ok(())
}
