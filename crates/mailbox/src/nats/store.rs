//! What all parts of the store share, and its beginning and end.

use std::{sync::Arc, time::Duration};

use async_nats::jetstream::{self, stream::Stream};
use hookmitt_clock::Clock;
use tokio::sync::{Semaphore, watch};
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::TaskTracker,
};

use super::{
    NatsOptions,
    claims::Claims,
    clear::{self, Due},
    clock::SharedClock,
    follow::{self, Followed},
    held::Waiting,
    index::{Index, Known},
    names::Names,
    orphans::Orphans,
    records,
    registry::Registry,
    streams::{self, Maker},
    sweep,
    table::Table,
    unheard::Unheard,
};
use crate::{MailboxError, Usage};

/// The header line that says of a letter what the index needs.
pub(super) const LABEL: &str = "Hookmitt-Letter";

/// The header line that says when a letter was put, in store time. One of its own: relays of an earlier version read no
/// [`LABEL`] with more in it.
pub(super) const PUT_AT: &str = "Hookmitt-Put-At";

/// How many letters may be on their way to the servers.
const PUTS: usize = 8_192;

/// How long opening may take once nothing comes any more.
const LOADING: Duration = Duration::from_secs(300);

/// The mailboxes of relays beside each other, in NATS JetStream.
#[derive(Clone, Debug)]
pub struct NatsMailbox {
    pub(super) store: Arc<Store>,
    /// What runs beside it ends with the last handle.
    _end: Arc<DropGuard>,
}

/// The stream of one shard, and what is known of it.
#[derive(Debug)]
pub(super) struct Shard {
    pub(super) stream: Stream,
    pub(super) index: Index,
}

/// What all parts share.
#[derive(Debug)]
pub(super) struct Store {
    pub(super) client: async_nats::Client,
    pub(super) js: jetstream::Context,
    pub(super) names: Names,
    pub(super) shards: Vec<Shard>,
    pub(super) tunnels: Table,
    pub(super) cursors: Table,
    pub(super) clock: SharedClock,
    pub(super) registry: Registry,
    pub(super) waiting: Waiting,
    pub(super) unheard: Unheard,
    pub(super) claims: Claims,
    /// Whoever notes that a name is in use does so alone.
    pub(super) naming: tokio::sync::Mutex<()>,
    /// One permit a letter that is being put.
    pub(super) puts: Semaphore,
    pub(super) due: Due,
    pub(super) orphans: Orphans,
    pub(super) closing: CancellationToken,
    pub(super) tasks: TaskTracker,
    server: String,
}

impl NatsMailbox {
    /// Connects, makes what is missing, and reads what is there; time is what `machine` says.
    ///
    /// # Errors
    /// [`MailboxError::Open`].
    pub async fn open(options: &NatsOptions, machine: Arc<dyn Clock>) -> Result<Self, MailboxError> {
        let client = streams::connect(options).await?;
        let server = streams::check(&client, options)?;
        let js = follow::context(client.clone());
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
            waiting: Waiting::default(),
            unheard: Unheard::default(),
            claims: Claims::default(),
            naming: tokio::sync::Mutex::default(),
            puts: Semaphore::new(PUTS),
            due: Due::default(),
            orphans: Orphans::default(),
            closing: CancellationToken::new(),
            tasks: TaskTracker::new(),
            server,
        });
        let end = Arc::new(store.closing.clone().drop_guard());
        let mailbox = Self { store, _end: end };
        let load = mailbox.store.load([tunnel_stream, cursor_stream]);
        if !tokio::time::timeout(LOADING, load).await.unwrap_or_default() {
            mailbox.store.close().await;
            let why = "what it holds could not be read".to_owned();
            return Err(MailboxError::Open { store: options.shown(), why });
        }
        Ok(mailbox)
    }

    /// What a power cut of all servers at once may take, to be said at start.
    pub fn power_cut(&self) -> String {
        let server = &self.store.server;
        let old = server.split('.').map(|part| part.parse().unwrap_or(0)).take(2).lt([2_u32, 10]);
        let help = if old {
            format!("nats-server {server} can't do better: 2.10 and later can, with sync_interval: always")
        } else {
            format!("make sure that every server (here {server}) has jetstream {{ sync_interval: always }}")
        };
        format!("a power cut of the whole NATS cluster at once may lose the last letters; {help}")
    }
}

impl Store {
    /// Follows the buckets and then the shards; answers whether all that was there is known.
    async fn load(self: &Arc<Self>, buckets: [Stream; 2]) -> bool {
        // Cursors before letters: what every device has need not be kept.
        let followed = buckets.map(|stream| self.follow_bucket(stream));
        for caught_up in followed {
            if !follow::until_caught_up(caught_up).await {
                return false;
            }
        }
        let shards: Vec<_> = (0..self.names.shards()).map(|shard| self.follow_shard(shard)).collect();
        for caught_up in shards {
            if !follow::until_caught_up(caught_up).await {
                return false;
            }
        }
        for shard in &self.shards {
            for (tunnel, gone) in shard.index.loaded() {
                self.delete_later(&tunnel, gone);
            }
        }
        let (store, token) = (Arc::clone(self), self.closing.clone());
        self.tasks.spawn(async move { clear::clear_until(&store, token).await });
        let (store, token) = (Arc::clone(self), self.closing.clone());
        self.tasks.spawn(async move { sweep::write_counts_until(&store, token).await });
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
            for tunnel in store.registry.learn(key, &message.payload, revision) {
                store.learned(&tunnel);
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
            // What a relay of an earlier version put counts from when it is seen here first.
            let put_at = line(PUT_AT).and_then(|at| at.parse().ok());
            let put_at = put_at.unwrap_or_else(|| store.clock.now().store);
            let known = Known { bytes, received_at, put_at, in_parts: in_parts.map(Into::into) };
            store.shards[usize::from(number)].index.seen(&tunnel, position, known);
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

    /// The shard in which a tunnel's mailbox is.
    pub(super) fn shard(&self, tunnel: &str) -> &Shard {
        &self.shards[usize::from(self.names.shard(tunnel))]
    }

    /// Whether the store is open still.
    pub(super) fn check_open(&self) -> Result<(), MailboxError> {
        if self.closing.is_cancelled() { Err(MailboxError::Closed) } else { Ok(()) }
    }

    /// Whether the cluster answers for its streams.
    pub(super) async fn check_cluster(&self) -> Result<(), MailboxError> {
        for shard in &self.shards {
            let asked = shard.stream.get_info().await;
            asked.map_err(|error| MailboxError::Failed(error.to_string()))?;
        }
        Ok(())
    }

    pub(super) fn usage(&self) -> Usage {
        let mut usage = Usage { tunnels: self.registry.open_tunnels().len() as u64, ..Usage::default() };
        for shard in &self.shards {
            let total = shard.index.total();
            usage.letters += total.letters;
            usage.bytes += total.bytes;
            usage.oldest = [usage.oldest, total.oldest].into_iter().flatten().min();
        }
        usage
    }

    /// Ends what is under way. What was acknowledged is with the servers already.
    pub(super) async fn close(&self) {
        self.closing.cancel();
        self.tasks.close();
        // Bounded: a cluster that is down must not hold up the end.
        let _late = tokio::time::timeout(Duration::from_secs(5), self.tasks.wait()).await;
        let _late = tokio::time::timeout(Duration::from_secs(2), self.client.drain()).await;
    }
}
