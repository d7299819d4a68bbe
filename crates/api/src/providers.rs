//! The providers that can be set for a source.

use axum::Json;
use hookmitt_engine::{ProviderView, provider_views};

use crate::events::Items;

/// Lists the providers whose signatures can be verified, most used first.
#[utoipa::path(get, operation_id = "list_providers", path = "/api/providers", responses((status = 200, body = Items<ProviderView>)))]
pub(crate) async fn list() -> Json<Items<ProviderView>> {
    Items::all(provider_views())
}
