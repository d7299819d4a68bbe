//! Streams and buckets: created if they are missing, and followed from their beginning. Following survives lost
//! connections and nodes, and yields each message once, in order.

use std::time::Duration;

use async_nats::jetstream::{
    self, ErrorCode, Message,
    consumer::{AckPolicy, DeliverPolicy, push},
    context::CreateStreamErrorKind,
    stream::{Config, DiscardPolicy, RetentionPolicy, StorageType, Stream},
};
use futures_util::StreamExt as _;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{
    NatsOptions,
    names::{Names, SETTINGS},
    records::{Settings, VERSION},
    servers::{Trouble, keep_trying},
    table::{Next, Table},
};
use crate::MailboxError;

/// How long a cluster may take to come up.
const PATIENCE: Duration = Duration::from_secs(30);

/// For how long the servers remember a letter's message id, so that a retry stores no second copy.
const TWICE: Duration = Duration::from_secs(60);

/// How often a consumer sends a heartbeat. A consumer that is silent for twice as long is gone.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// After this long without a message, the consumer is asked whether everything was delivered.
const SILENCE: Duration = Duration::from_millis(500);

/// The pause before a lost consumer is created anew.
const PAUSE: Duration = Duration::from_millis(200);

/// Creates missing buckets and streams.
pub(super) struct Maker<'o> {
    pub(super) js: &'o jetstream::Context,
    pub(super) options: &'o NatsOptions,
}

impl Maker<'_> {
    /// Returns a bucket, creating it if it is missing. Its stream is created here, because `create_key_value` asks for
    /// features that servers before 2.10 don't know.
    pub(super) async fn bucket(&self, bucket: &str) -> Result<(Table, Stream), MailboxError> {
        let config = Config {
            name: format!("KV_{bucket}"),
            subjects: vec![format!("$KV.{bucket}.>")],
            max_messages_per_subject: 1,
            discard: DiscardPolicy::New,
            allow_rollup: true,
            // All reads go to the leader, so that what another relay wrote is seen.
            allow_direct: false,
            ..common()
        };
        let stream = self.stream(config).await?;
        let store =
            keep_trying(PATIENCE, || async { self.js.get_key_value(bucket).await.map_err(Trouble::passing) });
        Ok((Table::new(self.open(store.await)?), stream))
    }

    /// Returns the stream of a shard, creating it if it is missing.
    pub(super) async fn shard(&self, names: &Names, shard: u16) -> Result<Stream, MailboxError> {
        let subjects = vec![names.boxes(shard), names.all_parts(shard)];
        // `allow_direct`, because letters are read by position from any replica that has them.
        let config = Config {
            name: names.stream(shard),
            subjects,
            allow_direct: true,
            duplicate_window: TWICE,
            ..common()
        };
        self.stream(config).await
    }

    /// Returns over how many shards the store is spread: the number with which it was created.
    pub(super) async fn shards(&self, tunnels: &Table) -> Result<u16, MailboxError> {
        let wanted = Settings { version: VERSION, shards: self.options.shards };
        let settled = tunnels.change(SETTINGS.to_owned(), None, 0, |found: Option<&Settings>| {
            Ok(match found {
                Some(found) => (Next::Keep, found.clone()),
                None => (Next::Write(wanted.clone()), wanted.clone()),
            })
        });
        let (_, settings) = self.open(settled.await)?;
        if settings.version != VERSION {
            let why = format!("it was written by a newer hookmitt (layout {})", settings.version);
            return Err(self.unusable(why));
        }
        Ok(settings.shards)
    }

    async fn stream(&self, config: Config) -> Result<Stream, MailboxError> {
        self.open(keep_trying(PATIENCE, || self.try_stream(&config)).await)
    }

    async fn try_stream(&self, config: &Config) -> Result<Stream, Trouble> {
        if let Ok(stream) = self.js.get_stream(&config.name).await {
            return Ok(stream);
        }
        let replicas = self.options.replicas.unwrap_or(3);
        let refusal = match self.js.create_stream(Config { num_replicas: replicas, ..config.clone() }).await {
            Ok(stream) => return Ok(stream),
            Err(refusal) => refusal,
        };
        let alone = matches!(refusal.kind(), CreateStreamErrorKind::JetStream(error)
            if error.error_code() == ErrorCode::STREAM_REPLICAS_NOT_SUPPORTED);
        if !alone || self.options.replicas.is_some() {
            return Err(Trouble::passing(refusal));
        }
        let config = Config { num_replicas: 1, ..config.clone() };
        self.js.create_stream(config).await.map_err(Trouble::passing)
    }

    /// Turns a failure into [`MailboxError::Open`], because the store is being opened.
    pub(super) fn open<T>(&self, result: Result<T, MailboxError>) -> Result<T, MailboxError> {
        result.map_err(|error| match error {
            MailboxError::Failed(why) => self.unusable(why),
            other => other,
        })
    }

    fn unusable(&self, why: String) -> MailboxError {
        MailboxError::Open { store: self.options.shown(), why }
    }
}

fn common() -> Config {
    Config {
        retention: RetentionPolicy::Limits,
        storage: StorageType::File,
        max_messages: -1,
        max_bytes: -1,
        max_consumers: -1,
        ..Config::default()
    }
}

/// A stream to follow, and how.
pub(super) struct Followed {
    pub(super) client: async_nats::Client,
    pub(super) stream: Stream,
    /// The filter of subjects.
    pub(super) filter: String,
    /// Whether messages come without their bodies.
    pub(super) headers_only: bool,
    /// Whether to start with only the last message of each subject.
    pub(super) last_only: bool,
}

impl Followed {
    /// Follows the stream until `stop`. `caught_up` becomes true once `apply` has seen everything that was there at the
    /// beginning. The consumer is ephemeral and in memory, so it leaves nothing behind.
    pub(super) async fn run(
        self,
        mut apply: impl FnMut(u64, &Message),
        caught_up: watch::Sender<bool>,
        stop: CancellationToken,
    ) {
        let mut last = None;
        while !stop.is_cancelled() {
            let round = self.round(&mut last, &mut apply, &caught_up);
            let lost = stop.run_until_cancelled(round).await;
            if let Some(Err(why)) = lost {
                tracing::debug!(filter = self.filter, why, "following anew");
            }
            stop.run_until_cancelled(tokio::time::sleep(PAUSE)).await;
        }
    }

    /// Runs one consumer until it is lost.
    async fn round(
        &self,
        last: &mut Option<u64>,
        apply: &mut impl FnMut(u64, &Message),
        caught_up: &watch::Sender<bool>,
    ) -> Result<(), String> {
        let mut consumer =
            self.stream.create_consumer(self.config(*last)).await.map_err(|error| error.to_string())?;
        if consumer.cached_info().num_pending == 0 {
            caught_up.send_replace(true);
        }
        let mut messages = consumer.messages().await.map_err(|error| error.to_string())?;
        let mut expected = 1;
        loop {
            // Letters that are deleted meanwhile are never delivered: the last delivered message may have said that
            // others were still pending.
            let Ok(message) = tokio::time::timeout(SILENCE, messages.next()).await else {
                if !*caught_up.borrow() {
                    let info = consumer.info().await.map_err(|error| error.to_string())?;
                    let is_all = info.num_pending == 0 && info.delivered.consumer_sequence < expected;
                    caught_up.send_if_modified(|done| std::mem::replace(done, is_all) != is_all);
                }
                continue;
            };
            let Some(message) = message else { return Err("the subscription ended".to_owned()) };
            let message = message.map_err(|error| error.to_string())?;
            let info = message.info().map_err(|error| error.to_string())?;
            if info.consumer_sequence != expected {
                return Err(format!("message {} came instead of {expected}", info.consumer_sequence));
            }
            let (position, pending) = (info.stream_sequence, info.pending);
            apply(position, &message);
            *last = Some(position);
            expected += 1;
            if pending == 0 && !*caught_up.borrow() {
                caught_up.send_replace(true);
            }
        }
    }

    fn config(&self, last: Option<u64>) -> push::Config {
        let deliver_policy = match last {
            Some(last) => DeliverPolicy::ByStartSequence { start_sequence: last + 1 },
            None if self.last_only => DeliverPolicy::LastPerSubject,
            None => DeliverPolicy::All,
        };
        push::Config {
            deliver_subject: self.client.new_inbox(),
            deliver_policy,
            ack_policy: AckPolicy::None,
            filter_subject: self.filter.clone(),
            headers_only: self.headers_only,
            flow_control: true,
            idle_heartbeat: HEARTBEAT,
            num_replicas: 1,
            memory_storage: true,
            ..push::Config::default()
        }
    }
}

/// Waits until everything that was there at the beginning is known. Returns false if following ended before that.
pub(super) async fn until_caught_up(mut caught_up: watch::Receiver<bool>) -> bool {
    caught_up.wait_for(|&done| done).await.is_ok()
}
