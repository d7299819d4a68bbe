//! Makes one attempt: sends the head and the body and reads the answer, within the time limit.

use std::{error::Error as _, io, time::Duration};

use bytes::{Bytes, BytesMut};
use hookmitt_call::{Stream, Tls};
use hookmitt_event::{HeaderLines, Request, ResponseHead};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::time::{Instant, timeout, timeout_at};

use crate::{
    Envelope, Outcome, TargetUrl,
    dial::{self, DialError},
    head::{head, unsendable},
    wire::{LARGEST_HEAD, MOST_LINES, Record, Wire},
};

/// How many bytes of an answer's body are kept.
pub const KEPT_BODY: usize = 1024 * 1024;

/// How many bytes of an answer's body are read before the connection is closed. More is read than kept, so that a
/// target whose answer is a little too long doesn't see its own write fail.
const READ_BODY: usize = 16 * 1024 * 1024;

/// What has arrived so far. It is still there after the time limit.
#[derive(Default)]
struct Answer {
    sent: bool,
    head: Option<ResponseHead>,
    body: BytesMut,
    truncated: bool,
}

/// If a deadline was missed by more than this, this process or the machine was suspended when it passed.
const SUSPENDED: Duration = Duration::from_secs(1);

/// How long reading may go on after such a suspension.
const STILL_TO_READ: Duration = Duration::from_secs(1);

/// Sends a stored request to `target` once. `timeout` spans everything from the lookup of its name to the end of the
/// answer.
///
/// Every failure is an [`Outcome`], too. Dropping the future closes the connection.
pub async fn send(target: &TargetUrl, envelope: &Envelope<'_>, timeout: Duration, tls: &Tls) -> Outcome {
    let begun = Instant::now();
    let mut answer = Answer::default();
    let tried = attempt(target, envelope, begun + timeout, tls, &mut answer).await;
    let Answer { sent, head, body, truncated } = answer;
    let (body, duration) = (body.freeze(), begun.elapsed());
    match (tried, head) {
        (Ok(()), Some(response)) => Outcome::Answered { response, body, truncated, duration },
        (Err(DialError::Unreachable(silence)), _) => Outcome::Unreachable(silence),
        (Err(DialError::Hindered(error)), _) => Outcome::Hindered { error },
        (Err(DialError::Broken(error)), response) => {
            Outcome::Broken { error, sent, response, body, duration }
        }
        (Ok(()), None) => unreachable!("an exchange without an error has read a head"),
    }
}

async fn attempt(
    target: &TargetUrl,
    envelope: &Envelope<'_>,
    deadline: Instant,
    tls: &Tls,
    answer: &mut Answer,
) -> Result<(), DialError> {
    if let Some(error) = unsendable(envelope.request) {
        return Err(DialError::Broken(error));
    }
    let stream = dial::open(target, deadline, tls).await?;
    answer.sent = true;
    let (wire, record) = Wire::new(stream, head(target, envelope));
    let mut exchange = Box::pin(exchange(wire, &record, envelope.request, answer));
    let mut ended = timeout_at(deadline, &mut exchange).await;
    if ended.is_err() && deadline.elapsed() > SUSPENDED {
        // This process was suspended, so an answer that came in time may still be unread.
        ended = timeout(STILL_TO_READ, &mut exchange).await;
    }
    drop(exchange);
    match ended {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(DialError::Broken(said(&error, &record))),
        Err(_) if answer.head.is_some() => {
            Err(DialError::Broken("the answer wasn't complete within the time limit".to_owned()))
        }
        Err(_) => Err(DialError::Broken("no answer within the time limit".to_owned())),
    }
}

/// Polls the connection and the request together in this task, so that dropping the future closes the connection.
async fn exchange(
    wire: Wire<Box<dyn Stream>>,
    record: &Record,
    request: &Request,
    answer: &mut Answer,
) -> hyper::Result<()> {
    let mut builder = http1::Builder::new();
    builder.max_buf_size(LARGEST_HEAD).max_headers(MOST_LINES);
    let (mut sender, mut connection) = builder.handshake(TokioIo::new(wire)).await?;
    let talk = async {
        let response = sender.send_request(stand_in(request)).await?;
        answer.head = Some(response_head(&response, record));
        read_body(response.into_body(), answer).await
    };
    tokio::pin!(talk);
    tokio::select! {
        biased;
        talked = &mut talk => return talked,
        // The connection may end before the answer is read from it. The answer's future returns the error, too.
        _ = &mut connection => {}
    }
    talk.await
}

/// Returns the request that hyper is given: it has the right framing of the body, and the method HEAD if the answer
/// will have no body. It is never CONNECT, because hyper would then take the connection for a tunnel.
fn stand_in(request: &Request) -> http::Request<Full<Bytes>> {
    let method = if request.method == "HEAD" { http::Method::HEAD } else { http::Method::POST };
    let mut out = http::Request::new(Full::new(request.body.clone()));
    *out.method_mut() = method;
    out.headers_mut().insert(http::header::CONTENT_LENGTH, request.body.len().into());
    out
}

fn response_head(response: &http::Response<hyper::body::Incoming>, record: &Record) -> ResponseHead {
    let map = response.headers();
    let recorded = record.header_lines().filter(|lines| lines.len() == map.len());
    // hyper and the recorder read the same bytes. If they ever differ, hyper's status counts.
    let headers = recorded.unwrap_or_else(|| {
        let pairs = map.iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
        HeaderLines::from_pairs(pairs).unwrap_or_default()
    });
    ResponseHead { status: response.status().as_u16(), headers }
}

async fn read_body(mut incoming: hyper::body::Incoming, answer: &mut Answer) -> hyper::Result<()> {
    let mut read = 0usize;
    while let Some(frame) = incoming.frame().await {
        let Ok(data) = frame?.into_data() else { continue };
        read += data.len();
        let room = KEPT_BODY - answer.body.len();
        answer.body.extend_from_slice(&data[..data.len().min(room)]);
        answer.truncated |= data.len() > room;
        if read >= READ_BODY {
            break;
        }
    }
    Ok(())
}

fn said(error: &hyper::Error, record: &Record) -> String {
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    if let Some(error) = record.write_error() {
        return format!("the connection broke while the request was being sent: {error}");
    }
    if error.is_parse_too_large() {
        return format!("the head of the answer is larger than {LARGEST_HEAD} bytes or {MOST_LINES} lines");
    }
    if error.is_parse() {
        return format!("the answer is not HTTP/1.1: {error}{cause}");
    }
    let cut = error.source().and_then(|cause| cause.downcast_ref::<io::Error>());
    let cut = cut.is_some_and(|cause| cause.kind() == io::ErrorKind::UnexpectedEof);
    if cut || error.is_incomplete_message() || error.is_canceled() {
        return "the connection was closed before the answer was complete".to_owned();
    }
    format!("the connection broke: {error}{cause}")
}
