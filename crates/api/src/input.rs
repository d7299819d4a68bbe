//! What callers send, with errors that say where it goes wrong.

use axum::{
    body::Bytes,
    extract::{FromRequest, FromRequestParts, Query, Request},
    http::request::Parts,
};
use serde::de::DeserializeOwned;

use crate::Problem;

/// A JSON body. An empty one stands for `{}`.
pub(crate) struct Body<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let bytes = Bytes::from_request(request, state)
            .await
            .map_err(|error| Problem::bad_input(error.to_string(), "send less at a time"))?;
        let text: &[u8] = if bytes.is_empty() { b"{}" } else { &bytes };
        let value = serde_json::from_slice(text).map_err(|error| {
            let hint = "GET /api/openapi.json describes every body";
            Problem::new(
                axum::http::StatusCode::BAD_REQUEST,
                "bad-json",
                format!("the body is not what is expected: {error}"),
                hint,
            )
        })?;
        Ok(Self(value))
    }
}

/// Places of the path.
pub(crate) struct Path<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match axum::extract::Path::<T>::from_request_parts(parts, state).await {
            Ok(axum::extract::Path(value)) => Ok(Self(value)),
            Err(error) => Err(Problem::bad_input(error.body_text(), "write names in UTF-8, percent-encoded")),
        }
    }
}

/// Parameters of the query.
pub(crate) struct Asked<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Asked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match Query::<T>::from_request_parts(parts, state).await {
            Ok(Query(value)) => Ok(Self(value)),
            Err(error) => {
                Err(Problem::bad_input(error.body_text(), "GET /api/openapi.json names the parameters"))
            }
        }
    }
}
