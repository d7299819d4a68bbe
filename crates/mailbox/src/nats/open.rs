//! Opens the store: connects, creates what is missing, reads what is there, and follows what arrives.

use std::{sync::Arc, time::Duration};

use async_nats::jetstream::{self, stream::Stream};
use hookmitt_clock::Clock;
use tokio::sync::{Semaphore, watch};
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::TaskTracker,
};

use super::{
    NatsOptions, acks,
    clock::SharedClock,
    connection,
    counts::Counts,
    due::Due,
    held::HeldSenders,
    index::{Entry, Index},
    names::{Key, Names},
    records::{self, LABEL, PUT_AT},
    registry::Registry,
    store::{Lookups, Shard, Store},
    streams::{Followed, Maker, until_caught_up},
    sweep::Orphans,
    tokens::Reservations,
};
use crate::MailboxError;

/// How many letters may be in the process of being put at once.
const PUTS: usize = 8_192;

/// How long loading the existing contents may take when the store is opened.
const LOADING: Duration = Duration::from_secs(300);

/// Mailboxes in NATS JetStream, shared by several relays.
#[derive(Clone, Debug)]
pub struct NatsMailbox {
    pub(super) store: Arc<Store>,
    pub(super) senders: HeldSenders,
    pub(super) reservations: Arc<Reservations>,
    pub(super) orphans: Arc<Orphans>,
    /// Stops the background tasks when the last clone is dropped.
    _end: Arc<DropGuard>,
}

impl NatsMailbox {
    /// Connects, creates what is missing, and reads what is there. `machine` is the machine's clock.
    ///
    /// # Errors
    /// Returns [`MailboxError::Open`] if the servers can't be reached or used, or their contents can't be read in time.
    pub async fn open(options: &NatsOptions, machine: Arc<dyn Clock>) -> Result<Self, MailboxError> {
        let client = connection::connect(options).await?;
        let server = connection::check(&client, options)?;
        let js = connection::context(client.clone());
        let maker = Maker { js: &js, options };
        let names = Names::new(&options.prefix, 1);
        let (tunnels, tunnel_stream) = maker.bucket(&names.tunnels()).await?;
        let (cursors, cursor_stream) = maker.bucket(&names.cursors()).await?;
        let names = Names::new(&options.prefix, maker.shards(&tunnels).await?);
        let clock = maker.open(SharedClock::open(&cursors, machine).await)?;
        let mut shards = Vec::new();
        for shard in 0..names.shards() {
            shards.push(Shard { stream: maker.shard(&names, shard).await?, index: Index::default() });
        }
        let store = Arc::new(Store {
            client,
            js,
            names,
            shards,
            tunnels,
            cursors,
            clock,
            registry: Registry::default(),
            counts: Counts::default(),
            lookups: Lookups::default(),
            naming: tokio::sync::Mutex::default(),
            puts: Semaphore::new(PUTS),
            due: Due::default(),
            closing: CancellationToken::new(),
            tasks: TaskTracker::new(),
            server,
        });
        let end = Arc::new(store.closing.clone().drop_guard());
        let mailbox = Self {
            store,
            senders: HeldSenders::default(),
            reservations: Arc::default(),
            orphans: Arc::default(),
            _end: end,
        };
        let load = mailbox.store.load([tunnel_stream, cursor_stream]);
        if !tokio::time::timeout(LOADING, load).await.unwrap_or_default() {
            mailbox.store.close().await;
            let why = "its content could not be read".to_owned();
            return Err(MailboxError::Open { store: options.shown(), why });
        }
        Ok(mailbox)
    }

    /// Returns a warning, for the relay's start, about what a power cut of all servers at once may lose.
    pub fn power_cut(&self) -> String {
        let server = &self.store.server;
        let old = server.split('.').map(|part| part.parse().unwrap_or(0)).take(2).lt([2_u32, 10]);
        let help = if old {
            format!("nats-server {server} can't prevent this; 2.10 and later can, with sync_interval: always")
        } else {
            format!(
                "to prevent this, set jetstream {{ sync_interval: always }} on every server (here {server})"
            )
        };
        format!("a power cut of the whole NATS cluster at once may lose the latest events; {help}")
    }
}

impl Store {
    /// Follows the buckets and then the shards. Returns whether everything that was there has been read.
    async fn load(self: &Arc<Self>, buckets: [Stream; 2]) -> bool {
        // Cursors before letters, so that letters which every device has are not kept in the index.
        let followed = buckets.map(|stream| self.follow_bucket(stream));
        for caught_up in followed {
            if !until_caught_up(caught_up).await {
                return false;
            }
        }
        let shards: Vec<_> = (0..self.names.shards()).map(|shard| self.follow_shard(shard)).collect();
        for caught_up in shards {
            if !until_caught_up(caught_up).await {
                return false;
            }
        }
        for shard in &self.shards {
            for (tunnel, unwanted) in shard.index.loaded() {
                self.due.give_up(&tunnel, || unwanted);
            }
        }
        let (store, token) = (Arc::clone(self), self.closing.clone());
        self.tasks.spawn(async move { acks::clear_until(&store, token).await });
        let (store, token) = (Arc::clone(self), self.closing.clone());
        self.tasks.spawn(async move { store.counts.write_until(&store.cursors, token).await });
        true
    }

    fn follow_bucket(self: &Arc<Self>, stream: Stream) -> watch::Receiver<bool> {
        let prefix = format!("$KV.{}.", stream.cached_info().config.name.trim_start_matches("KV_"));
        let store = Arc::downgrade(self);
        let apply = move |revision: u64, message: &jetstream::Message| {
            let (Some(store), Some(key)) = (store.upgrade(), message.subject.strip_prefix(prefix.as_str()))
            else {
                return;
            };
            let Some(key) = Key::parse(key) else { return };
            if key.kind == "count" {
                return store.counts.learn(&key, &message.payload, revision);
            }
            for tunnel in store.registry.learn(&key, &message.payload, revision) {
                acks::forget_unwanted(&store, &tunnel);
            }
        };
        self.follow(stream, ">".to_owned(), false, apply)
    }

    fn follow_shard(self: &Arc<Self>, number: u16) -> watch::Receiver<bool> {
        let store = Arc::downgrade(self);
        let apply = move |position: u64, message: &jetstream::Message| {
            let Some(store) = store.upgrade() else { return };
            let line = |name| Some(message.headers.as_ref()?.get(name)?.as_str());
            let label = line(LABEL).and_then(records::read_label);
            let (Some((received_at, bytes)), Some((tunnel, in_parts))) =
                (label, store.names.in_box(&message.subject))
            else {
                return;
            };
            // A letter that a relay of an earlier version put ages from when this relay first sees it.
            let put_at = line(PUT_AT).and_then(|at| at.parse().ok());
            let put_at = put_at.unwrap_or_else(|| store.clock.now().store);
            let entry = Entry { bytes, received_at, put_at, in_parts: in_parts.map(Into::into) };
            store.shards[usize::from(number)].index.seen(&tunnel, position, entry);
        };
        self.follow(self.shards[usize::from(number)].stream.clone(), self.names.boxes(number), true, apply)
    }

    fn follow(
        &self,
        stream: Stream,
        filter: String,
        is_letters: bool,
        apply: impl FnMut(u64, &jetstream::Message) + Send + 'static,
    ) -> watch::Receiver<bool> {
        let (caught_up, receiver) = watch::channel(false);
        let client = self.client.clone();
        let followed = Followed { client, stream, filter, headers_only: is_letters, last_only: !is_letters };
        self.tasks.spawn(followed.run(apply, caught_up, self.closing.clone()));
        receiver
    }
}
