//! Live changes as an event stream. The page reads it with fetch, because an EventSource cannot send a token.

use std::{collections::VecDeque, convert::Infallible, sync::Arc, time::Duration};

use axum::{
    extract::State,
    response::sse::{Event as Frame, KeepAlive, Sse},
};
use futures_util::{Stream, stream};
use hookmitt_engine::{Change, Engine, Filter};
use hookmitt_event::{DeliveryId, EventId, Slug, Timestamp, Verdict, Via};
use serde::{Deserialize, Serialize};
use tokio::sync::broadcast::{Receiver, error::RecvError};

use crate::{
    Problem, delivery_json::DeliveryJson, event_json::EventJson, glances::Glances, input::Asked,
    jobs::JobJson, refusals::RefusedJson, wanted::Wanted,
};

/// Where a stream begins, and what it contains.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[serde(default, deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Since {
    /// Send the events after this sequence number first. Without it, the stream has only what happens from now on.
    after: Option<i64>,
    /// For a log that people read: if more events come than a person could read, some are left out, and `skipped` says
    /// how many.
    brief: bool,
    /// Send each `event` with its glance, and send it again when its glance changes. There are no `delivery` frames
    /// then. Of quick changes, only the latest state is sent.
    glance: bool,
    /// What to search for, in the search language: only events that are found are sent. If a new or changed event is not
    /// found (any more), the stream sends `unmatched`.
    q: Option<String>,
    /// Only events of this source.
    source: Option<String>,
    /// Only events of this view.
    view: Option<String>,
    /// Without the duplicates that fold and whose first event is found.
    fold: bool,
}

impl Since {
    /// Returns the filter, or `None` if all events are wanted.
    fn filter(&self) -> Result<Option<Filter>, Problem> {
        let wanted = Wanted::of(self.q.clone(), self.source.clone(), self.view.clone(), self.fold);
        let filter = wanted.filter()?;
        let is_all =
            filter.query.is_empty() && filter.source.is_none() && filter.view.is_none() && !filter.fold;
        Ok((!is_all).then_some(filter))
    }
}

/// An event that was stored or changed and is not in the list (any more): what counts beyond the list.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Unmatched {
    #[schema(value_type = String, format = "uuid")]
    id: EventId,
    seq: i64,
    source: Slug,
    /// The catalogue id of the provider.
    provider: Option<String>,
    #[schema(value_type = String, format = "date-time")]
    received_at: Timestamp,
    via: Via,
}

impl From<EventJson> for Unmatched {
    fn from(event: EventJson) -> Self {
        let EventJson { id, seq, source, provider, received_at, via, .. } = event;
        Self { id, seq, source, provider, received_at, via }
    }
}

/// A delivery whose state changed.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct DeliveryMoved {
    #[schema(value_type = String, format = "uuid")]
    event_id: EventId,
    seq: i64,
    source: Slug,
    r#type: Option<String>,
    verdict: Verdict,
    /// The raw path of the event's request after the slug.
    path: String,
    delivery: DeliveryJson,
}

/// Streams changes as server-sent events.
///
/// `event`: an event that was stored or changed. `unmatched`: an event that did so and isn't wanted (any more).
/// `delivery`: a delivery that changed. `refused`: a request that was refused. `config`: settings changed. `tunnel`: a
/// tunnel that changed. `gap`: a gap that ended. `job`: a job that changed. `skipped`: how many events a brief stream
/// left out. `lagged`: the reader fell behind and missed `missed` changes, so it should load everything again.
#[utoipa::path(get, path = "/api/live", params(Since), responses((status = 200, body = EventJson, content_type = "text/event-stream"), (status = 400, body = Problem)))]
pub(crate) async fn live(
    State(engine): State<Arc<Engine>>,
    Asked(since): Asked<Since>,
) -> Result<Sse<impl Stream<Item = Result<Frame, Infallible>>>, Problem> {
    let filter = since.filter()?;
    let mut watcher = if since.glance {
        Watcher::with_glances(engine, since.after, filter).await?
    } else {
        Watcher::new(engine, since.after, filter).await?
    };
    watcher.brief = since.brief;
    watcher.first(Frame::default().comment("")); // sends the response head at once: the page knows it is connected
    Ok(Sse::new(watcher.frames(())).keep_alive(KeepAlive::new().interval(Duration::from_secs(15))))
}

/// Turns changes into frames.
pub(crate) struct Watcher {
    engine: Arc<Engine>,
    changes: Receiver<Change>,
    after: i64,
    brief: bool,
    filter: Option<Filter>,
    ready: VecDeque<Frame>,
    glances: Option<Glances>,
}

/// How many events a brief stream shows at a time, and how long it pauses between them.
const BRIEF: i64 = 20;
const REST: Duration = Duration::from_millis(100);

/// How many events are read at a time.
const PIECE: u32 = 200;

impl Watcher {
    pub(crate) async fn new(
        engine: Arc<Engine>,
        after: Option<i64>,
        filter: Option<Filter>,
    ) -> Result<Self, Problem> {
        let changes = engine.watch(); // before reading, so that no change is missed in between
        let after = match after {
            Some(after) => after,
            None => engine.inbox().last_seq().await?,
        };
        let ready = VecDeque::new();
        let mut watcher = Self { engine, changes, after, brief: false, filter, ready, glances: None };
        watcher.stored().await?;
        Ok(watcher)
    }

    async fn with_glances(
        engine: Arc<Engine>,
        after: Option<i64>,
        filter: Option<Filter>,
    ) -> Result<Self, Problem> {
        let changes = engine.watch();
        let (glances, last) = Glances::of_newest(&engine).await?;
        let after = after.unwrap_or(last);
        let ready = VecDeque::new();
        let glances = Some(glances);
        let mut watcher = Self { engine, changes, after, brief: false, filter, ready, glances };
        if after < last {
            watcher.look_again().await?;
        }
        Ok(watcher)
    }

    pub(crate) fn first(&mut self, frame: Frame) {
        self.ready.push_front(frame);
    }

    /// Returns the frames as a stream that ends when the engine stops. `held` is dropped together with the stream.
    pub(crate) fn frames<H: Send>(self, held: H) -> impl Stream<Item = Result<Frame, Infallible>> {
        stream::unfold((self, held), async |(mut watcher, held)| {
            let frame = watcher.next().await?;
            Some((Ok(frame), (watcher, held)))
        })
    }

    async fn next(&mut self) -> Option<Frame> {
        loop {
            if let Some(frame) = self.ready.pop_front() {
                return Some(frame);
            }
            let stopping = self.engine.stopping();
            let seen = match &mut self.glances {
                Some(glances) => {
                    stopping.run_until_cancelled(glances.gather(&mut self.changes)).await??;
                    self.look_again().await
                }
                None => match stopping.run_until_cancelled(self.changes.recv()).await? {
                    Ok(change) => self.see(change).await,
                    Err(RecvError::Lagged(missed)) => {
                        self.lagged(missed);
                        self.stored().await
                    }
                    Err(RecvError::Closed) => return None,
                },
            };
            if let Err(problem) = seen {
                tracing::warn!(detail = %problem.detail, "a live stream could not be continued");
                return None;
            }
        }
    }

    async fn see(&mut self, change: Change) -> Result<(), Problem> {
        match change {
            Change::Stored(seq) if seq > self.after => self.stored().await,
            Change::Stored(_) => Ok(()),
            Change::Delivery(id) => self.delivery(id).await,
            Change::Event(id) => {
                // It may have been deleted for good since.
                let listed = self.engine.inbox().these(vec![id]).await?;
                let rows = listed.iter().map(|listed| EventJson::new(&listed.event, listed.status)).collect();
                self.show(rows).await
            }
            Change::Many(events) => {
                self.lagged(events);
                Ok(())
            }
            Change::Config => {
                self.push("config", &serde_json::json!({}));
                Ok(())
            }
            Change::Refused(refusal) => {
                self.push("refused", &RefusedJson::from(*refusal));
                Ok(())
            }
            Change::Tunnel(id) => self.tunnel(id).await,
            Change::Job(id) => {
                self.job(id).await;
                Ok(())
            }
            Change::Gap(gap) => {
                self.push("gap", &gap);
                Ok(())
            }
        }
    }

    /// Adds frames for the next events after the last one seen. If there may be more, announces them again.
    async fn stored(&mut self) -> Result<(), Problem> {
        if self.brief {
            self.skip().await?;
        }
        let newer = self.engine.inbox().newer(self.after, PIECE).await?;
        self.after = newer.last().map_or(self.after, |listed| listed.event.seq);
        let rows = newer.iter().map(|listed| EventJson::new(&listed.event, listed.status)).collect();
        self.show(rows).await?;
        if newer.len() == PIECE as usize {
            self.engine.announce_stored().await?;
        }
        Ok(())
    }

    /// Adds frames for the changes that were collected, with each event once.
    async fn look_again(&mut self) -> Result<(), Problem> {
        let Some(mut glances) = self.glances.take() else { return Ok(()) };
        let told = glances.told();
        if told.missed > 0 {
            self.lagged(told.missed);
        }
        if told.config {
            self.push("config", &serde_json::json!({}));
        }
        told.refused.into_iter().for_each(|refused| self.push("refused", &RefusedJson::from(refused)));
        for id in told.tunnels {
            self.tunnel(id).await?;
        }
        for id in told.jobs {
            self.job(id).await;
        }
        told.gaps.iter().for_each(|gap| self.push("gap", gap));
        let rows = glances.rows(&self.engine, &mut self.after).await?;
        self.glances = Some(glances);
        self.show(rows).await
    }

    /// Adds a frame for each of these events, whether it is wanted or not.
    async fn show(&mut self, rows: Vec<EventJson>) -> Result<(), Problem> {
        let listed = match &self.filter {
            Some(filter) => {
                let seqs = rows.iter().map(|row| row.seq).collect();
                Some(self.engine.search.listed(filter, seqs).await?)
            }
            None => None,
        };
        for row in rows {
            if listed.as_ref().is_none_or(|listed| listed.contains(&row.seq)) {
                self.push("event", &row);
            } else {
                self.push("unmatched", &Unmatched::from(row));
            }
        }
        Ok(())
    }

    /// Adds a frame that says how many changes were missed. It is not known which.
    fn lagged(&mut self, missed: u64) {
        self.push("lagged", &serde_json::json!({ "missed": missed }));
    }

    /// Skips events if there are more than a person could read.
    async fn skip(&mut self) -> Result<(), Problem> {
        tokio::time::sleep(REST).await;
        let last = self.engine.inbox().last_seq().await?;
        let missed = last - self.after - BRIEF;
        if missed > 0 {
            self.after += missed;
            self.push("skipped", &serde_json::json!({ "events": missed }));
        }
        Ok(())
    }

    async fn delivery(&mut self, id: DeliveryId) -> Result<(), Problem> {
        // It may have been deleted for good since.
        let Some(listed) = self.engine.inbox().these(vec![id.event]).await?.pop() else { return Ok(()) };
        if let Some(filter) = &self.filter {
            // The delivery may have changed whether its event is found.
            let seq = listed.event.seq;
            let is_found = self.engine.search.listed(filter, vec![seq]).await?.contains(&seq);
            self.show(vec![EventJson::new(&listed.event, listed.status)]).await?;
            if !is_found {
                return Ok(());
            }
        }
        let delivery = self.engine.inbox().delivery(id).await?;
        let moved = DeliveryMoved {
            event_id: id.event,
            seq: listed.event.seq,
            source: listed.event.source,
            r#type: listed.event.event_type,
            verdict: listed.event.verdict,
            path: listed.event.request.path,
            delivery: DeliveryJson::from(&delivery),
        };
        self.push("delivery", &moved);
        Ok(())
    }

    /// Adds a frame with the tunnel's present state. A tunnel that was removed gets no frame; `config` reports its
    /// removal.
    async fn tunnel(&mut self, id: i64) -> Result<(), Problem> {
        match self.engine.tunnels.one(id).await {
            Ok(tunnel) => self.push("tunnel", &tunnel),
            Err(error) => tracing::debug!(%error, "a changed tunnel can't be shown"),
        }
        Ok(())
    }

    /// Adds a frame that says how far a job is. A job that is forgotten by now gets none.
    async fn job(&mut self, id: i64) {
        match self.engine.jobs.one(id).await {
            Ok(job) => self.push("job", &JobJson::from(job)),
            Err(error) => tracing::debug!(%error, "a changed job can't be shown"),
        }
    }

    fn push(&mut self, name: &str, data: &impl Serialize) {
        match Frame::default().event(name).json_data(data) {
            Ok(frame) => self.ready.push_back(frame),
            Err(error) => tracing::warn!(%error, "a change could not be written"),
        }
    }
}

#[cfg(test)]
mod tests {
    use hookmitt_engine::{Network, Resources, StoreChoice};

    use super::*;

    #[tokio::test]
    async fn who_falls_behind_is_told_to_read_anew() {
        let folder = tempfile::tempdir().unwrap();
        let (data_dir, secrets) = (folder.path().to_owned(), StoreChoice::File);
        let (network, clock) = (Network::default(), Arc::new(hookmitt_clock::MachineClock));
        let engine = Engine::open(Resources { data_dir, secrets, network, clock }).await.unwrap();
        let mut plain = Watcher::new(Arc::clone(&engine), None, None).await.unwrap();
        let mut glancing = Watcher::with_glances(Arc::clone(&engine), None, None).await.unwrap();
        for _ in 0..2_000 {
            engine.announce_stored().await.unwrap();
        }
        for watcher in [&mut plain, &mut glancing] {
            let frame = format!("{:?}", watcher.next().await.unwrap());
            assert!(frame.contains("event: lagged"), "{frame}");
        }
        engine.stop().await;
    }
}
