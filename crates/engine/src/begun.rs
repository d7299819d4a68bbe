//! What tests of this crate begin with.

use std::{path::Path, sync::Arc};

use bytes::Bytes;
use hookmitt_clock::{Clock, MachineClock};
use hookmitt_event::{HeaderLines, HttpVersion, Request, Slug, Via};

use crate::{
    Engine, Network, Resources, SourceChange, StoreChoice,
    judging::{Arrival, Page},
    settings::ConfiguredSource,
};

/// An engine on that folder, which asks no keychain.
pub(crate) async fn engine(folder: &Path) -> Arc<Engine> {
    engine_by(folder, Arc::new(MachineClock)).await
}

/// As [`engine`], by that clock.
pub(crate) async fn engine_by(folder: &Path, clock: Arc<dyn Clock>) -> Arc<Engine> {
    let (data_dir, secrets) = (folder.to_owned(), StoreChoice::File);
    let network = Network::default();
    Engine::open(Resources { data_dir, secrets, network, clock }).await.unwrap()
}

/// A source without settings, and what is known of it.
pub(crate) async fn source(engine: &Engine, slug: &str) -> Arc<ConfiguredSource> {
    let slug: Slug = slug.parse().unwrap();
    engine.sources.add(slug.clone(), SourceChange::default()).await.unwrap();
    engine.settings.source(&slug).unwrap()
}

/// A POST that comes in now.
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
