//! Places for stores: one for each test, on servers that all tests of this process share.

use std::sync::{
    OnceLock,
    atomic::{AtomicU32, Ordering},
};

use hookmitt_mailbox::{NatsMailbox, NatsOptions};

use crate::{
    contract::Maker,
    servers::{self, Cluster},
    skip,
};

/// A store of its own: other streams and keys than any other.
pub(crate) struct Place {
    url: String,
    prefix: String,
}

impl Place {
    /// On the cluster of three that all tests share. `None`: NATS is missing, and that is written down.
    pub(crate) fn on_three_nodes() -> Option<Self> {
        static CLUSTER: OnceLock<Cluster> = OnceLock::new();
        let program = program()?;
        let cluster = CLUSTER.get_or_init(|| Cluster::start(&program, 3));
        Some(Self::on(&cluster.url()))
    }

    /// On these servers.
    pub(crate) fn on(url: &str) -> Self {
        static PLACES: AtomicU32 = AtomicU32::new(0);
        let prefix = format!("test-{}", PLACES.fetch_add(1, Ordering::Relaxed));
        Self { url: url.to_owned(), prefix }
    }

    /// The URL of the store; two shards show what several show.
    pub(crate) fn store_url(&self) -> String {
        format!("{}?prefix={}&shards=2", self.url, self.prefix)
    }
}

impl Maker for Place {
    type Store = NatsMailbox;

    async fn open(&self) -> NatsMailbox {
        NatsMailbox::open(&NatsOptions::from_url(&self.store_url()).unwrap()).await.unwrap()
    }
}

/// The server's program. `None`: it is missing, and that is written down.
pub(crate) fn program() -> Option<std::path::PathBuf> {
    let program = servers::server();
    if program.is_none() {
        skip::lacking("nats-server", "apt-get install nats-server");
    }
    program
}
