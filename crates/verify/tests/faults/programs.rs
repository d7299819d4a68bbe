//! Runs the programs that produce the requests, and reads the requests from their output.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::case::{Case, Totals};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn works(program: &Path, version: &str) -> bool {
    let mut command = Command::new(program);
    command
        .arg(version)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Returns the Node on the path, or the one that the set-up script installed.
fn node() -> Option<PathBuf> {
    [PathBuf::from("node"), root().join(".tools/node/bin/node")]
        .into_iter()
        .find(|node| works(node, "--version"))
}

/// Fails the run on Debian and in CI if something is missing; elsewhere only reports it.
fn missing(what: &str) {
    let strict = std::env::var_os("CI").is_some() || Path::new("/etc/debian_version").exists();
    let why = format!("the bench of faults needs {what}: scripts/setup.sh --for test brings it on Debian");
    assert!(!strict, "{why}");
    writeln!(std::io::stderr().lock(), "skipped: {why}").unwrap();
    if let Some(path) = std::env::var_os("HOOKMITT_SKIPPED") {
        let file = fs::OpenOptions::new().create(true).append(true).open(path);
        writeln!(file.unwrap(), "{why}").unwrap();
    }
}

/// Returns every request of the bench; `None` if a program is missing.
pub(crate) fn cases() -> Option<Vec<Case>> {
    let folder = root().join("tests/faults");
    let installed = [
        ("npm ci in tests/faults", folder.join("node_modules/.package-lock.json").exists()),
        ("npm ci in tests/sdk", root().join("tests/sdk/node_modules/stripe").exists()),
        ("Flask and Django in tests/faults/python_modules", folder.join("python_modules/flask").exists()),
        ("python3", works(Path::new("python3"), "--version")),
        ("php-cli", works(Path::new("php"), "--version")),
        ("nginx", works(Path::new("nginx"), "-v")),
        ("openssl", works(Path::new("openssl"), "version")),
    ];
    if let Some((what, _)) = installed.iter().find(|(_, there)| !there) {
        missing(what);
        return None;
    }
    let Some(node) = node() else {
        missing("Node 20 or later");
        return None;
    };
    let mut command = Command::new(node);
    let mut child = command.arg(folder.join("main.mjs")).stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut lines: Vec<String> = lines.collect();
    assert!(child.wait().unwrap().success(), "the programs of tests/faults failed");
    let totals: Totals = serde_json::from_str(&lines.pop().unwrap()).unwrap();
    assert_eq!(totals.requests, lines.len(), "lines were lost");
    Some(lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect())
}
