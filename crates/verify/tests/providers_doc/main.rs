//! `docs/providers.md` is generated from the catalogue's files. This test checks that the copy in the repository is
//! current.

#![expect(clippy::unwrap_used, reason = "a test stops at a file that can't be read")]

mod files;
mod page;
mod scheme;
mod section;
mod words;

use std::{fs, path::Path};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/providers.md");

/// `UPDATE_PROVIDERS=1 cargo test -p hookmitt-verify providers_doc` rewrites the page.
#[test]
fn the_providers_doc_is_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let current = page::page(&files::read(&root.join("providers")));
    if std::env::var_os("UPDATE_PROVIDERS").is_some() {
        fs::write(PAGE, &current).unwrap();
    }
    let copy = fs::read_to_string(PAGE).unwrap_or_default();
    assert!(
        copy == current,
        "docs/providers.md is stale: UPDATE_PROVIDERS=1 cargo test -p hookmitt-verify providers_doc"
    );
}

/// The links in the settings point to the ids of providers.
#[test]
fn every_id_is_an_anchor_of_the_page_once() {
    let text = fs::read_to_string(PAGE).unwrap();
    let anchors = text.lines().filter_map(|line| {
        let own = line.strip_prefix("<a id=\"").and_then(|rest| rest.strip_suffix("\"></a>"));
        own.map(str::to_owned).or_else(|| line.strip_prefix("## ").map(page::anchor))
    });
    let anchors: Vec<_> = anchors.collect();
    let times = |id: &str| anchors.iter().filter(|anchor| *anchor == id).count();
    let ids = hookmitt_verify::providers().map(|provider| provider.id.as_str());
    let wrong: Vec<_> = ids.filter(|id| times(id) != 1).collect();
    assert!(wrong.is_empty(), "no place of their own: {wrong:?}");
}
