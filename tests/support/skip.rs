//! What can't be run for want of something that isn't in the repository.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
};

/// A file of the folder `shared` beside the project. `None`: it isn't there, and that is written down as a skip.
pub fn shared(file: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared").join(file);
    if path.exists() {
        return Some(path);
    }
    note(&format!("../shared/{file}: the folder beside the project is missing"));
    None
}

/// Something of the machine is missing. A failure where it has to be there (CI, Debian); elsewhere written down as a
/// skip.
pub fn lacking(what: &str, how_to_get_it: &str) {
    let has_to =
        std::env::var_os("CI").is_some_and(|ci| ci == "true") || Path::new("/etc/debian_version").exists();
    assert!(!has_to, "{what} is missing: {how_to_get_it}");
    note(&format!("{what} is missing: {how_to_get_it}"));
}

/// A program of the machine; [`lacking`] where it is missing, with the package that has it.
pub(crate) fn program(name: &str, package: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    folders.push("/usr/sbin".into()); // Debian puts servers where only root looks
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
