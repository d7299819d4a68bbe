//! Local test key pairs. The public key is shown, the private key never.

use std::sync::Arc;

use axum::{Json, extract::State};
use hookmitt_engine::{Engine, TestKey};

use crate::{Problem, input::Path, sources::slug};

/// Returns the test key pair of a source, or null if it has none.
#[utoipa::path(get, operation_id = "show_test_key", path = "/api/sources/{slug}/test-key", params(("slug" = String, Path)), responses((status = 200, body = Option<TestKey>), (status = 404, body = Problem)))]
pub(crate) async fn show(
    State(engine): State<Arc<Engine>>,
    Path(name): Path<String>,
) -> Result<Json<Option<TestKey>>, Problem> {
    Ok(Json(engine.test_keys.of(&slug(&name)?)?))
}

/// Makes a test key pair that signs in place of the provider's private key. It replaces an earlier test key pair.
#[utoipa::path(post, operation_id = "make_test_key", path = "/api/sources/{slug}/test-key", params(("slug" = String, Path)), responses((status = 200, body = TestKey), (status = 400, body = Problem), (status = 404, body = Problem)))]
pub(crate) async fn make(
    State(engine): State<Arc<Engine>>,
    Path(name): Path<String>,
) -> Result<Json<TestKey>, Problem> {
    Ok(Json(engine.test_keys.make(slug(&name)?).await?))
}
