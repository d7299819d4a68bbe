//! Following a stream from its beginning, through lost connections and nodes: each message once, in order.

use std::time::Duration;

use async_nats::jetstream::{
    self, Message,
    consumer::{AckPolicy, DeliverPolicy, push},
    stream::Stream,
};
use futures_util::StreamExt as _;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// A consumer that says nothing for twice this is gone.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// How long nothing comes before it is asked whether that was all.
const SILENCE: Duration = Duration::from_millis(500);

/// The pause before a lost consumer is made anew.
const PAUSE: Duration = Duration::from_millis(200);

/// What is followed, and how.
pub(super) struct Followed {
    pub(super) client: async_nats::Client,
    pub(super) stream: Stream,
    /// The subjects.
    pub(super) filter: String,
    /// Without bodies.
    pub(super) headers_only: bool,
    /// Only the last message of each subject, to begin with.
    pub(super) last_only: bool,
}

impl Followed {
    /// Follows until `stop`; `caught_up` becomes true as soon as `apply` has seen what was there at the beginning. The
    /// consumer is an ephemeral one in memory: nothing of it is left at rest.
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

    /// One consumer, until it is lost.
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
            // Letters that are deleted meanwhile never come: the last that did may have had others behind it.
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

/// Waits until everything that was there is known.
pub(super) async fn until_caught_up(mut caught_up: watch::Receiver<bool>) -> bool {
    caught_up.wait_for(|&done| done).await.is_ok()
}

/// The JetStream context by which all is asked: nobody waits longer than this for one answer.
pub(super) fn context(client: async_nats::Client) -> jetstream::Context {
    jetstream::ContextBuilder::new().timeout(Duration::from_secs(3)).max_ack_inflight(20_000).build(client)
}
