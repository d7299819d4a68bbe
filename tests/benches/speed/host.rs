//! The speed of this machine's disk, and the memory of a process.

use std::{
    fs,
    io::Write as _,
    time::{Duration, Instant},
};

use anyhow::Context as _;

use crate::folder::DataDir;

/// Returns how long the disk takes to sync 16 KiB, about what a commit writes: 1,000 measurements, sorted.
pub(crate) fn syncs() -> anyhow::Result<Vec<Duration>> {
    let folder = DataDir::new("syncs")?;
    let mut file = fs::File::create(folder.path().join("file"))?;
    let bytes = vec![0x5a; 16 * 1024];
    let mut waits = Vec::with_capacity(1_000);
    for _ in 0..1_000 {
        file.write_all(&bytes)?;
        let started = Instant::now();
        file.sync_data()?;
        waits.push(started.elapsed());
    }
    waits.sort_unstable();
    Ok(waits)
}

/// Returns the resident memory of a process, in bytes.
pub(crate) fn resident(pid: u32) -> anyhow::Result<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    let kib: u64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kib * 1_024)
}
