//! The call behind `hookmitt listen`: a target that exists as long as the call lasts.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    extract::State,
    response::sse::{Event as Frame, KeepAlive, Sse},
};
use futures_util::Stream;
use hookmitt_engine::{Engine, ListenRequest, NamedSource, SecretText};
use hookmitt_event::Slug;
use serde::{Deserialize, Serialize};

use crate::{Problem, input::Body, live::Watcher};

/// What to listen for.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Listen {
    /// The source whose events are wanted. A provider's id as the name of a source that does not exist creates that
    /// provider's source. Null for every source.
    #[serde(default)]
    source: Option<Slug>,
    /// Whether the source is created if it does not exist, whatever its name.
    #[serde(default)]
    create: bool,
    /// The URL to which the events are sent.
    url: String,
    /// The provider of the source, or of each source that is created during the call.
    #[serde(default)]
    provider: Option<String>,
    /// A secret of that source or those sources, in base64. It is kept in memory only.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    secret_base64: Option<SecretText>,
    /// The label of that secret.
    #[serde(default)]
    secret_label: Option<String>,
}

/// The first frame of the stream, `listening`.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct ListeningJson {
    target_id: i64,
    url: String,
    capture_urls: Vec<String>,
}

/// Adds a target that is removed when this stream ends. The first frame is `listening`; the others are those of
/// `/api/live`.
#[utoipa::path(post, path = "/api/listen", request_body = Listen, responses((status = 200, body = ListeningJson, content_type = "text/event-stream"), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn listen(
    State(engine): State<Arc<Engine>>,
    Body(listen): Body<Listen>,
) -> Result<Sse<impl Stream<Item = Result<Frame, Infallible>>>, Problem> {
    let secret = listen.secret_base64.map(|text| text.decoded()).transpose();
    let secret = secret.map_err(|_| {
        Problem::bad_input(
            "secret_base64 isn't valid base64",
            "encode the secret's \
                                                                                            bytes",
        )
    })?;
    let order = ListenRequest {
        source: listen.source.map(|slug| NamedSource { slug, create: listen.create }),
        url: listen.url,
        provider: listen.provider,
        secret: secret.map(|value| (listen.secret_label.unwrap_or_else(|| "listen".to_owned()), value)),
    };
    let mut watcher = Watcher::new(Arc::clone(&engine), None, None).await?;
    let listening = engine.listeners.begin(order).await?;
    let first = ListeningJson {
        target_id: listening.target.0,
        url: listening.url.clone(),
        capture_urls: engine.capture_urls(),
    };
    if let Ok(frame) = Frame::default().event("listening").json_data(&first) {
        watcher.first(frame);
    }
    let frames = watcher.frames(listening);
    Ok(Sse::new(frames).keep_alive(KeepAlive::new().interval(Duration::from_secs(15))))
}
