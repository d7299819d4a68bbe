//! `hookmitt confirm`: calls the URL that a set-up request asks for.

use hookmitt_event::Plain;
use http::Method;
use serde_json::{Value, json};

use crate::{
    client::Client,
    event_ref::EventRef,
    failure::{CliError, Exit},
    terminal::Screen,
};

/// What `confirm` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The event: its id or the start of it, '#12', last, last~2
    id: EventRef,
}

/// Runs the command.
pub(crate) async fn run(args: &Args, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    let confirmed: Value = client.send(Method::POST, &args.id.address_of("confirm"), &json!({})).await?;
    if screen.json {
        screen.print_json(&confirmed)?;
    } else {
        let host = confirmed["host"].as_str().unwrap_or_default();
        screen.note(format_args!("confirmed: {} answered {}", Plain(host), confirmed["status"]));
    }
    Ok(Exit::Success)
}
