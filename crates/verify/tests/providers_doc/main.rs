//! `docs/providers.md` is written from the catalogue's files: this keeps the copy in the repository fresh.

#![expect(clippy::unwrap_used, reason = "a test stops at a file that can't be read")]

mod files;
mod page;
mod scheme;
mod section;
mod words;

use std::path::Path;

/// `UPDATE_PROVIDERS=1 cargo test -p hookmitt-verify providers_doc` writes the page anew.
#[test]
fn the_providers_doc_is_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("../../docs/providers.md");
    let current = page::page(&files::read(&root.join("providers")));
    if std::env::var_os("UPDATE_PROVIDERS").is_some() {
        std::fs::write(&path, &current).unwrap();
    }
    let copy = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        copy == current,
        "docs/providers.md is stale: UPDATE_PROVIDERS=1 cargo test -p hookmitt-verify providers_doc"
    );
}
