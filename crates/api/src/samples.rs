//! Genuinely signed sample events.

use std::sync::Arc;

use axum::{Json, extract::State};
use hookmitt_engine::{Engine, SampleRequest, Sent};

use crate::{Problem, input::Body};

/// Signs and sends sample events, and waits for one attempt of each.
#[utoipa::path(post, operation_id = "send_sample", path = "/api/send", request_body = SampleRequest, responses((status = 200, body = Sent), (status = 400, body = Problem)))]
pub(crate) async fn send(
    State(engine): State<Arc<Engine>>,
    Body(order): Body<SampleRequest>,
) -> Result<Json<Sent>, Problem> {
    engine.deliver_if_alone().await?;
    Ok(Json(engine.samples.send(order).await?))
}
