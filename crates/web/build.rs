//! Lists the files of `ui/dist` for the crate to include. If the UI was not built, the list is empty.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

/// The built UI, relative to this crate, where cargo runs this script. Absolute paths are not stored, because the
/// folder may be moved.
const DIST: &str = "../../ui/dist";

fn main() -> io::Result<()> {
    let dist = Path::new(DIST);
    fs::create_dir_all(dist)?; // cargo would rerun this script every time if the folder did not exist
    println!("cargo::rerun-if-changed={DIST}");
    let mut files = Vec::new();
    collect(dist, &mut files)?;
    files.sort();
    let list: String = files.iter().filter_map(|file| entry(dist, file)).collect();
    let out = env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default();
    fs::write(out.join("files.rs"), format!("&[{list}]"))
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

/// Returns one file as an expression: `("/assets/x.js", include_bytes!(…))`.
fn entry(dist: &Path, file: &Path) -> Option<String> {
    let inside = file.strip_prefix(dist).ok()?;
    let parts: Vec<_> = inside.iter().map(|part| part.to_str()).collect::<Option<_>>()?;
    let url = format!("/{}", parts.join("/"));
    let path = format!("/{DIST}{url}");
    Some(format!("({url:?}, include_bytes!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {path:?})) as &[u8]),"))
}
