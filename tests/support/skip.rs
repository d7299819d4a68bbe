//! Records of what can't run because something outside the repository is missing.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
};

/// Returns the path of a file in the folder `shared` beside the project. If it is missing, records a skip and returns
/// `None`.
pub fn shared(file: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared").join(file);
    if path.exists() {
        return Some(path);
    }
    note(&format!("../shared/{file}: the folder beside the project is missing"));
    None
}

/// Reports that something is missing on this machine. Panics in CI and on Debian, where it must be installed; elsewhere
/// it records a skip.
pub fn lacking(what: &str, how_to_get_it: &str) {
    let has_to =
        std::env::var_os("CI").is_some_and(|ci| ci == "true") || Path::new("/etc/debian_version").exists();
    assert!(!has_to, "{what} is missing: {how_to_get_it}");
    note(&format!("{what} is missing: {how_to_get_it}"));
}

/// Returns the path of an installed program. If it is missing, calls [`lacking`] with its package and returns `None`.
pub(crate) fn program(name: &str, package: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    folders.push("/usr/sbin".into()); // Debian installs servers where only root's PATH looks
    let found = folders.into_iter().map(|folder| folder.join(name)).find(|program| program.is_file());
    if found.is_none() {
        lacking(name, &format!("apt-get install {package}, or scripts/setup.sh --for test"));
    }
    found
}

fn note(line: &str) {
    if let Some(list) = std::env::var_os("HOOKMITT_SKIPPED") {
        let file = std::fs::OpenOptions::new().append(true).create(true).open(list);
        let _unwritten = file.and_then(|mut file| writeln!(file, "{line}"));
    }
}
