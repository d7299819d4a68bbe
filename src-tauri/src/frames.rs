//! An HTTP message in one block of bytes: the length of its JSON head (4 bytes, big-endian), the head, the body.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri};
use serde::{Deserialize, Serialize};

/// Why a block of bytes is not a valid request.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FrameError {
    /// It is shorter than its head.
    #[error("the request is cut short")]
    Short,
    /// Its head is not valid, or has fields that this version doesn't know.
    #[error("the request's head can't be read: {0}")]
    Head(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RequestHead {
    method: String,
    path: String,
    #[serde(default)]
    headers: Vec<(String, String)>,
}

#[derive(Serialize)]
struct ResponseHead<'a> {
    status: u16,
    headers: Vec<(&'a str, std::borrow::Cow<'a, str>)>,
}

/// Parses a request.
pub(crate) fn read(frame: &[u8]) -> Result<Request<Bytes>, FrameError> {
    let wrong = |why: &dyn std::fmt::Display| FrameError::Head(why.to_string());
    let (length, rest) = frame.split_first_chunk::<4>().ok_or(FrameError::Short)?;
    let length = usize::try_from(u32::from_be_bytes(*length)).map_err(|error| wrong(&error))?;
    let (head, body) = rest.split_at_checked(length).ok_or(FrameError::Short)?;
    let head: RequestHead = serde_json::from_slice(head).map_err(|error| wrong(&error))?;
    let mut request = Request::new(Bytes::copy_from_slice(body));
    *request.method_mut() = Method::from_bytes(head.method.as_bytes()).map_err(|error| wrong(&error))?;
    *request.uri_mut() = path(&head.path)?;
    for (name, value) in &head.headers {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|error| wrong(&error))?;
        let value = HeaderValue::from_bytes(value.as_bytes()).map_err(|error| wrong(&error))?;
        request.headers_mut().append(name, value);
    }
    Ok(request)
}

/// Parses a path with its query.
pub(crate) fn path(text: &str) -> Result<Uri, FrameError> {
    if !text.starts_with('/') {
        return Err(FrameError::Head(format!("{text:?} isn't a path")));
    }
    text.parse().map_err(|error: http::uri::InvalidUri| FrameError::Head(error.to_string()))
}

/// Writes a response.
pub(crate) fn write(answer: &Response<Bytes>) -> Vec<u8> {
    let headers = answer.headers().iter();
    let headers = headers.map(|(name, value)| (name.as_str(), String::from_utf8_lossy(value.as_bytes())));
    put(answer.status(), headers.collect(), answer.body())
}

/// Writes a problem document, as the API does.
pub(crate) fn write_problem(status: StatusCode, failure: &crate::state::Failure) -> Vec<u8> {
    let problem = serde_json::json!({
        "status": status.as_u16(),
        "title": status.canonical_reason(),
        "code": failure.code,
        "detail": failure.message,
        "hint": failure.hint,
    });
    put(status, vec![("content-type", "application/problem+json".into())], problem.to_string().as_bytes())
}

fn put(status: StatusCode, headers: Vec<(&str, std::borrow::Cow<'_, str>)>, body: &[u8]) -> Vec<u8> {
    let head = serde_json::to_vec(&ResponseHead { status: status.as_u16(), headers }).unwrap_or_default();
    let length = u32::try_from(head.len()).unwrap_or_default();
    [&length.to_be_bytes(), head.as_slice(), body].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(head: &str, body: &[u8]) -> Vec<u8> {
        [&u32::try_from(head.len()).unwrap().to_be_bytes(), head.as_bytes(), body].concat()
    }

    #[test]
    fn a_request_is_read_byte_for_byte() {
        let head =
            r#"{"method":"POST","path":"/api/events?q=%23","headers":[["content-type","application/json"]]}"#;
        let request = read(&framed(head, b"\x00\xff{}")).unwrap();
        assert_eq!(
            (request.method(), request.uri().to_string().as_str()),
            (&Method::POST, "/api/events?q=%23")
        );
        assert_eq!(request.headers()["content-type"], "application/json");
        assert_eq!(request.body().as_ref(), b"\x00\xff{}");
    }

    #[test]
    fn what_is_no_request_is_refused() {
        assert!(matches!(read(b"\x00\x00"), Err(FrameError::Short)));
        assert!(matches!(read(b"\x00\x00\x00\x09{}"), Err(FrameError::Short)));
        assert!(matches!(read(b"\xff\xff\xff\xff{}"), Err(FrameError::Short)));
        for head in [
            "{}",
            r#"{"method":"GET","path":"http://elsewhere/"}"#,
            r#"{"method":"G T","path":"/api"}"#,
            r#"{"method":"GET","path":"/a b"}"#,
            r#"{"method":"GET","path":"/api","headers":[["a","b\r\nc: d"]]}"#,
        ] {
            assert!(matches!(read(&framed(head, b"")), Err(FrameError::Head(_))), "{head}");
        }
    }

    #[test]
    fn an_answer_is_written_the_same_way() {
        let answer =
            Response::builder().status(404).header("x-a", "b").body(Bytes::from_static(b"\xff")).unwrap();
        assert_eq!(write(&answer), framed(r#"{"status":404,"headers":[["x-a","b"]]}"#, b"\xff"));
    }
}
