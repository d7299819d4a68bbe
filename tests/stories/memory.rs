//! What is left of a secret in a process that has dropped it (promise 7).

use std::{
    fs::{File, read_to_string},
    ops::Range,
    os::unix::fs::FileExt as _,
    path::Path,
};

use hookmitt_stories::{Ran, Server, hookmitt};

/// How many bytes are searched at a time.
const PART: usize = 1 << 20;

/// Returns how often these bytes are in the process's writable memory: its stacks and its heap.
fn times_in_memory(pid: u32, bytes: &[u8]) -> usize {
    let maps = read_to_string(format!("/proc/{pid}/maps")).expect("a list of its memory");
    let memory = File::open(format!("/proc/{pid}/mem")).expect("we are its parent");
    let written =
        maps.lines().filter(|line| line.split(' ').nth(1).is_some_and(|mode| mode.starts_with("rw")));
    let mut times = 0;
    for range in written.filter_map(range_of) {
        // Most of it was never used and reads as zeros. The parts overlap, so that no match is cut in two.
        for start in range.step_by(PART) {
            let mut part = vec![0; PART + bytes.len() - 1];
            let Ok(read) = memory.read_at(&mut part, start) else { continue };
            let is_used = part[..read] != vec![0; read];
            times += if is_used { memchr::memmem::find_iter(&part[..read], bytes).count() } else { 0 };
        }
    }
    times
}

fn range_of(line: &str) -> Option<Range<u64>> {
    let (start, end) = line.split_once(' ')?.0.split_once('-')?;
    Some(u64::from_str_radix(start, 16).ok()?..u64::from_str_radix(end, 16).ok()?)
}

async fn run_on(data_dir: &Path, noun: &str, verb: &str, input: &str) {
    let mut command = hookmitt(data_dir);
    command.args([noun, verb, "gh"]);
    Ran::with_input(command, input.as_bytes()).await.exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn promise_7_nothing_is_left_in_memory_of_a_secret_that_was_removed() {
    const SECRET: &str = "the-beginning-of-a-secret-whose-end-is-this-9f31c7";
    // Freeing memory may overwrite its beginning, so only the end of the secret counts.
    let end = &SECRET.as_bytes()[24..];
    let folder = tempfile::tempdir().unwrap();
    let serving = Server::start(folder.path()).await;
    serving.delivers().await; // so that commands attach to it
    run_on(folder.path(), "source", "add", "").await;
    run_on(folder.path(), "secret", "set", SECRET).await;
    assert!(times_in_memory(serving.pid(), end) > 0, "it is held for the next event");
    run_on(folder.path(), "secret", "remove", "").await;
    assert_eq!(times_in_memory(serving.pid(), end), 0);
}
