//! `hookmitt show`: shows one event.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use hookmitt_api::{DeliveryJson, EventJson};
use hookmitt_event::{Explanation, Timestamp, Verdict};
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::{
    client::{Address, Client},
    event_ref::EventRef,
    event_view::EventView,
    explanation_view,
    failure::{CliError, Exit},
    shown,
    terminal::Screen,
};

/// What `show` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The event: its id or the start of it, '#12', last, last~2
    id: EventRef,
    /// Write the body's exact bytes, and nothing else
    #[arg(long, conflicts_with_all = ["headers", "json"])]
    body: bool,
    /// Print the header lines in order, and nothing else
    #[arg(long, conflicts_with = "json")]
    headers: bool,
    /// Leave out the body; in JSON it is `body` if it is UTF-8, else `body_base64`
    #[arg(long, conflicts_with_all = ["body", "headers"])]
    no_body: bool,
}

/// The longest body in bytes that is printed as JSON. `--body` writes any.
const LONGEST: u64 = 8 * 1024 * 1024;

/// An event and its body.
#[derive(Serialize)]
struct Whole<'a> {
    #[serde(flatten)]
    event: &'a EventJson,
    #[serde(flatten)]
    body: Option<Body<'a>>,
}

/// A body: as text if it is UTF-8.
#[derive(Serialize)]
enum Body<'a> {
    #[serde(rename = "body")]
    Text(&'a str),
    #[serde(rename = "body_base64")]
    Base64(String),
}

impl<'a> Body<'a> {
    fn of(bytes: &'a [u8]) -> Self {
        std::str::from_utf8(bytes).map_or_else(|_| Self::Base64(STANDARD.encode(bytes)), Self::Text)
    }
}

/// Prints the event.
pub(crate) async fn run(args: &Args, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    if args.body {
        screen.print_bytes(&client.bytes(&args.id.address_of("body")).await?)?;
        return Ok(Exit::Success);
    }
    let mut event: EventJson = args.id.read(client).await?;
    if args.headers {
        if !event.headers.is_empty() {
            screen.print(shown::headers(&event.headers))?;
        }
        return Ok(Exit::Success);
    }
    if event.verdict == Verdict::Invalid {
        explain(&mut event, client).await?;
    }
    let body = args.fetch_body(&event, client, screen).await?;
    let body = body.as_deref();
    if screen.json {
        screen.print_json(&Whole { event: &event, body: body.map(Body::of) })?;
    } else {
        let view = EventView { event: &event, body, zone: &TimeZone::system(), now: Timestamp::now() };
        screen.print(format!("{}{}", view.text(), rejection(&event, client).await?))?;
    }
    Ok(Exit::Success)
}

/// Returns why the local server rejects the event although it is genuine, if it does.
async fn rejection(event: &EventJson, client: &Client) -> Result<String, CliError> {
    let is_rejected =
        event.verdict == Verdict::Valid && event.deliveries.iter().flatten().any(DeliveryJson::is_rejected);
    if !is_rejected {
        return Ok(String::new());
    }
    let address = Address::new(["events", &event.id.to_string(), "explanation"]);
    match client.get::<Explanation>(&address).await {
        Ok(explanation) => Ok(explanation_view::rejection(&explanation)),
        Err(CliError::Problem(problem)) if problem.status == 404 => Ok(String::new()), // its source was removed
        Err(error) => Err(error),
    }
}

impl Args {
    /// Fetches the event's body, unless it shall be left out or is too long for a line of JSON.
    async fn fetch_body(
        &self,
        event: &EventJson,
        client: &Client,
        screen: &Screen,
    ) -> Result<Option<Bytes>, CliError> {
        if self.no_body {
            return Ok(None);
        }
        if screen.json && event.size > LONGEST {
            let size = shown::size(event.size);
            let id = event.id;
            screen.note(format_args!(
                "the body is left out because of its size ({size}): `hookmitt show {id} --body` writes it"
            ));
            return Ok(None);
        }
        // By the event's id, because another event may be the last one by now.
        let address = Address::new(["events", &event.id.to_string(), "body"]);
        Ok(Some(client.bytes(&address).await?))
    }
}

/// Replaces the stored causes, which may come from a quick first look, by those that an explanation finds.
async fn explain(event: &mut EventJson, client: &Client) -> Result<(), CliError> {
    let address = Address::new(["events", &event.id.to_string(), "explanation"]);
    match client.get::<Explanation>(&address).await {
        Ok(explanation) if explanation.verdict == event.verdict => event.causes = explanation.kept_causes(),
        Ok(_) => {} // judged with settings that have changed since, so the stored verdict keeps its causes
        Err(CliError::Problem(problem)) if problem.status == 404 => {} // its source was removed
        Err(error) => return Err(error),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event_words::tests::hostile;

    #[test]
    fn a_body_is_text_where_it_can_be() {
        let event = hostile();
        let written = |body: Option<&[u8]>| {
            let whole = Whole { event: &event, body: body.map(Body::of) };
            let value = serde_json::to_value(&whole).unwrap();
            (value["seq"].clone(), value.get("body").cloned(), value.get("body_base64").cloned())
        };
        let seq = serde_json::json!(12);
        assert_eq!(written(Some("ä\0".as_bytes())), (seq.clone(), Some("ä\0".into()), None));
        assert_eq!(written(Some(b"")), (seq.clone(), Some("".into()), None));
        assert_eq!(written(Some(b"\xff\x00")), (seq.clone(), None, Some("/wA=".into())));
        assert_eq!(written(None), (seq, None, None));
    }
}
