//! Serves the exact bytes of a body, whole or in part.

use std::{ops::Range, sync::Arc};

use axum::{
    body::Bytes,
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use hookmitt_engine::Engine;

use crate::{Problem, events::named, input::Path};

/// Returns the exact bytes of an event's body, or one part of them if there is a `Range` line.
///
/// The bytes are untrusted, so the answer's header lines stop browsers from rendering them (Threat 2).
#[utoipa::path(get, operation_id = "event_body", path = "/api/events/{id}/body", params(("id" = String, Path), ("range" = Option<String>, Header, description = "one part, such as bytes=0-65535")), responses((status = 200, body = Vec<u8>, content_type = "application/octet-stream"), (status = 206, description = "that part", body = Vec<u8>, content_type = "application/octet-stream"), (status = 404, body = Problem), (status = 416, body = Problem)))]
pub(crate) async fn body(
    State(engine): State<Arc<Engine>>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let event = engine.inbox().event(named(&engine, &id).await?).await?;
    let mut response = part(event.request.body, asked(&headers));
    let disposition = format!("attachment; filename=\"{}.bin\"", event.id);
    let lines = [
        (header::CONTENT_DISPOSITION, disposition.as_str()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CONTENT_SECURITY_POLICY, "sandbox; default-src 'none'"),
        (header::ACCEPT_RANGES, "bytes"),
    ];
    for (name, value) in lines {
        if let Ok(value) = HeaderValue::from_str(value) {
            response.headers_mut().insert(name, value);
        }
    }
    Ok(response)
}

/// Answers with the whole body, with the requested part, or with 416 if there is no such part.
fn part(body: Bytes, asked: Option<Asked>) -> Response {
    let kind = (header::CONTENT_TYPE, "application/octet-stream");
    let length = body.len();
    let Some(asked) = asked else { return ([kind], body).into_response() };
    match asked.within(length) {
        Some(range) => {
            let place = format!("bytes {}-{}/{length}", range.start, range.end - 1);
            let lines = [(header::CONTENT_RANGE, place), (kind.0, kind.1.to_owned())];
            (StatusCode::PARTIAL_CONTENT, lines, body.slice(range)).into_response()
        }
        None => {
            let detail = format!("the body is {length} bytes long");
            let problem = Problem::new(StatusCode::RANGE_NOT_SATISFIABLE, "no-such-part", detail, "");
            ([(header::CONTENT_RANGE, format!("bytes */{length}"))], problem).into_response()
        }
    }
}

/// The part of a body that a `Range` line names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    /// `2-5`: the first and the last byte, both included.
    Between(usize, usize),
    /// `2-`: from this byte to the end.
    From(usize),
    /// `-5`: this many bytes at the end.
    Last(usize),
}

impl Asked {
    fn within(self, length: usize) -> Option<Range<usize>> {
        let (start, end) = match self {
            Self::Between(first, last) => (first, last.saturating_add(1).min(length)),
            Self::From(first) => (first, length),
            Self::Last(count) => (length.saturating_sub(count), length),
        };
        (start < end).then_some(start..end)
    }
}

/// Returns the part that is asked for. A line that cannot be read, or that asks for several parts, is ignored (RFC
/// 9110, 14.2).
fn asked(headers: &HeaderMap) -> Option<Asked> {
    let (first, last) = headers.get(header::RANGE)?.to_str().ok()?.strip_prefix("bytes=")?.split_once('-')?;
    let number = |text: &str| text.trim().parse::<usize>().ok();
    match (first.trim(), last.trim()) {
        ("", last) => number(last).map(Asked::Last),
        (first, "") => number(first).map(Asked::From),
        (first, last) => {
            let (first, last) = (number(first)?, number(last)?);
            (first <= last).then_some(Asked::Between(first, last))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str, length: usize) -> Option<Option<Range<usize>>> {
        let headers = HeaderMap::from_iter([(header::RANGE, HeaderValue::from_str(line).unwrap())]);
        asked(&headers).map(|asked| asked.within(length))
    }

    #[test]
    fn a_part_is_what_the_line_says() {
        assert_eq!(found("bytes=2-5", 10), Some(Some(2..6)));
        assert_eq!(found("bytes=2-50", 10), Some(Some(2..10)));
        assert_eq!(found("bytes=9-", 10), Some(Some(9..10)));
        assert_eq!(found("bytes=-3", 10), Some(Some(7..10)));
        assert_eq!(found("bytes=-30", 10), Some(Some(0..10)));
    }

    #[test]
    fn a_part_beyond_the_end_is_none_and_nonsense_is_the_whole() {
        assert_eq!(
            [found("bytes=10-", 10), found("bytes=0-5", 0), found("bytes=-0", 10)],
            [const { Some(None) }; 3]
        );
        assert_eq!(
            [found("bytes=5-2", 10), found("bytes=0-1,4-5", 10), found("lines=0-1", 10)],
            [const { None }; 3]
        );
    }
}
