//! The process list, as any user of the machine can read it.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

/// Returns the command lines of all processes, with a space after each argument.
pub fn command_lines() -> Vec<String> {
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    let numbered =
        processes.flatten().filter(|entry| entry.file_name().as_encoded_bytes()[0].is_ascii_digit());
    let line = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).replace('\0', " ");
    numbered.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok()).map(line).collect()
}

/// A thread that reads the process list again and again until this is dropped.
pub struct Watcher {
    seen: Arc<Mutex<BTreeSet<String>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Watcher {
    /// Starts to read the process list.
    pub fn start() -> Self {
        let (seen, stop) = (Arc::<Mutex<BTreeSet<String>>>::default(), Arc::<AtomicBool>::default());
        let (all, ended) = (Arc::clone(&seen), Arc::clone(&stop));
        let thread = std::thread::spawn(move || {
            while !ended.load(Ordering::Relaxed) {
                all.lock().unwrap_or_else(PoisonError::into_inner).extend(command_lines());
                std::thread::sleep(Duration::from_millis(10));
            }
        });
        Self { seen, stop, thread: Some(thread) }
    }

    /// Returns every distinct command line that was seen so far, one per line.
    pub fn seen(&self) -> String {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.extend(command_lines());
        seen.iter().fold(String::new(), |all, line| all + line + "\n")
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _panicked = thread.join();
        }
    }
}
