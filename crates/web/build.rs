//! Lists the files of `ui/dist`, so that the crate can include them. An unbuilt UI is an empty list.

use std::{
    env, fmt, fs, io,
    path::{Path, PathBuf},
};

/// The built UI, seen from this crate, where cargo runs this.
const DIST: &str = "../../ui/dist";

fn main() -> io::Result<()> {
    // Found when this runs, and named relative to the crate: a target folder may be used by several working copies.
    let dist = env::current_dir()?.join(DIST);
    fs::create_dir_all(&dist)?; // cargo would run this again and again for a folder that isn't there
    println!("cargo::rerun-if-changed={DIST}");
    let mut files = Vec::new();
    collect(&dist, &mut files)?;
    files.sort();
    let entries: Vec<_> = files.iter().filter_map(|file| Entry::of(&dist, file)).collect();
    let list: String = entries.iter().map(ToString::to_string).collect();
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

/// One file as an expression: `("/assets/x.js", include_bytes!("…"))`.
struct Entry<'a> {
    url: String,
    file: &'a Path,
}

impl<'a> Entry<'a> {
    fn of(dist: &Path, file: &'a Path) -> Option<Self> {
        let inside = file.strip_prefix(dist).ok()?;
        let parts: Vec<_> = inside.iter().map(|part| part.to_str()).collect::<Option<_>>()?;
        Some(Self { url: format!("/{}", parts.join("/")), file })
    }
}

impl fmt::Display for Entry<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "({:?}, include_bytes!({:?}) as &[u8]),", self.url, self.file)
    }
}
