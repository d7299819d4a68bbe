//! `hookmitt tag`: gives tags to events, takes them away, and lists them.

use hookmitt_api::EventJson;
use hookmitt_event::{Plain, Tag};
use http::Method;
use serde_json::{Value, json};

use crate::{
    client::{Address, Client},
    event_ref::EventRef,
    failure::{CliError, Exit},
    shown,
    terminal::{FAINT, STRONG, Screen, Styled},
};

/// What `tag` takes.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct Args {
    /// The events: ids or the start of them, '#12', last, last~2
    #[arg(value_name = "ID", required = true)]
    ids: Vec<EventRef>,
    /// Tags to add, with commas between them
    #[arg(long, value_name = "TAGS", value_delimiter = ',')]
    add: Vec<Tag>,
    /// Tags to remove, with commas between them
    #[arg(long, value_name = "TAGS", value_delimiter = ',')]
    remove: Vec<Tag>,
    /// What else to do
    #[command(subcommand)]
    verb: Option<Verb>,
}

/// What else `tag` does.
#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// List all tags, each with the number of its events
    List,
}

/// Changes and prints the tags of the events, or lists all tags.
pub(crate) async fn run(args: &Args, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    if let Some(Verb::List) = args.verb {
        list(client, screen).await?;
        return Ok(Exit::Success);
    }
    let mut events: Vec<EventJson> = Vec::with_capacity(args.ids.len());
    for id in &args.ids {
        events.push(id.read(client).await?); // all of them are known before the first is changed
    }
    for event in events {
        print(&args.changed(event, client).await?, screen)?;
    }
    Ok(Exit::Success)
}

impl Args {
    async fn changed(&self, event: EventJson, client: &Client) -> Result<EventJson, CliError> {
        if self.add.is_empty() && self.remove.is_empty() {
            return Ok(event);
        }
        let mut tags = event.tags.clone();
        tags.retain(|tag| !self.remove.contains(tag));
        tags.extend(self.add.iter().cloned());
        let address = Address::new(["events", &event.id.to_string()]);
        client.send(Method::PATCH, &address, &json!({ "tags": tags })).await
    }
}

fn print(event: &EventJson, screen: &Screen) -> Result<(), CliError> {
    if screen.json {
        return screen.print_json(&json!({ "event_id": event.id, "seq": event.seq, "tags": event.tags }));
    }
    let number = Styled(STRONG, format!("#{}", event.seq));
    if event.tags.is_empty() {
        return screen.print(format_args!("{number}  {}", Styled(FAINT, "no tags")));
    }
    screen.print(format_args!("{number}  {}", shown::tags(&event.tags)))
}

async fn list(client: &Client, screen: &Screen) -> Result<(), CliError> {
    let tags: Vec<Value> = client.all(&Address::new(["tags"])).await?;
    if tags.is_empty() && !screen.json {
        screen.note(Styled(FAINT, "no tags yet: `hookmitt tag ID --add NAME` gives one"));
    }
    for tag in &tags {
        if screen.json {
            screen.print_json(tag)?;
        } else {
            let name = tag["name"].as_str().unwrap_or_default();
            screen.print(format_args!(
                "{:>7}  {}",
                tag["count"].as_u64().unwrap_or_default(),
                Plain(name)
            ))?;
        }
    }
    Ok(())
}
