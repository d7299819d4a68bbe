//! Searches that were saved under a name.

use std::sync::Arc;

use axum::{Json, extract::State, http::StatusCode};
use hookmitt_engine::{Engine, SavedSearch};
use hookmitt_event::Timestamp;
use hookmitt_search::Query;
use serde::{Deserialize, Serialize};

use crate::{
    Problem,
    events::Items,
    input::{Body, Path},
};

/// A saved search, as the API returns it.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct SavedSearchView {
    id: i64,
    name: String,
    /// The search, as it was typed.
    q: String,
}

impl From<SavedSearch> for SavedSearchView {
    fn from(SavedSearch { id, name, q }: SavedSearch) -> Self {
        Self { id, name, q }
    }
}

/// A search to save.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewSearch {
    /// Its name: 1 to 60 characters, unlike any other one's.
    name: String,
    /// The search, in the search language. Times such as `2h` are read anew whenever it is used.
    q: String,
}

/// What changes in a saved search. Absent fields stay as they are.
#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct SearchChange {
    /// Its new name.
    name: Option<String>,
    /// The new search.
    q: Option<String>,
    /// Its new place in the order, from 0.
    place: Option<usize>,
}

/// Lists the saved searches in order.
#[utoipa::path(get, operation_id = "list_searches", path = "/api/searches", responses((status = 200, body = Items<SavedSearchView>)))]
pub(crate) async fn list(State(engine): State<Arc<Engine>>) -> Result<Json<Items<SavedSearchView>>, Problem> {
    Ok(Items::all(engine.search.saved().await?.into_iter().map(SavedSearchView::from)))
}

/// Saves a search behind the others. At most 100 are saved.
#[utoipa::path(post, operation_id = "save_search", path = "/api/searches", request_body = NewSearch, responses((status = 201, body = SavedSearchView), (status = 400, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn add(
    State(engine): State<Arc<Engine>>,
    Body(search): Body<NewSearch>,
) -> Result<(StatusCode, Json<SavedSearchView>), Problem> {
    Query::parse(&search.q, Timestamp::now())?;
    let saved = engine.search.save(&search.name, search.q).await?;
    Ok((StatusCode::CREATED, Json(saved.into())))
}

/// Changes or moves a saved search.
#[utoipa::path(patch, operation_id = "change_search", path = "/api/searches/{id}", params(("id" = i64, Path)), request_body = SearchChange, responses((status = 200, body = SavedSearchView), (status = 400, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(crate) async fn change(
    State(engine): State<Arc<Engine>>,
    Path(id): Path<String>,
    Body(change): Body<SearchChange>,
) -> Result<Json<SavedSearchView>, Problem> {
    if let Some(q) = &change.q {
        Query::parse(q, Timestamp::now())?;
    }
    let SearchChange { name, q, place } = change;
    let saved = engine.search.change_saved(number(&id)?, name.as_deref(), q, place).await?;
    Ok(Json(saved.into()))
}

/// Removes a saved search.
#[utoipa::path(delete, operation_id = "remove_search", path = "/api/searches/{id}", params(("id" = i64, Path)), responses((status = 204), (status = 404, body = Problem)))]
pub(crate) async fn remove(
    State(engine): State<Arc<Engine>>,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    engine.search.remove_saved(number(&id)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn number(text: &str) -> Result<i64, Problem> {
    text.parse()
        .map_err(|_| Problem::bad_input("that isn't a saved search's id", "GET /api/searches lists them"))
}
