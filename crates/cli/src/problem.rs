//! Errors of the management API.

use http::StatusCode;
use serde::Deserialize;

/// An error of the management API (RFC 9457).
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct Problem {
    /// The HTTP status.
    pub(crate) status: u16,
    /// The stable error code.
    pub(crate) code: String,
    /// What is wrong.
    pub(crate) detail: String,
    /// What to do.
    pub(crate) hint: Option<String>,
}

impl Problem {
    /// Reads an error from an answer's body. A missing code or detail is filled in.
    pub(crate) fn read(status: StatusCode, body: &[u8]) -> Self {
        let mut problem: Self = serde_json::from_slice(body).unwrap_or_default();
        problem.status = status.as_u16();
        if problem.code.is_empty() {
            "unexpected-answer".clone_into(&mut problem.code);
        }
        if problem.detail.is_empty() {
            problem.detail = format!("hookmitt's API answered {status}");
        }
        problem
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_is_no_problem_document_is_still_explained() {
        let problem = Problem::read(StatusCode::BAD_GATEWAY, b"<html>");
        assert_eq!((problem.status, problem.code.as_str()), (502, "unexpected-answer"));
        let body =
            br#"{"code":"unknown-event","detail":"no event 0199","hint":null,"title":"x","status":404}"#;
        let problem = Problem::read(StatusCode::NOT_FOUND, body);
        assert_eq!((problem.code.as_str(), problem.detail.as_str()), ("unknown-event", "no event 0199"));
    }
}
