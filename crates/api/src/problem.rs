//! Errors as `application/problem+json` (RFC 9457), each with a stable code and the next step.

use std::borrow::Cow;

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use hookmitt_engine::{EngineError, InboxError, SyncError, TunnelError};
use hookmitt_event::Explain;
use hookmitt_search::SearchError;
use serde::Serialize;

/// An error that the API returns.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct Problem {
    /// Always `about:blank`; `code` says which error it is.
    pub r#type: &'static str,
    /// The name of the HTTP status.
    pub title: &'static str,
    /// The HTTP status.
    pub status: u16,
    /// The stable code of the error.
    pub code: Cow<'static, str>,
    /// What happened.
    pub detail: String,
    /// What to do next.
    pub hint: Option<Box<str>>,
    /// The setting of the source's own scheme that is wrong, if the error is about one.
    pub setting: Option<&'static str>,
    /// Where a search is wrong, in characters from 1, if the error is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u16>,
}

impl Problem {
    pub(crate) fn new(
        status: StatusCode,
        code: impl Into<Cow<'static, str>>,
        detail: impl Into<String>,
        hint: &str,
    ) -> Self {
        Self {
            r#type: "about:blank",
            title: status.canonical_reason().unwrap_or_default(),
            status: status.as_u16(),
            code: code.into(),
            detail: detail.into(),
            hint: (!hint.is_empty()).then(|| hint.into()),
            setting: None,
            column: None,
        }
    }

    pub(crate) fn bad_input(detail: impl Into<String>, hint: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad-input", detail, hint)
    }
}

impl From<EngineError> for Problem {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::Tunnel(error) => return of_tunnel(&error),
            EngineError::Search(error) => return error.into(),
            _ => {}
        }
        let status = match &error {
            EngineError::Inbox(inbox) => status_of(inbox),
            EngineError::Vault(_) if error.code() == "keychain-locked" => StatusCode::SERVICE_UNAVAILABLE,
            EngineError::NotConfirmed(_) => StatusCode::BAD_GATEWAY,
            EngineError::Sync(SyncError::Call(error)) if error.may_pass() => StatusCode::BAD_GATEWAY,
            EngineError::TakesPart(_) | EngineError::OnlyChannel(_) => StatusCode::CONFLICT,
            EngineError::UnknownDevice(_) | EngineError::UnknownSource { .. } => StatusCode::NOT_FOUND,
            EngineError::Stopping => StatusCode::SERVICE_UNAVAILABLE,
            _ => StatusCode::BAD_REQUEST,
        };
        let setting = match &error {
            EngineError::Generic(wrong) => Some(wrong.setting()),
            _ => None,
        };
        let hint = error.hint().unwrap_or_default();
        Self { setting, ..Self::new(status, error.code(), error.to_string(), &hint) }
    }
}

/// Returns the error for the caller: a 4xx status if the caller can fix it, such as a refusal by the relay, and 502 if
/// not, such as a relay that cannot be reached.
fn of_tunnel(error: &TunnelError) -> Problem {
    let status = match error {
        TunnelError::NotConnected => StatusCode::CONFLICT,
        TunnelError::Refused(_)
        | TunnelError::Url(_)
        | TunnelError::PlainHttp(_)
        | TunnelError::SpeaksHttp(_)
        | TunnelError::Invite(_) => StatusCode::BAD_REQUEST,
        _ => StatusCode::BAD_GATEWAY,
    };
    let hint = error.hint().unwrap_or_default();
    Problem::new(status, error.any_code().to_owned(), error.to_string(), &hint)
}

impl From<SearchError> for Problem {
    fn from(error: SearchError) -> Self {
        let hint = error.hint().unwrap_or_default();
        let problem = Self::new(StatusCode::BAD_REQUEST, error.code(), &error.message, &hint);
        Self { column: u16::try_from(error.column).ok(), ..problem }
    }
}

impl From<InboxError> for Problem {
    fn from(error: InboxError) -> Self {
        EngineError::from(error).into()
    }
}

fn status_of(error: &InboxError) -> StatusCode {
    match error {
        InboxError::UnknownEvent(_)
        | InboxError::UnknownSource(_)
        | InboxError::UnknownTarget(_)
        | InboxError::UnknownTunnel(_)
        | InboxError::UnknownSearch(_)
        | InboxError::UnknownJob(_)
        | InboxError::UnknownReport(_) => StatusCode::NOT_FOUND,
        InboxError::Ambiguous { .. } | InboxError::NoBackup { .. } => StatusCode::BAD_REQUEST,
        InboxError::NotInTrash(_)
        | InboxError::SourceExists(_)
        | InboxError::TargetExists(_)
        | InboxError::TooManySources(_)
        | InboxError::SearchExists(_)
        | InboxError::TooManySearches(_)
        | InboxError::NotResumable { .. }
        | InboxError::InUse(_)
        | InboxError::JobEnded => StatusCode::CONFLICT,
        InboxError::Full
        | InboxError::Busy
        | InboxError::Overloaded
        | InboxError::TooLong
        | InboxError::TooManyJobs(_)
        | InboxError::OutOfTurn
        | InboxError::NotOwner
        | InboxError::Closed => StatusCode::SERVICE_UNAVAILABLE,
        InboxError::Lost(_) => StatusCode::GONE,
        InboxError::Newer { .. }
        | InboxError::Open { .. }
        | InboxError::Backup(_)
        | InboxError::Damaged(_)
        | InboxError::Panicked
        | InboxError::Sqlite(_) => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let mut response = (status, axum::Json(self)).into_response();
        let kind = HeaderValue::from_static("application/problem+json");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        if status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
        }
        response
    }
}
