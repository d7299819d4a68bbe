//! `hookmitt note`: prints, sets and removes an event's note.

use std::io::{self, Read as _};

use hookmitt_api::EventJson;
use http::Method;
use serde_json::json;

use crate::{
    client::Client,
    event_ref::EventRef,
    failure::{CliError, Exit},
    search::argument,
    shown,
    terminal::{FAINT, Screen, Styled},
};

/// What `note` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The event: its id or the start of it, '#12', last, last~2
    id: EventRef,
    /// The note; `-` reads it from standard input. Without it, the note is printed
    #[arg(value_name = "TEXT", allow_hyphen_values = true, value_parser = argument)]
    text: Option<String>,
    /// Remove the note
    #[arg(long, conflicts_with = "text")]
    remove: bool,
}

/// The most that is read from standard input: more than a note may have, so that the API says what is wrong.
const MOST: u64 = 64 * 1024;

/// Prints or changes the note.
pub(crate) async fn run(args: &Args, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    let note = match args.text.as_deref() {
        None if !args.remove => {
            let event: EventJson = args.id.read(client).await?;
            print(&event, screen)?;
            return Ok(Exit::Success);
        }
        None => None,
        Some("-") => Some(read()?),
        Some(text) => Some(text.to_owned()),
    };
    let change = json!({ "note": note });
    let event: EventJson = client.send(Method::PATCH, &args.id.address(), &change).await?;
    if screen.json {
        print(&event, screen)?;
    } else {
        let done = if event.note.is_some() { "noted" } else { "has no note" };
        screen.note(format_args!("#{} {done}", event.seq));
    }
    Ok(Exit::Success)
}

fn print(event: &EventJson, screen: &Screen) -> Result<(), CliError> {
    if screen.json {
        return screen.print_json(&json!({ "event_id": event.id, "seq": event.seq, "note": event.note }));
    }
    match &event.note {
        Some(note) => screen.print(shown::text(note)),
        None => {
            screen.note(Styled(FAINT, format!("#{} has no note", event.seq)));
            Ok(())
        }
    }
}

fn read() -> Result<String, CliError> {
    let wrong = |source| CliError::System { doing: "can't read standard input", source };
    let mut text = String::new();
    io::stdin().lock().take(MOST).read_to_string(&mut text).map_err(wrong)?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}
