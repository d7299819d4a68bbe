//! Stores for tests: one for each test, on servers that all tests of this process share.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use async_nats::{
    HeaderMap,
    jetstream::{self, stream::Stream},
};
use futures_util::StreamExt as _;
use hookmitt_clock::HandClock;
use hookmitt_mailbox::{MailboxError, NatsMailbox, NatsOptions};

use crate::{
    contract::{self, Maker},
    servers::{self, Cluster},
    skip,
};

/// A store with its own prefix, so that its streams and keys are separate from all others.
pub(crate) struct Place {
    url: String,
    prefix: String,
    clock: HandClock,
}

impl Place {
    /// Returns a store on the cluster of three nodes that all tests share. `None` if NATS is missing, which is then
    /// reported.
    pub(crate) fn on_three_nodes() -> Option<Self> {
        static CLUSTER: OnceLock<Cluster> = OnceLock::new();
        let program = program()?;
        let cluster = CLUSTER.get_or_init(|| Cluster::start(&program, 3));
        Some(Self::on(&cluster.url()))
    }

    /// Returns a store on these servers.
    pub(crate) fn on(url: &str) -> Self {
        static PLACES: AtomicU32 = AtomicU32::new(0);
        let prefix = format!("test-{}", PLACES.fetch_add(1, Ordering::Relaxed));
        Self { url: url.to_owned(), prefix, clock: contract::clock() }
    }

    /// Tries to open the store.
    pub(crate) async fn try_open(&self) -> Result<NatsMailbox, MailboxError> {
        let machine = Arc::new(self.clock.clone());
        NatsMailbox::open(&NatsOptions::from_url(&self.store_url())?, machine).await
    }

    /// Opens the store on a machine with another clock.
    pub(crate) async fn open_at(&self, clock: &HandClock) -> NatsMailbox {
        let options = NatsOptions::from_url(&self.store_url()).unwrap();
        NatsMailbox::open(&options, Arc::new(clock.clone())).await.unwrap()
    }

    /// Returns how many messages there are in the streams of letters.
    pub(crate) async fn messages(&self) -> u64 {
        let mut messages = 0;
        for stream in self.streams().await {
            messages += stream.get_info().await.unwrap().state.messages;
        }
        messages
    }

    /// Returns whether all replicas of all streams are there and have everything.
    pub(crate) async fn is_current(&self) -> bool {
        for stream in self.streams().await {
            let Ok(info) = stream.get_info().await else { return false };
            let replicas = info.cluster.map(|cluster| cluster.replicas).unwrap_or_default();
            if replicas.len() != 2 || replicas.iter().any(|replica| !replica.current || replica.offline) {
                return false;
            }
        }
        true
    }

    /// Deletes the manifests of letters in parts, and nothing else.
    pub(crate) async fn delete_manifests(&self) {
        for (number, stream) in self.streams().await.iter().enumerate() {
            stream.purge().filter(format!("{}.box.{number}.*.m.>", self.prefix)).await.unwrap();
        }
    }

    /// Returns how many locks are held.
    pub(crate) async fn locks(&self) -> usize {
        let bucket = format!("{}_tunnels", self.prefix);
        let stream = self.jetstream().await.get_stream_no_info(format!("KV_{bucket}")).await.unwrap();
        stream.info_with_subjects(format!("$KV.{bucket}.lock.>")).await.unwrap().count().await
    }

    /// Writes the settings of the store.
    pub(crate) async fn set_settings(&self, settings: &'static str) {
        let js = self.jetstream().await;
        let written =
            js.publish(format!("$KV.{}_tunnels.settings", self.prefix), settings.into()).await.unwrap();
        written.await.unwrap();
    }

    /// Rewrites all letters and devices as a relay would have written them that did not know the store's clock.
    pub(crate) async fn forget_store_times(&self) {
        let js = self.jetstream().await;
        for (number, stream) in self.streams().await.iter().enumerate() {
            let state = stream.get_info().await.unwrap().state;
            for position in state.first_sequence.max(1)..=state.last_sequence {
                let letter = stream.get_raw_message(position).await.unwrap();
                assert!(stream.delete_message(position).await.unwrap());
                let label = letter.headers.get("Hookmitt-Letter").expect("a label").clone();
                let mut headers = HeaderMap::new();
                headers.insert("Hookmitt-Letter", label);
                assert!(letter.subject.starts_with(&format!("{}.box.{number}.", self.prefix)));
                js.publish_with_headers(letter.subject, headers, letter.payload)
                    .await
                    .unwrap()
                    .await
                    .unwrap();
            }
        }
        let cursors = js.get_stream_no_info(format!("KV_{}_cursors", self.prefix)).await.unwrap();
        cursors.purge().await.unwrap();
    }

    /// Deletes the second part of each letter in parts.
    pub(crate) async fn delete_second_parts(&self) {
        for (number, stream) in self.streams().await.iter().enumerate() {
            stream.purge().filter(format!("{}.part.{number}.*.*.1", self.prefix)).await.unwrap();
        }
    }

    /// Writes the manifests of letters in parts again in a form that relays don't recognise, so that to them the
    /// manifests have not come yet.
    pub(crate) async fn hide_manifests(&self) {
        let js = self.jetstream().await;
        for (number, stream) in self.streams().await.iter().enumerate() {
            let manifests = format!("{}.box.{number}.*.m.>", self.prefix);
            let Ok(manifest) = stream.get_last_raw_message_by_subject(&manifests).await else { continue };
            stream.purge().filter(manifests).await.unwrap();
            js.publish(manifest.subject, manifest.payload).await.unwrap().await.unwrap();
        }
    }

    async fn streams(&self) -> Vec<Stream<()>> {
        let js = self.jetstream().await;
        let names = [0, 1].map(|shard| format!("{}_box_{shard}", self.prefix));
        let mut streams = Vec::new();
        for name in names {
            streams.push(js.get_stream_no_info(name).await.unwrap());
        }
        streams
    }

    async fn jetstream(&self) -> jetstream::Context {
        let servers: Vec<_> = self.url.trim_start_matches("nats://").split(',').collect();
        jetstream::new(async_nats::connect(servers).await.unwrap())
    }

    /// Returns the URL of the store. Two shards are enough to show the effects of several.
    pub(crate) fn store_url(&self) -> String {
        format!("{}?prefix={}&shards=2", self.url, self.prefix)
    }
}

impl Maker for Place {
    type Store = NatsMailbox;

    fn clock(&self) -> &HandClock {
        &self.clock
    }

    async fn open(&self) -> NatsMailbox {
        self.try_open().await.unwrap()
    }
}

impl Drop for Place {
    /// Deletes the streams, because the servers keep each of them running as long as it exists.
    fn drop(&mut self) {
        let (url, prefix) = (self.url.clone(), self.prefix.clone());
        let deleted = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                tokio::time::timeout(Duration::from_secs(10), delete(&url, &prefix)).await
            })
        });
        drop(deleted.join());
    }
}

async fn delete(url: &str, prefix: &str) {
    let servers: Vec<_> = url.trim_start_matches("nats://").split(',').collect();
    let Ok(client) = async_nats::connect(servers).await else { return };
    let js = jetstream::new(client);
    for stream in ["box_0", "box_1"].map(|name| format!("{prefix}_{name}")) {
        drop(js.delete_stream(stream).await);
    }
    for bucket in ["tunnels", "cursors"] {
        drop(js.delete_stream(format!("KV_{prefix}_{bucket}")).await);
    }
}

/// Returns the path of the server's program. `None` if it is missing, which is then reported.
pub(crate) fn program() -> Option<std::path::PathBuf> {
    let program = servers::server();
    if program.is_none() {
        skip::lacking("nats-server", "apt-get install nats-server");
    }
    program
}
