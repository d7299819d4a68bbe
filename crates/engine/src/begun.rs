//! Set-up helpers for this crate's tests.

use std::{path::Path, sync::Arc};

use bytes::Bytes;
use hookmitt_clock::{Clock, MachineClock};
use hookmitt_event::{HeaderLines, HttpVersion, Request, Slug, Via};

use crate::{
    Engine, Network, Resources, SourceChange, StoreChoice,
    judging::{Arrival, Page},
    settings::ConfiguredSource,
};

/// Opens an engine on a folder; it uses no keychain.
pub(crate) async fn engine(folder: &Path) -> Arc<Engine> {
    engine_by(folder, Arc::new(MachineClock)).await
}

/// Like [`engine`], with the given clock.
pub(crate) async fn engine_by(folder: &Path, clock: Arc<dyn Clock>) -> Arc<Engine> {
    let (data_dir, secrets) = (folder.to_owned(), StoreChoice::File);
    let network = Network::default();
    Engine::open(Resources { data_dir, secrets, network, clock }).await.unwrap()
}

/// Adds a source without settings, and returns what is known of it.
pub(crate) async fn source(engine: &Engine, slug: &str) -> Arc<ConfiguredSource> {
    let slug: Slug = slug.parse().unwrap();
    engine.sources.add(slug.clone(), SourceChange::default()).await.unwrap();
    engine.settings.source(&slug).unwrap()
}

/// Returns a POST request that comes in now.
pub(crate) fn post<const N: usize>(headers: [(&str, &str); N], body: &'static [u8]) -> Arrival {
    let request = Request {
        method: "POST".to_owned(),
        path: String::new(),
        query: None,
        version: HttpVersion::Http11,
        headers: HeaderLines::from_pairs(headers).unwrap(),
        body: Bytes::from_static(body),
    };
    let received_at = MachineClock.now();
    Arrival { request, url: None, remote: None, received_at, via: Via::Direct, page: Page::default() }
}
