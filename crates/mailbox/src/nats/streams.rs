//! Connecting, and making the streams and buckets where they are missing.

use std::time::Duration;

use async_nats::{
    Client, ConnectOptions,
    jetstream::{
        self, ErrorCode,
        context::CreateStreamErrorKind,
        stream::{Config, DiscardPolicy, RetentionPolicy, StorageType, Stream},
    },
};

use super::{
    NatsOptions,
    failure::{Trouble, keep_trying},
    names::{Names, SETTINGS},
    records::{Settings, VERSION},
    table::{Next, Table},
};
use crate::MailboxError;

/// How long a cluster may take to come up.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long the servers remember a letter's name, so that a second try doubles nothing.
const TWICE: Duration = Duration::from_secs(60);

/// The largest message that is sent, with its head. A server that takes less is no use.
const LARGEST: usize = 640 * 1024;

pub(super) async fn connect(options: &NatsOptions) -> Result<Client, MailboxError> {
    let unusable = |why: String| MailboxError::Open { store: options.shown(), why };
    let mut connect = ConnectOptions::new()
        .name("hookmitt relay")
        .connection_timeout(Duration::from_secs(5))
        .ping_interval(Duration::from_secs(5))
        .request_timeout(Some(Duration::from_secs(3)))
        // A node that is back is found again soon, and no node is asked in a storm.
        .reconnect_delay_callback(|attempts| Duration::from_millis(100 * attempts.min(10) as u64))
        .subscription_capacity(256 * 1024);
    if let Some(file) = &options.credentials {
        let read = tokio::fs::read_to_string(file).await;
        let text = read.map_err(|error| unusable(format!("{}: {error}", file.display())))?;
        connect = connect.credentials(&text).map_err(|error| unusable(error.to_string()))?;
    }
    if let Some(file) = &options.ca {
        connect = connect.add_root_certificates(file.clone());
    }
    connect.connect(&options.servers).await.map_err(|error| unusable(error.to_string()))
}

/// The version of the server, and what it takes.
pub(super) fn check(client: &Client, options: &NatsOptions) -> Result<String, MailboxError> {
    let info = client.server_info();
    if info.max_payload < LARGEST {
        let why = format!(
            "the server takes {} bytes a message; {LARGEST} are needed (max_payload)",
            info.max_payload
        );
        return Err(MailboxError::Open { store: options.shown(), why });
    }
    Ok(info.version)
}

/// Makes what is missing. Answers how many shards there are.
pub(super) struct Maker<'o> {
    pub(super) js: &'o jetstream::Context,
    pub(super) options: &'o NatsOptions,
}

impl Maker<'_> {
    /// A bucket. `create_key_value` asks for what servers before 2.10 don't know, so the stream behind it is made here.
    pub(super) async fn bucket(&self, bucket: &str) -> Result<(Table, Stream), MailboxError> {
        let config = Config {
            name: format!("KV_{bucket}"),
            subjects: vec![format!("$KV.{bucket}.>")],
            max_messages_per_subject: 1,
            discard: DiscardPolicy::New,
            allow_rollup: true,
            // All reading is at the leader, so that what was written by another relay is seen.
            allow_direct: false,
            ..common()
        };
        let stream = self.stream(config).await?;
        let store =
            keep_trying(PATIENCE, || async { self.js.get_key_value(bucket).await.map_err(Trouble::passing) });
        Ok((Table::new(self.open(store.await)?), stream))
    }

    /// The stream of a shard.
    pub(super) async fn shard(&self, names: &Names, shard: u16) -> Result<Stream, MailboxError> {
        let subjects = vec![names.boxes(shard), names.all_parts(shard)];
        // Letters are read by position from whichever replica has them.
        let config = Config {
            name: names.stream(shard),
            subjects,
            allow_direct: true,
            duplicate_window: TWICE,
            ..common()
        };
        self.stream(config).await
    }

    /// Over how many shards the store is spread: as it was made.
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

    /// What could not be done at opening, as such.
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
