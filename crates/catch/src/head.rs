//! The head of a request as it came, and what hyper needs to know of it.

use bytes::{BufMut, Bytes, BytesMut};
use hookmitt_event::{HeaderLines, HttpVersion};
use http::{HeaderName, HeaderValue, Method, Request, Uri};

/// The most bytes of a head.
pub(crate) const MAX_HEAD: usize = 64 * 1024;

/// The most header lines of a head.
pub(crate) const MAX_LINES: usize = 256;

/// The most bytes of a method.
const MAX_METHOD: usize = 255;

/// Stands for any longer length: more than any limit allows, and the longest that hyper reads.
const BEYOND: u64 = 1 << 62;

/// The head of a request, byte for byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The method.
    pub method: String,
    /// The request target as it came: `/github/a//b?x=%20`.
    pub target: String,
    /// The version that the sender speaks.
    pub version: HttpVersion,
    /// The header lines.
    pub headers: HeaderLines,
    /// How the body is framed.
    pub(crate) body: BodyLength,
}

/// How many bytes of body follow a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyLength {
    Known(u64),
    Chunked,
}

/// Why a head was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeadError {
    /// It has more bytes or lines than allowed.
    #[error("the request's head is larger than {MAX_HEAD} bytes or {MAX_LINES} header lines")]
    TooLarge,
    /// It is a TLS hello.
    #[error("this port speaks http, and something tried https")]
    Tls,
    /// It is another version of HTTP.
    #[error("this port speaks HTTP/1.1 and HTTP/1.0")]
    Version,
    /// It is not HTTP.
    #[error("not an HTTP request: {0}")]
    Malformed(String),
    /// Too many bytes are in flight already.
    #[error("too many requests are being received")]
    NoRoom,
    /// The statements about the body's length contradict each other.
    #[error("the request's body has no clear length: {0}")]
    Framing(&'static str),
}

/// Parses a head from the start of `input`. Returns the head and how many bytes it took, or `Ok(None)` if more bytes
/// are needed.
///
/// # Errors
/// Fails with [`HeadError`]. The connection can't be used afterwards.
pub fn parse_head(input: &[u8]) -> Result<Option<(Head, usize)>, HeadError> {
    if input.first() == Some(&0x16) {
        return Err(HeadError::Tls);
    }
    let mut lines = [httparse::EMPTY_HEADER; MAX_LINES];
    let mut request = httparse::Request::new(&mut lines);
    let taken = match request.parse(input) {
        Ok(httparse::Status::Complete(taken)) if taken <= MAX_HEAD => taken,
        Ok(httparse::Status::Partial) if input.len() <= MAX_HEAD => return Ok(None),
        Ok(_) | Err(httparse::Error::TooManyHeaders) => return Err(HeadError::TooLarge),
        Err(httparse::Error::Version) if names_version(input) => return Err(HeadError::Version),
        Err(other) => return Err(HeadError::Malformed(other.to_string())),
    };
    if request.method.is_some_and(|method| method.len() > MAX_METHOD) {
        return Err(HeadError::Malformed(format!("its method has more than {MAX_METHOD} bytes")));
    }
    let version = if request.version == Some(0) { HttpVersion::Http10 } else { HttpVersion::Http11 };
    let body = body_length(request.headers, version)?;
    let headers = HeaderLines::from_wire(Bytes::copy_from_slice(block(&input[..taken])))
        .map_err(|error| HeadError::Malformed(error.to_string()))?;
    let head = Head {
        method: request.method.unwrap_or_default().to_owned(),
        target: request.path.unwrap_or_default().to_owned(),
        version,
        headers,
        body,
    };
    Ok(Some((head, taken)))
}

/// Returns whether the request line has three parts, so that the last one is the version.
fn names_version(input: &[u8]) -> bool {
    let line = input.trim_ascii_start().split(|byte| matches!(byte, b'\r' | b'\n')).next();
    line.is_some_and(|line| line.iter().filter(|byte| **byte == b' ').count() == 2)
}

/// Returns the header lines of a whole head: everything between the request line and the empty line.
fn block(head: &[u8]) -> &[u8] {
    let start = head.iter().position(|byte| !matches!(byte, b'\r' | b'\n')).unwrap_or(0);
    let line = head[start..].iter().position(|byte| *byte == b'\n').map_or(head.len(), |end| start + end + 1);
    let rest = &head[line..];
    rest.strip_suffix(b"\r\n").or_else(|| rest.strip_suffix(b"\n")).unwrap_or(rest)
}

/// Reads the length of the body (RFC 9112, 6.3), but refuses every contradiction instead of guessing.
fn body_length(lines: &[httparse::Header<'_>], version: HttpVersion) -> Result<BodyLength, HeadError> {
    let (mut length, mut chunked) = (None, false);
    for line in lines {
        if line.name.eq_ignore_ascii_case("content-length") {
            let stated = digits(line.value).ok_or(HeadError::Framing("Content-Length is not a number"))?;
            if length.is_some_and(|length| length != stated) {
                return Err(HeadError::Framing("two Content-Length lines differ"));
            }
            length = Some(stated);
        } else if line.name.eq_ignore_ascii_case("transfer-encoding") {
            if chunked || !line.value.trim_ascii().eq_ignore_ascii_case(b"chunked") {
                return Err(HeadError::Framing("the only Transfer-Encoding understood is chunked"));
            }
            chunked = true;
        }
    }
    match (length, chunked) {
        (Some(_), true) => Err(HeadError::Framing("both Content-Length and Transfer-Encoding")),
        (None, true) if version == HttpVersion::Http10 => {
            Err(HeadError::Framing("Transfer-Encoding in HTTP/1.0"))
        }
        (None, true) => Ok(BodyLength::Chunked),
        (length, false) => Ok(BodyLength::Known(length.unwrap_or(0))),
    }
}

fn digits(value: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(value.trim_ascii()).ok()?;
    let length: u64 = text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())??;
    Some(length.min(BEYOND))
}

impl Head {
    /// Returns how many bytes the head takes up.
    pub(crate) fn size(&self) -> usize {
        self.method.len() + self.target.len() + self.headers.as_wire().len()
    }

    /// Returns the head that hyper is given instead of this one: the same version, framing and connection handling, the
    /// same method (POST for CONNECT), the head's number as the target, and no other header lines.
    pub(crate) fn for_hyper(&self, number: u32, upgrades: bool) -> Bytes {
        let mut out = BytesMut::with_capacity(160);
        // After CONNECT hyper would treat the connection as a tunnel instead of reading a body.
        let method = if self.method == "CONNECT" { "POST" } else { &self.method };
        out.put_slice(method.as_bytes());
        out.put_slice(format!(" /{number} ").as_bytes());
        out.put_slice(self.version.to_string().as_bytes());
        match self.body {
            BodyLength::Known(0) => out.put_slice(b"\r\n"),
            BodyLength::Known(length) => {
                out.put_slice(format!("\r\ncontent-length: {length}\r\n").as_bytes());
            }
            BodyLength::Chunked => out.put_slice(b"\r\ntransfer-encoding: chunked\r\n"),
        }
        // Each is written once, however often the sender wrote it, because hyper accepts only a hundred lines.
        let (mut expects, mut close, mut keep) = (false, false, false);
        for line in self.headers.iter() {
            if line.name.eq_ignore_ascii_case("expect") {
                expects |= lists(line.value, "100-continue");
            } else if line.name.eq_ignore_ascii_case("connection") {
                close |= lists(line.value, "close");
                keep |= lists(line.value, "keep-alive");
            }
        }
        if expects {
            out.put_slice(b"expect: 100-continue\r\n");
        }
        if upgrades {
            out.put_slice(b"connection: upgrade\r\nupgrade: websocket\r\n");
        } else if close {
            out.put_slice(b"connection: close\r\n");
        } else if keep {
            out.put_slice(b"connection: keep-alive\r\n");
        }
        out.put_slice(b"\r\n");
        out.freeze()
    }

    /// Returns whether this request asks for a WebSocket at the path that allows one.
    pub(crate) fn upgrades_at(&self, path: Option<&str>) -> bool {
        let asks = |name, token| {
            let mut values = self.headers.get_all(name);
            values.any(|value| lists(value, token))
        };
        path.is_some_and(|path| self.called().is_ok_and(|called| called.target == path))
            && (self.method.as_str(), self.version, self.body)
                == ("GET", HttpVersion::Http11, BodyLength::Known(0))
            && asks("connection", "upgrade")
            && asks("upgrade", "websocket")
    }

    /// Returns hyper's request with the sender's own head in place of the substitute; `None` if the target is no URL.
    pub(crate) fn restore<B>(&self, request: Request<B>) -> Option<Request<B>> {
        let target = self.called().ok()?.target;
        let (method, uri): (Method, Uri) = (self.method.parse().ok()?, target.parse().ok()?);
        let (mut parts, body) = request.into_parts();
        (parts.method, parts.uri) = (method, uri);
        parts.headers.clear();
        for line in self.headers.iter() {
            // Both were checked when the head was parsed. A line that the http crate refuses all the same is left out.
            let name = HeaderName::from_bytes(line.name.as_bytes());
            if let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(line.value)) {
                parts.headers.append(name, value);
            }
        }
        Some(Request::from_parts(parts, body))
    }
}

/// Returns whether a comma-separated value (`a, b`) contains this token.
fn lists(value: &[u8], token: &str) -> bool {
    value.split(|byte| *byte == b',').any(|part| part.trim_ascii().eq_ignore_ascii_case(token.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(input: &[u8]) -> Result<Head, HeadError> {
        parse_head(input).map(|found| found.unwrap().0)
    }

    #[test]
    fn a_head_keeps_target_and_lines_as_they_came() {
        let input = b"\r\nPURGE /a//b/../c%2Fd?<x>&|^` HTTP/1.1\r\nX-A:1\r\nx-a:  2 \r\n\r\nbody";
        let (head, taken) = parse_head(input).unwrap().unwrap();
        assert_eq!((head.method.as_str(), head.target.as_str()), ("PURGE", "/a//b/../c%2Fd?<x>&|^`"));
        assert_eq!(&head.headers.as_wire()[..], b"X-A:1\r\nx-a:  2 \r\n");
        assert_eq!(&input[taken..], b"body");
    }

    #[test]
    fn a_head_without_lines_is_whole() {
        let head = parsed(b"GET / HTTP/1.0\r\n\r\n").unwrap();
        assert_eq!((head.version, head.headers.is_empty()), (HttpVersion::Http10, true));
    }

    #[test]
    fn bodies_without_a_clear_length_are_refused() {
        for lines in [
            "Content-Length: 1\r\nContent-Length: 2",
            "Content-Length: +1",
            "Content-Length: -1",
            "Content-Length:",
            "Content-Length: 1\r\nTransfer-Encoding: chunked",
            "Transfer-Encoding: gzip, chunked",
        ] {
            let input = format!("POST / HTTP/1.1\r\n{lines}\r\n\r\n");
            assert!(matches!(parsed(input.as_bytes()), Err(HeadError::Framing(_))), "{lines}");
        }
    }

    #[test]
    fn strangers_languages_are_named() {
        assert_eq!(parse_head(b"\x16\x03\x01").unwrap_err(), HeadError::Tls);
        assert_eq!(parse_head(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").unwrap_err(), HeadError::Version);
        for malformed in [&b"GET / HTTP/1.1\r\nA\x01: b\r\n\r\n"[..], b"GET /a b HTTP/1.1\r\n\r\n"] {
            assert!(matches!(parse_head(malformed), Err(HeadError::Malformed(_))), "{malformed:?}");
        }
        assert_eq!(parse_head(b"\r\nGET / HTTP/9\r\n\r\n").unwrap_err(), HeadError::Version);
    }

    #[test]
    fn a_method_has_an_end_and_a_length_has_a_bound() {
        let of = |length| parsed(format!("{} / HTTP/1.1\r\n\r\n", "A".repeat(length)).as_bytes());
        assert_eq!(of(MAX_METHOD).unwrap().method.len(), MAX_METHOD);
        assert!(matches!(of(MAX_METHOD + 1), Err(HeadError::Malformed(_))));
        let head = parsed(b"POST / HTTP/1.1\r\nContent-Length: 18446744073709551615\r\n\r\n");
        assert_eq!(head.unwrap().body, BodyLength::Known(BEYOND), "hyper reads this one, too");
    }

    #[test]
    fn a_large_head_is_refused() {
        let mut input = b"GET / HTTP/1.1\r\nX: ".to_vec();
        input.resize(MAX_HEAD + 1, b'a');
        assert_eq!(parse_head(&input).unwrap_err(), HeadError::TooLarge);
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(MAX_LINES + 1));
        assert_eq!(parse_head(many.as_bytes()).unwrap_err(), HeadError::TooLarge);
    }
}
