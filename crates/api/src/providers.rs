//! The providers that a source can be set to.

use std::sync::Arc;

use axum::{Json, extract::State};
use hookmitt_engine::{Engine, ProviderView};

use crate::events::Items;

/// The providers whose signatures can be verified, most used first.
#[utoipa::path(get, operation_id = "list_providers", path = "/api/providers", responses((status = 200, body = Items<ProviderView>)))]
pub(crate) async fn list(State(engine): State<Arc<Engine>>) -> Json<Items<ProviderView>> {
    Items::all(engine.providers())
}
