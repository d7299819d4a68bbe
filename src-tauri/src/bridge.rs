//! The page's way to the API: requests go through the same router as those over HTTP.

use std::sync::Arc;

use bytes::Bytes;
use http::{Response, StatusCode};
use http_body_util::BodyExt as _;
use tauri::{State, ipc, ipc::InvokeBody};

use crate::{core::Core, frames, state::Failure};

/// Calls the API. Request and response are one frame of bytes each (see `frames`).
#[tauri::command]
pub(crate) async fn api(
    request: ipc::Request<'_>,
    core: State<'_, Arc<Core>>,
) -> Result<ipc::Response, String> {
    let InvokeBody::Raw(frame) = request.body() else {
        return Err("the request must be bytes".to_owned());
    };
    let request = frames::read(frame).map_err(|error| error.to_string())?;
    let answer = match answer(&core, request).await {
        Ok(answer) => frames::write(&answer),
        Err(failure) => frames::write_problem(StatusCode::SERVICE_UNAVAILABLE, &failure),
    };
    Ok(ipc::Response::new(answer))
}

async fn answer(core: &Core, request: http::Request<Bytes>) -> Result<Response<Bytes>, Failure> {
    let (head, body) = core.call(request).await?.into_parts();
    let broke_off = |error| Failure::new("broken-off", format!("the answer was cut off: {error}"), None);
    let body = body.collect().await.map_err(broke_off)?.to_bytes();
    Ok(Response::from_parts(head, body))
}
