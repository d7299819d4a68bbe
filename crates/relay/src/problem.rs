//! Refusals under `/-/`, as `application/problem+json`.

use axum::{
    extract::rejection::JsonRejection,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use hookmitt_event::Explain as _;
use hookmitt_mailbox::MailboxError;

/// A refusal with a stable code and a hint about the next step.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    code: &'static str,
    message: String,
    hint: String,
    retry_after: Option<u64>,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, code: &'static str, message: &str, hint: &str) -> Self {
        Self { status, code, message: message.to_owned(), hint: hint.to_owned(), retry_after: None }
    }

    pub(crate) fn bad_input(code: &'static str, message: &str, hint: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, message, hint)
    }

    pub(crate) fn no_token() -> Self {
        let hint = "create one at the relay with `hookmitt relay token create`";
        let message = "the token is missing, unknown or revoked";
        Self::new(StatusCode::UNAUTHORIZED, "bad-token", message, hint)
    }

    pub(crate) fn retry_after(self, seconds: u64) -> Self {
        Self { retry_after: Some(seconds), ..self }
    }
}

impl From<MailboxError> for Problem {
    fn from(error: MailboxError) -> Self {
        let status = match &error {
            MailboxError::NameTaken(_) => StatusCode::CONFLICT,
            MailboxError::TooManyTunnels(_) | MailboxError::TooManyDevices(_) => StatusCode::FORBIDDEN,
            MailboxError::Unknown { .. } => StatusCode::NOT_FOUND,
            MailboxError::QuotaFull(_) => StatusCode::INSUFFICIENT_STORAGE,
            _ => StatusCode::SERVICE_UNAVAILABLE,
        };
        if status.is_server_error() {
            tracing::error!(%error, "the store failed while serving a device");
        }
        let problem = Self::new(status, error.code(), &error.to_string(), &error.hint().unwrap_or_default());
        if status.is_server_error() { problem.retry_after(5) } else { problem }
    }
}

impl From<JsonRejection> for Problem {
    fn from(rejection: JsonRejection) -> Self {
        // axum's message about fields quotes their values, and one may be a code in the wrong field.
        let message = match &rejection {
            JsonRejection::JsonDataError(_) => "the body doesn't have the expected fields".to_owned(),
            JsonRejection::JsonSyntaxError(_) => "the body isn't JSON".to_owned(),
            other => other.body_text(),
        };
        Self::new(rejection.status(), "bad-input", &message, "see docs/relay.md")
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut body = serde_json::json!({
            "type": "about:blank",
            "title": self.status.canonical_reason(),
            "status": self.status.as_u16(),
            "code": self.code,
            "detail": self.message,
        });
        if !self.hint.is_empty() {
            body["hint"] = self.hint.into();
        }
        let mut response = (self.status, body.to_string()).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }
}
