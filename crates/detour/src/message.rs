//! Messages of a smee channel: what it makes of a request, and the request as far as it can be restored.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use hookmitt_event::{HeaderLines, HttpVersion, Request, Timestamp};
use serde_json::{Map, Value};

/// A request that went through a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmeeMessage {
    /// The request as far as it can be restored. Header names are in lower case, and the body is written anew unless
    /// the channel also sends its bytes.
    pub request: Request,
    /// When the channel received the request.
    pub received_at: Option<Timestamp>,
    /// Whether the body is byte for byte as it was sent.
    pub exact: bool,
}

/// Why a text is not a channel's message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MessageError {
    /// The text is not a JSON object.
    #[error("it isn't a JSON object")]
    NoObject,
    /// The field `bodyB` is not base64.
    #[error("its bodyB isn't valid base64")]
    Base64,
}

/// Header lines about the bytes of the body or the connection to the channel. They would be wrong for the restored
/// request.
const FRAMING: [&str; 4] = ["content-length", "transfer-encoding", "connection", "content-encoding"];

impl SmeeMessage {
    /// Parses the data of one of the channel's events: a JSON object with the header lines by name, `body`, `query` and
    /// `timestamp` (<https://github.com/probot/smee.io>). gosmee's servers add `bodyB`, the bytes of the body in
    /// base64.
    ///
    /// # Errors
    /// Returns a [`MessageError`].
    pub fn parse(data: &str) -> Result<Self, MessageError> {
        let Ok(Value::Object(mut fields)) = serde_json::from_str(data) else {
            return Err(MessageError::NoObject);
        };
        let parsed = fields.remove("body").unwrap_or(Value::Null);
        let query = query(fields.remove("query"));
        let received_at = moment(fields.remove("timestamp"));
        let bytes = fields.remove("bodyB").and_then(|bytes| bytes.as_str().map(|text| STANDARD.decode(text)));
        let exact = bytes.is_some();
        let body = match bytes {
            Some(bytes) => bytes.map_err(|_| MessageError::Base64)?,
            None => written_anew(&parsed, fields.get("content-type").and_then(Value::as_str)),
        };
        let request = Request {
            method: "POST".to_owned(),
            path: String::new(),
            query,
            version: HttpVersion::Http11,
            headers: headers(&fields, exact),
            body: Bytes::from(body),
        };
        Ok(Self { request, received_at, exact })
    }
}

fn headers(fields: &Map<String, Value>, exact: bool) -> HeaderLines {
    let kept = |name: &str| !FRAMING.contains(&name) || exact && name == "content-encoding";
    let texts = fields.iter().filter(|(name, _)| kept(name)).flat_map(|(name, value)| {
        let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        values.iter().filter_map(move |value| Some((name.clone(), text(value)?)))
    });
    // Each line that is not valid in HTTP is left out by itself, because a single one would make the whole list fail.
    let fits = |pair: &(String, String)| HeaderLines::from_pairs([(&pair.0, &pair.1)]).is_ok();
    HeaderLines::from_pairs(texts.filter(fits)).unwrap_or_default()
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Writes the body as the channel's own client does, except that a form becomes a form again.
fn written_anew(parsed: &Value, content_type: Option<&str>) -> Vec<u8> {
    let is_form = content_type.is_some_and(|kind| kind.starts_with("application/x-www-form-urlencoded"));
    match parsed {
        Value::Null => Vec::new(),
        Value::String(text) => text.clone().into_bytes(),
        Value::Object(fields) if is_form => form(fields).into_bytes(),
        other => other.to_string().into_bytes(),
    }
}

fn query(given: Option<Value>) -> Option<String> {
    let Some(Value::Object(fields)) = given else { return None };
    (!fields.is_empty()).then(|| form(&fields))
}

fn form(fields: &Map<String, Value>) -> String {
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    for (name, value) in fields {
        let values = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
        for value in values {
            form.append_pair(name, &text(value).unwrap_or_else(|| value.to_string()));
        }
    }
    form.finish()
}

/// Reads a time in milliseconds since the Unix epoch, given as a number or as text.
fn moment(given: Option<Value>) -> Option<Timestamp> {
    let given = given?;
    let millis = given.as_i64().or_else(|| given.as_str()?.parse().ok())?;
    Some(Timestamp::from_micros(millis.checked_mul(1_000)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_becomes_a_request_again() {
        let data = r#"{"host":"smee.io","content-type":"application/json","x-github-event":"push","content-length":"24",
            "accept":["a","b"],"body":{"b":1.50,"a":"ü"},"query":{"x":"1 2","y":["3","4"]},"timestamp":1700000000123}"#;
        let message = SmeeMessage::parse(data).unwrap();
        assert_eq!(message.request.body, r#"{"b":1.50,"a":"ü"}"#.as_bytes());
        assert_eq!(message.request.query.as_deref(), Some("x=1+2&y=3&y=4"));
        assert_eq!(message.received_at, Some(Timestamp::from_micros(1_700_000_000_123_000)));
        assert_eq!(message.request.headers.get_str("x-github-event"), Some("push"));
        assert_eq!(message.request.headers.get_all("accept").count(), 2);
        assert!(!message.request.headers.has("content-length") && !message.exact);
    }

    #[test]
    fn bytes_that_came_along_are_the_body() {
        let data = r#"{"content-encoding":"gzip","body":{"a":1},"bodyB":"eyAiYSIgOiAxIH0=","timestamp":"5"}"#;
        let message = SmeeMessage::parse(data).unwrap();
        assert_eq!((&message.request.body[..], message.exact), (&b"{ \"a\" : 1 }"[..], true));
        assert!(message.request.headers.has("content-encoding"));
    }

    #[test]
    fn a_form_is_a_form_again() {
        let data = r#"{"content-type":"application/x-www-form-urlencoded","body":{"payload":"{\"a\":1}","b":"x y"}}"#;
        assert_eq!(SmeeMessage::parse(data).unwrap().request.body, "payload=%7B%22a%22%3A1%7D&b=x+y");
    }

    #[test]
    fn what_no_channel_sends_is_refused_and_odd_lines_are_left_out() {
        assert_eq!(SmeeMessage::parse("[1]"), Err(MessageError::NoObject));
        assert_eq!(SmeeMessage::parse("{"), Err(MessageError::NoObject));
        assert_eq!(SmeeMessage::parse(r#"{"bodyB":"!"}"#), Err(MessageError::Base64));
        let odd = SmeeMessage::parse(
            r#"{"a b":"1","c":"x\r\ny: z","d":"2","e":{"f":1},"query":7,"timestamp":"?"}"#,
        );
        let odd = odd.unwrap();
        assert_eq!(&odd.request.headers.as_wire()[..], b"d: 2\r\n");
        assert_eq!((odd.request.body.len(), odd.request.query, odd.received_at), (0, None, None));
    }
}
