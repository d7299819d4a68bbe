//! `hookmitt retry`: tries failed, dead or skipped deliveries again.

use hookmitt_event::Slug;
use http::Method;
use serde_json::json;

use crate::{
    client::{Address, Client, Items},
    event_ref::EventRef,
    failure::{CliError, Exit},
    outcome::{Ordered, Outcomes},
    terminal::{FAINT, Screen, Styled},
};

/// What `retry` takes.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("which").required(true))]
pub(crate) struct Args {
    /// The events: ids or their beginnings, '#12', last, last~2
    #[arg(value_name = "ID", group = "which")]
    ids: Vec<EventRef>,
    /// All that used up their attempts
    #[arg(long, group = "which")]
    dead_letter: bool,
    /// All that a source withheld because they were called by this name, which it allows by now (needs --source)
    #[arg(long, value_name = "NAME", group = "which", requires = "source")]
    withheld_host: Option<String>,
    /// Only those of this source
    #[arg(long, value_name = "S", conflicts_with = "ids")]
    source: Option<Slug>,
}

/// Orders the retries, waits for one attempt of each, and prints the outcomes.
pub(crate) async fn run(args: &Args, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    let mut outcomes = Outcomes::default();
    let order = match &args.withheld_host {
        Some(host) => Some(json!({ "withheld_host": host, "source": args.source })),
        None => args.dead_letter.then(|| json!({ "dead_letter": true, "source": args.source })),
    };
    if let Some(order) = order {
        let taken: Items<Ordered> = client.send(Method::POST, &Address::new(["retry"]), &order).await?;
        if taken.items.is_empty() {
            let none = if args.dead_letter {
                "there are no dead letters"
            } else {
                "nothing is withheld under that name"
            };
            screen.note(Styled(FAINT, none));
        }
        outcomes.wait_for(&taken.items, client, screen).await?;
        return Ok(outcomes.exit());
    }
    for id in EventRef::ids(&args.ids, client).await? {
        let address = Address::new(["events", &id.to_string(), "retry"]);
        let taken: Items<Ordered> = client.send(Method::POST, &address, &json!({})).await?;
        if taken.items.is_empty() {
            screen.note(Styled(
                FAINT,
                format!("{id} has nothing that a retry may send; `hookmitt show {id}` says why"),
            ));
        }
        outcomes.wait_for(&taken.items, client, screen).await?;
    }
    Ok(outcomes.exit())
}
