//! Reads what callers send. Errors say which part is wrong.

use axum::{
    body::Bytes,
    extract::{FromRequest, FromRequestParts, Query, Request},
    http::{StatusCode, request::Parts},
};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Problem, unquoted::unquoted};

/// A JSON body. An empty body is read as `{}`.
pub(crate) struct Body<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let bytes = Bytes::from_request(request, state)
            .await
            .map_err(|error| Problem::bad_input(error.to_string(), "send less at a time"))?;
        let text: &[u8] = if bytes.is_empty() { b"{}" } else { &bytes };
        // A list must be refused here: serde would read it as an object's values in order, and an empty list as `{}`.
        if text.trim_ascii_start().starts_with(b"[") {
            return Err(bad_json("invalid type: list, expected an object"));
        }
        serde_json::from_slice(text).map(Self).map_err(|error| bad_json(&unquoted(&error.to_string())))
    }
}

/// Reads the settings of something new from those fields of the body that were not read as anything else.
pub(crate) fn settings<T: DeserializeOwned>(given: serde_json::Map<String, Value>) -> Result<T, Problem> {
    serde_json::from_value(given.into()).map_err(|error| bad_json(&unquoted(&error.to_string())))
}

fn bad_json(error: &str) -> Problem {
    Problem::new(
        StatusCode::BAD_REQUEST,
        "bad-json",
        format!("the body isn't as expected: {error}"),
        "GET /api/openapi.json describes every body",
    )
}

/// The parameters in the path.
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

/// The parameters in the query.
pub(crate) struct Asked<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Asked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match Query::<T>::from_request_parts(parts, state).await {
            Ok(Query(value)) => Ok(Self(value)),
            Err(error) => {
                let error = unquoted(&error.body_text());
                Err(Problem::bad_input(error, "GET /api/openapi.json lists the parameters"))
            }
        }
    }
}
