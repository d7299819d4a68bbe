//! Lists the provider files, the sample bodies and the framework fixes, so that each is embedded with its name as the
//! key.

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

fn main() {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let mut code = String::new();
    list(&mut code, "PROVIDER_FILES", &files(&root.join("providers")), |path| stem(path).to_owned());
    list(&mut code, "SAMPLE_FILES", &files(&root.join("samples")), |path| {
        let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
        let name = path.file_name().unwrap_or_default();
        format!("{}/{}", folder.to_string_lossy(), name.to_string_lossy())
    });
    let catalogue = std::mem::take(&mut code);
    list(&mut code, "FIX_FILES", &files(&root.join("fixes")), |path| stem(path).to_owned());
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    fs::write(out.join("catalogue_files.rs"), catalogue).expect("the output folder can be written");
    fs::write(out.join("fix_files.rs"), code).expect("the output folder can be written");
}

/// Returns every file in a folder and its subfolders, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

fn list(code: &mut String, name: &str, files: &[PathBuf], key: impl Fn(&Path) -> String) {
    writeln!(code, "const {name}: &[(&str, &str)] = &[").expect("a string takes text");
    for path in files {
        writeln!(code, "    ({:?}, include_str!({:?})),", key(path), path).expect("a string takes text");
    }
    code.push_str("];\n");
}

fn stem(path: &Path) -> &str {
    path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default()
}
