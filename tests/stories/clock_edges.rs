//! Only the edges may read the wall clock. Everything else is given a clock, so that a test can turn it.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Crates that work with a clock that they are given.
const GIVEN: [&str; 8] = ["engine", "forward", "inbox", "mailbox", "relay", "sqlite", "tunnel", "verify"];

/// Calls that read the wall clock.
const READS: [&str; 3] = ["Timestamp::now", "SystemTime::now", "MachineClock.now"];

#[test]
fn the_wall_clock_is_read_at_the_edges_alone() {
    let mut files = Vec::new();
    for name in GIVEN {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates").join(name).join("src");
        gather(&folder, &mut files);
    }
    assert!(files.len() > 300, "only {} files were found", files.len());
    let found: Vec<_> = files.iter().flat_map(|file| reads(file)).collect();
    assert!(
        found.is_empty(),
        "take the time as an argument, or from the clock at hand:\n{}",
        found.join("\n")
    );
}

#[test]
fn a_reading_is_noticed_and_one_in_a_test_is_not() {
    let text =
        "fn f() -> Timestamp { Timestamp::now() }\n#[cfg(test)]\nmod tests { fn g() { Timestamp::now(); } }";
    assert_eq!(product(text).matches("Timestamp::now").count(), 1);
}

fn gather(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            gather(&path, files);
        } else if name.ends_with(".rs") && !is_of_tests(&name) {
            files.push(path);
        }
    }
}

/// Whether a file contains only tests.
fn is_of_tests(name: &str) -> bool {
    name.ends_with("tests.rs") || ["begun.rs", "recount.rs", "samples.rs"].contains(&name)
}

/// Returns the part of a file that is not tests.
fn product(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod ").next().unwrap_or(text)
}

fn reads(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap();
    let lines = product(&text).lines().enumerate();
    let found = lines.filter(|(_, line)| READS.iter().any(|reads| line.contains(reads)));
    found.map(|(number, line)| format!("{}:{}: {}", file.display(), number + 1, line.trim())).collect()
}
