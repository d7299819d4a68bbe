//! `hookmitt delete`: puts events into the bin, and takes them out again.

use hookmitt_api::EventJson;
use http::Method;
use serde_json::json;

use crate::{
    by_search::BySearch,
    client::{Address, Client},
    event_ref::EventRef,
    failure::{CliError, Exit},
    terminal::{STRONG, Screen, Styled},
};

/// What `delete` takes.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("which").required(true))]
pub(crate) struct Args {
    /// The events: ids or the start of them, '#12', last, last~2
    #[arg(value_name = "ID", group = "which")]
    ids: Vec<EventRef>,
    #[command(flatten)]
    by_search: BySearch,
    /// Restore deleted events; their ended deliveries wait again
    #[arg(long)]
    undo: bool,
}

/// Deletes or restores the events, and prints a line for each.
pub(crate) async fn run(args: &Args, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    if let Some(search) = &args.by_search.search {
        return args.all_of(search, client, screen).await;
    }
    // They are looked up before the first is deleted, because that changes which event is `last`.
    let events = if args.undo {
        EventRef::each_deleted(&args.ids, client).await?
    } else {
        EventRef::each(&args.ids, client).await?
    };
    for event in &events {
        let id = event.id.to_string();
        if args.undo {
            let restore = Address::new(["events", &id, "restore"]);
            client.order(Method::POST, &restore, None).await?;
            tell(event, false, "restored", screen)?;
        } else {
            let deleted = client.order(Method::DELETE, &Address::new(["events", &id]), None).await?;
            tell(event, true, &deleted_words(deleted["ended"].as_u64().unwrap_or_default()), screen)?;
        }
    }
    if !args.undo {
        let all: Vec<_> = events.iter().map(|event| format!("'#{}'", event.seq)).collect();
        screen.note(format_args!("to undo: `hookmitt delete --undo {}`", all.join(" ")));
    }
    Ok(Exit::Success)
}

impl Args {
    /// Deletes or restores all that a search finds.
    async fn all_of(&self, search: &str, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
        let (address, doing) = if self.undo { ("restore", "Restore") } else { ("delete", "Delete") };
        self.by_search.run(search, address, doing, client, screen).await
    }
}

fn deleted_words(ended: u64) -> String {
    match ended {
        0 => "deleted".to_owned(),
        1 => "deleted, 1 waiting delivery ended".to_owned(),
        several => format!("deleted, {several} waiting deliveries ended"),
    }
}

fn tell(event: &EventJson, deleted: bool, words: &str, screen: &Screen) -> Result<(), CliError> {
    if screen.json {
        return screen.print_json(&json!({ "event_id": event.id, "seq": event.seq, "deleted": deleted }));
    }
    screen.print(format_args!("{}  {words}", Styled(STRONG, format!("#{}", event.seq))))
}
