//! The connectors that come with this version.

use std::sync::{Arc, LazyLock};

use crate::connector::Connector;

const FILES: [(&str, &str); 4] = [
    ("fireflies", include_str!("../connectors/fireflies.toml")),
    ("github", include_str!("../connectors/github.toml")),
    ("mux", include_str!("../connectors/mux.toml")),
    ("stripe", include_str!("../connectors/stripe.toml")),
];

static CONNECTORS: LazyLock<Vec<Arc<Connector>>> = LazyLock::new(|| {
    FILES.iter().map(|(id, text)| Arc::new(read(id, text).expect("a test reads them"))).collect()
});

fn read(id: &str, text: &str) -> Result<Connector, toml::de::Error> {
    Ok(Connector { id: id.to_owned(), ..toml::from_str(text)? })
}

/// Returns the connector of the provider with that catalogue id.
pub fn connector(id: &str) -> Option<&'static Arc<Connector>> {
    CONNECTORS.iter().find(|connector| connector.id == id)
}

/// Returns the text of that connector's file, as a model for one of a user's own.
pub fn preset(id: &str) -> Option<&'static str> {
    FILES.iter().find(|(name, _)| *name == id).map(|(_, text)| *text)
}

/// Iterates over all connectors.
pub fn connectors() -> impl Iterator<Item = &'static Arc<Connector>> {
    CONNECTORS.iter()
}
