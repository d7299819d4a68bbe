//! Lists the files of `ui/dist` for the crate to include, texts as gzip. If the UI was not built, the list is empty.

use std::{
    env, fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use flate2::{Compression, write::GzEncoder};

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
    let out = env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default();
    let mut list = String::new();
    for (number, file) in files.iter().enumerate() {
        let Some(url) = url_of(dist, file) else { continue };
        let packed = out.join(format!("{number}.gz"));
        list.push_str(&if is_text(file) {
            pack(file, &packed)?;
            format!("({url:?}, true, include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{number}.gz\")) as &[u8]),")
        } else {
            let path = format!("/{DIST}{url}");
            format!(
                "({url:?}, false, include_bytes!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {path:?})) as &[u8]),"
            )
        });
    }
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

/// Whether a file becomes smaller when it is packed. Fonts and images are packed already.
fn is_text(file: &Path) -> bool {
    let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    matches!(ending, "html" | "js" | "css" | "svg" | "json" | "txt")
}

fn pack(file: &Path, packed: &Path) -> io::Result<()> {
    let mut gzip = GzEncoder::new(fs::File::create(packed)?, Compression::best());
    gzip.write_all(&fs::read(file)?)?;
    gzip.finish().map(drop)
}

/// Returns the path at which a file is served: `/assets/x.js`.
fn url_of(dist: &Path, file: &Path) -> Option<String> {
    let inside = file.strip_prefix(dist).ok()?;
    let parts: Vec<_> = inside.iter().map(|part| part.to_str()).collect::<Option<_>>()?;
    Some(format!("/{}", parts.join("/")))
}
