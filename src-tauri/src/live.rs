//! The API's event stream for the page, passed on through a Tauri channel.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use hookmitt_api::BoxBody;
use hookmitt_call::{Messages, Sse};
use http::{Request, Response, header};
use http_body_util::BodyDataStream;
use tauri::{
    State, WebviewWindow,
    ipc::{Channel, InvokeResponseBody},
};
use tokio::sync::oneshot;
use tokio_util::task::AbortOnDropHandle;

use crate::{core::Core, frames, state::Failure};

/// The size limit of a message, in bytes. No event is shown with more.
const LONGEST: usize = 16 * 1024 * 1024;

/// After how many messages the stream waits until the page has processed them.
const AHEAD: usize = 64;

/// How long the page may take to process those messages, before its stream ends.
const PATIENCE: Duration = Duration::from_secs(30);

/// The open streams.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    last: AtomicU32,
    open: Mutex<HashMap<u32, AbortOnDropHandle<()>>>,
}

impl Streams {
    /// Ends one stream.
    fn end(&self, id: u32) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
    }

    /// Ends all streams, because the page that listened is gone.
    pub(crate) fn end_all(&self) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// Opens a stream of the API and returns its number. The channel gets each message as `{ name, data }`, and `null` when
/// the stream ends without `live_stop`.
#[tauri::command]
pub(crate) async fn live(
    path: String,
    channel: Channel<InvokeResponseBody>,
    window: WebviewWindow,
    core: State<'_, Arc<Core>>,
    streams: State<'_, Arc<Streams>>,
) -> Result<u32, Failure> {
    let answer = open(&core, &path).await?;
    let id = streams.last.fetch_add(1, Ordering::Relaxed) + 1;
    let (stop, all) = (core.stopping(), Arc::clone(&streams));
    let pump = async move {
        let listener = Listener { window, channel };
        stop.run_until_cancelled(listener.pump(answer.into_body())).await;
        listener.end();
        all.end(id);
    };
    let mut open = streams.open.lock().unwrap_or_else(PoisonError::into_inner);
    open.insert(id, AbortOnDropHandle::new(tauri::async_runtime::handle().inner().spawn(pump)));
    Ok(id)
}

/// Ends a stream.
#[tauri::command]
pub(crate) fn live_stop(id: u32, streams: State<'_, Arc<Streams>>) {
    streams.end(id);
}

async fn open(core: &Core, path: &str) -> Result<Response<BoxBody>, Failure> {
    let mut request = Request::new(Bytes::new());
    *request.uri_mut() =
        frames::path(path).map_err(|error| Failure::new("bad-input", error.to_string(), None))?;
    let answer = core.call(request).await?;
    let kind = answer.headers().get(header::CONTENT_TYPE).map_or(b"" as &[u8], |kind| kind.as_bytes());
    if answer.status().is_success() && kind.starts_with(b"text/event-stream") {
        Ok(answer)
    } else {
        Err(Failure::new("no-stream", format!("{path} isn't a stream: {}", answer.status()), None))
    }
}

/// The page as the receiver of a stream.
struct Listener {
    window: WebviewWindow,
    channel: Channel<InvokeResponseBody>,
}

impl Listener {
    /// Sends every message to the page, until the stream ends or the page is too slow.
    async fn pump(&self, body: BoxBody) {
        let (mut messages, mut ahead) = (Messages::new(BodyDataStream::new(body), LONGEST), 0);
        while let Some(Ok(message)) = messages.next().await {
            let Some(json) = to_json(message) else { continue };
            if self.channel.send(InvokeResponseBody::Json(json)).is_err() {
                return;
            }
            ahead += 1;
            if ahead == AHEAD {
                if !self.is_caught_up().await {
                    return;
                }
                ahead = 0;
            }
        }
    }

    /// Waits until the page has processed what it was sent, and returns whether it did so in time. Scripts run in the
    /// order in which they are sent, so an empty one runs after the messages.
    async fn is_caught_up(&self) -> bool {
        let (done, ran) = oneshot::channel();
        let done = Mutex::new(Some(done));
        let say = move |_| {
            let done = done.lock().unwrap_or_else(PoisonError::into_inner).take();
            let _nobody_waits = done.map(|done| done.send(()));
        };
        if self.window.eval_with_callback("0", say).is_err() {
            return false;
        }
        tokio::time::timeout(PATIENCE, ran).await.is_ok()
    }

    fn end(&self) {
        let _page_gone = self.channel.send(InvokeResponseBody::Json("null".to_owned()));
    }
}

/// Returns `{ "name": …, "data": … }`. The data is JSON already and stays unchanged.
fn to_json(message: Sse) -> Option<String> {
    let name = serde_json::Value::from(message.event.unwrap_or_default());
    let data = message.data.filter(|data| !data.is_empty())?;
    Some(format!(r#"{{"name":{name},"data":{data}}}"#))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_handed_over_as_json_with_its_data_as_it_came() {
        let message = Sse::default().event("a\"b").data(r#"{"n":1.50}"#);
        assert_eq!(to_json(message).as_deref(), Some(r#"{"name":"a\"b","data":{"n":1.50}}"#));
        assert_eq!(to_json(Sse::default().event("config")), None);
        assert_eq!(to_json(Sse::default().data("")), None);
    }
}
