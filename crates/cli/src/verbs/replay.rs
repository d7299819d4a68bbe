//! `hookmitt replay`: delivers stored events again, unchanged or edited.

use std::path::PathBuf;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hookmitt_event::Plain;
use http::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    client::{Address, Client},
    destination::Destination,
    edit::{BodyEdit, HeaderEdit},
    event_ref::EventRef,
    failure::{CliError, Exit},
    outcome::{Ordered, Outcomes},
    stop::Stop,
    terminal::{ODD, Screen, Styled},
};

/// What `replay` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The events: ids or the start of them, '#12', last, last~2
    #[arg(required = true, value_name = "ID")]
    ids: Vec<EventRef>,
    /// Where to send them; by default the source's targets
    #[arg(long, value_name = "URL")]
    to: Option<Destination>,
    /// Re-sign with the source's secret and the current time
    #[arg(long)]
    resign: bool,
    /// Re-sign with a new event id, so that the receiver doesn't treat it as a duplicate
    #[arg(long, requires = "resign")]
    fresh_id: bool,
    /// Set a header; repeatable
    #[arg(long, value_name = "K: V")]
    header: Vec<HeaderEdit>,
    /// Set a value in a JSON body; repeatable
    #[arg(long, value_name = "/POINTER=VALUE")]
    set: Vec<BodyEdit>,
    /// Send this file's bytes as the body
    #[arg(long, value_name = "FILE")]
    body: Option<PathBuf>,
    /// How often to send each
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    times: Option<u32>,
}

/// The API's answer to an order.
#[derive(Debug, Deserialize)]
struct Replayed {
    items: Vec<Ordered>,
    secret: Option<String>,
    #[serde(default)]
    spoilt: bool,
}

/// The API's answer to a stop.
#[derive(Debug, Deserialize)]
struct StoppedCount {
    unsent: usize,
}

/// Orders the deliveries, waits for one attempt of each, and prints the outcomes.
pub(crate) async fn run(args: &Args, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    let order = args.order()?;
    let mut stop = Stop::watch().map_err(CliError::signals)?;
    let mut outcomes = Outcomes::default();
    let mut queued = Vec::new();
    for id in EventRef::ids(&args.ids, client).await? {
        let address = Address::new(["events", &id.to_string(), "replay"]);
        // Not broken off, because what this queues has to be known to be stopped.
        let replayed: Replayed = client.send(Method::POST, &address, &order).await?;
        replayed.explain(screen);
        let begun = queued.len();
        queued.extend(replayed.items);
        let waited = tokio::select! {
            biased;
            () = stop.asked() => None,
            waited = outcomes.wait_for(&queued[begun..], client, screen) => Some(waited),
        };
        match waited {
            Some(waited) => waited?,
            None => return give_up(&queued, client, screen).await,
        }
    }
    Ok(outcomes.exit())
}

/// How many deliveries are stopped by one request.
const AT_ONCE: usize = 10_000;

/// Stops what isn't being sent yet, and says how many were sent.
async fn give_up(queued: &[Ordered], client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    let mut unsent = 0;
    for some in queued.chunks(AT_ONCE) {
        let ids: Vec<_> = some.iter().map(|ordered| &ordered.delivery_id).collect();
        let order = json!({ "deliveries": ids });
        let stopped: StoppedCount =
            client.send(Method::POST, &Address::new(["deliveries", "stop"]), &order).await?;
        unsent += stopped.unsent;
    }
    let (sent, all) = (queued.len() - unsent.min(queued.len()), queued.len());
    let message = format!("stopped: {sent} of {all} were sent");
    if screen.json {
        screen.complain("stopped", &message, None)
    } else {
        screen.note(message)
    }
    Ok(Exit::Interrupted)
}

impl Replayed {
    /// Says what signed the request, or that its signature no longer fits.
    fn explain(&self, screen: &Screen) {
        if let Some(secret) = &self.secret {
            screen.note(format_args!("signed with {}", Plain(secret)));
        }
        if self.spoilt {
            let note = "the signature doesn't fit the edited request; --resign signs it again";
            screen.note(format_args!("{} {note}", Styled(ODD, "note:")));
        }
    }
}

impl Args {
    fn order(&self) -> Result<Value, CliError> {
        let body = match &self.body {
            Some(path) => Some(std::fs::read(path).map_err(|source| CliError::file(path, source))?),
            None => None,
        };
        let headers: Vec<_> = self.header.iter().map(|HeaderEdit(name, value)| [name, value]).collect();
        let set: serde_json::Map<_, _> =
            self.set.iter().map(|BodyEdit(pointer, value)| (pointer.clone(), value.clone())).collect();
        Ok(json!({
            "to": self.to.as_ref().map(Destination::as_str),
            "resign": self.resign,
            "fresh_id": self.fresh_id,
            "headers": headers,
            "set": set,
            "body_base64": body.map(|body| STANDARD.encode(body)),
            "times": self.times,
        }))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[derive(clap::Parser)]
    struct Typed {
        #[command(flatten)]
        args: Args,
    }

    #[test]
    fn what_is_typed_becomes_the_order() {
        let typed =
            ["replay", "last", "#2", "--to", "3000", "--header", "A: 1", "--header", "A: 2", "--set", "/a=5"];
        let order = Typed::parse_from(typed).args.order().unwrap();
        let expected = json!({
            "to": "http://localhost:3000", "resign": false, "fresh_id": false, "headers": [["A", "1"], ["A", "2"]],
            "set": {"/a": 5}, "body_base64": null, "times": null,
        });
        assert_eq!(order, expected);
    }

    #[test]
    fn a_body_that_is_not_there_is_named() {
        let args = Typed::parse_from(["replay", "last", "--body", "/nowhere/b"]).args;
        let error = args.order().unwrap_err();
        assert!(error.to_string().starts_with("/nowhere/b: ") && error.exit() == Exit::BadInput, "{error}");
    }
}
