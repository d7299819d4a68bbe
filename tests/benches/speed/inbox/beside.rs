//! What captures pay for what goes on beside them: how long answers take at 2,000 a second, compared with the same load
//! alone, and how large the log gets.

use std::{
    fs,
    path::Path,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use anyhow::{Context as _, anyhow, ensure};
use tokio::runtime::Runtime;

use super::{
    figure::{Figures, Part},
    place::Place,
};
use crate::{
    folder::{DataDir, LargestFile, hookmitt, with_source},
    load::{Answered, Load, send},
    measured::{CONNECTIONS, SEED},
    report::{median, mib, percentile},
    servers::{Server, binary, start_hookmitt},
    workload::{BODY, Workload},
};

/// The load, in requests a second, and for how many seconds.
const PACE: u32 = 2_000;
const SECONDS: u64 = 8;

/// How many runs there are with the index and as many without, one after the other.
const PAIRS: usize = 5;

/// What the issue allows, as ratios and in MiB.
const INDEXING: f64 = 1.2;
const BESIDE: f64 = 2.0;
const LOG: f64 = 128.0;

/// How many runs there are alone and as many beside each of those, one after the other.
pub(super) const TURNS: usize = 3;

/// What goes on beside captures, and the command that runs again and again meanwhile.
const BESIDES: [(&str, Option<&[&str]>); 5] = [
    ("search", Some(&["events", "body./nothing/like/this:1", "--limit", "1"])),
    ("export", Some(&["export", "--source", "github", "--raw", "-o", "exported"])),
    ("backup", Some(&["backup", "copy.db", "--force"])),
    ("rebuild", None),
    ("prune", None),
];

/// Makes the process that delivers prune: to much less than the smallest inbox takes that is worth measuring.
const LITTLE: [&str; 3] = ["retention", "--size", "20MB"];

pub(super) fn measure(runtime: &Runtime, place: &Place, figures: &mut Figures) -> anyhow::Result<()> {
    for (name, running) in BESIDES {
        let (mut alone, mut with, mut log) = (Vec::new(), Vec::new(), 0.0_f64);
        for _ in 0..TURNS {
            let copied = place.copy()?;
            alone.push(beside(runtime, copied.directory(), None)?.0);
            if name == "rebuild" {
                fs::remove_file(copied.directory().join("search.db"))?;
            } else if name == "prune" {
                hookmitt(copied.directory(), &LITTLE, "")?;
            }
            let (p99, largest) = beside(runtime, copied.directory(), running)?;
            with.push(p99);
            log = log.max(largest);
        }
        let ratio = median(with) / median(alone.clone());
        figures.add(Part::Beside, format!("alone before {name}, p99, ms"), median(alone), None);
        figures.add(Part::Beside, format!("beside {name}, p99 : alone"), ratio, Some(BESIDE));
        figures.add(Part::Beside, format!("log beside {name}, MiB"), log, Some(LOG));
    }
    Ok(())
}

/// Compares captures with and without the index, in fresh inboxes.
pub(super) fn indexing(runtime: &Runtime, figures: &mut Figures) -> anyhow::Result<()> {
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for number in 0..PAIRS * 2 {
        let folder = with_source("indexing")?;
        let is_without = number % 2 == 1;
        if is_without {
            no_index(&folder)?;
        }
        let server = start_hookmitt(folder.path())?;
        let p99 = p99(&loaded(runtime, &server, number as u64)?);
        if is_without { without.push(p99) } else { with.push(p99) }
    }
    let ratio = median(with.clone()) / median(without.clone());
    figures.add(Part::Indexing, "captures at 2,000/s without index, p99, ms", median(without), None);
    figures.add(Part::Indexing, "captures at 2,000/s with index, p99, ms", median(with), None);
    figures.add(Part::Indexing, "with index : without", ratio, Some(INDEXING));
    Ok(())
}

/// Sees to it that there can be no index: a folder is where its file would be.
fn no_index(folder: &DataDir) -> anyhow::Result<()> {
    let there = folder.path().join("search.db");
    fs::create_dir(&there)?;
    Ok(fs::write(there.join("in the way"), "")?)
}

/// Returns the 99th percentile of captures while a command runs again and again, and the largest log, in MiB.
pub(super) fn beside(
    runtime: &Runtime,
    data_dir: &Path,
    arguments: Option<&'static [&'static str]>,
) -> anyhow::Result<(f64, f64)> {
    let server = start_hookmitt(data_dir)?;
    let log = LargestFile::watch(data_dir.join("inbox.db-wal"));
    let running = arguments.map(|arguments| Again::run(data_dir, arguments));
    let answered = loaded(runtime, &server, 77)?;
    running.map_or(Ok(()), Again::stop)?;
    Ok((p99(&answered), mib(log.stop())))
}

fn loaded(runtime: &Runtime, server: &Server, seed: u64) -> anyhow::Result<Answered> {
    let workload = Arc::new(Workload::new(SEED, "/github", BODY));
    let load =
        |requests, seed| Load { connections: CONNECTIONS, requests, pace: Some(PACE), kept: true, seed };
    runtime.block_on(async {
        send(server.address, &workload, load(u64::from(PACE), SEED + seed * 2)).await?;
        send(server.address, &workload, load(u64::from(PACE) * SECONDS, SEED + seed * 2 + 1)).await
    })
}

fn p99(answered: &Answered) -> f64 {
    percentile(&answered.waits, 99.0)
}

/// A command that runs again and again until it is stopped.
struct Again {
    stop: Arc<AtomicBool>,
    runner: thread::JoinHandle<anyhow::Result<()>>,
}

impl Again {
    fn run(data_dir: &Path, arguments: &'static [&'static str]) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let (stopped, data_dir) = (Arc::clone(&stop), data_dir.to_owned());
        let runner = thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                once(&data_dir, arguments, &stopped)?;
            }
            Ok(())
        });
        Self { stop, runner }
    }

    /// Ends the command. Fails if it ever failed: then there was nothing to measure.
    fn stop(self) -> anyhow::Result<()> {
        self.stop.store(true, Ordering::Relaxed);
        self.runner.join().map_err(|_| anyhow!("the thread that runs the command panicked"))?
    }
}

/// Runs a command until it ends, or is stopped.
fn once(data_dir: &Path, arguments: &[&str], stopped: &AtomicBool) -> anyhow::Result<()> {
    let mut running = command(data_dir, arguments)?;
    while !stopped.load(Ordering::Relaxed) {
        if let Some(ended) = running.try_wait()? {
            // 1 says that some of the events can't be exported.
            ensure!(matches!(ended.code(), Some(0 | 1)), "{arguments:?}: {ended}");
            return Ok(());
        }
        thread::sleep(Duration::from_millis(10));
    }
    running.kill()?;
    running.wait()?;
    Ok(())
}

fn command(data_dir: &Path, arguments: &[&str]) -> anyhow::Result<Child> {
    let child = Command::new(binary()?)
        .args(arguments)
        .arg("--data-dir")
        .arg(data_dir)
        .current_dir(data_dir)
        .env("HOOKMITT_KEYRING", "off")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    child.with_context(|| format!("can't run {arguments:?}"))
}
