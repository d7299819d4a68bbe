//! Data directories, the command that fills them, and how large their files get.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use anyhow::{Context as _, ensure};

use crate::{servers::binary, workload::SECRET};

/// A data directory on the target folder's disk, not in memory. It is removed when dropped.
pub(crate) struct DataDir(PathBuf);

impl DataDir {
    pub(crate) fn new(name: &str) -> anyhow::Result<Self> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/bench").join(name);
        let _absent = fs::remove_dir_all(&path);
        fs::create_dir_all(&path)?;
        Ok(Self(path.canonicalize()?))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for DataDir {
    fn drop(&mut self) {
        let _gone = fs::remove_dir_all(&self.0);
    }
}

/// Makes a data directory with a GitHub source and its secret.
pub(crate) fn with_source(name: &str) -> anyhow::Result<DataDir> {
    let folder = DataDir::new(name)?;
    hookmitt(folder.path(), &["source", "add", "github", "--provider", "github"], "")?;
    hookmitt(folder.path(), &["secret", "set", "github"], SECRET)?;
    Ok(folder)
}

/// Runs a `hookmitt` command to its end, and returns its standard output.
pub(crate) fn hookmitt(data_dir: &Path, arguments: &[&str], input: &str) -> anyhow::Result<String> {
    let mut process = Command::new(binary()?)
        .args(arguments)
        .arg("--data-dir")
        .arg(data_dir)
        .env("HOOKMITT_KEYRING", "off")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    process.stdin.take().context("no input")?.write_all(input.as_bytes())?;
    let output = process.wait_with_output()?;
    ensure!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

/// A thread that records how large a file gets.
pub(crate) struct LargestFile {
    stop: Arc<AtomicBool>,
    watcher: JoinHandle<u64>,
}

impl LargestFile {
    pub(crate) fn watch(path: PathBuf) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let watcher = thread::spawn(move || {
            let mut largest = 0;
            while !stopped.load(Ordering::Relaxed) {
                largest = largest.max(fs::metadata(&path).map_or(0, |file| file.len()));
                thread::sleep(Duration::from_millis(20));
            }
            largest
        });
        Self { stop, watcher }
    }

    pub(crate) fn stop(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        self.watcher.join().unwrap_or(0)
    }
}
