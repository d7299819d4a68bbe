//! No story is left out: `stories.rs` names every file of this folder. A file that it does not name would never run.

use std::{collections::BTreeSet, fs, path::Path};

#[test]
fn every_story_is_told() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("stories");
    let files: BTreeSet<_> = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    let named: BTreeSet<_> = include_str!("../stories.rs")
        .lines()
        .filter_map(|line| line.trim().strip_prefix("mod ")?.strip_suffix(';'))
        .map(str::to_owned)
        .collect();
    assert_eq!(files, named);
}
