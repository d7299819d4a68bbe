//! `hookmitt retry`: tries failed, dead or skipped deliveries again.

use hookmitt_event::{Plain, Slug};
use http::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    by_search::BySearch,
    client::{Address, Client},
    event_ref::EventRef,
    failure::{CliError, Exit},
    outcome::{Ordered, Outcomes},
    terminal::{FAINT, ODD, Screen, Styled},
};

/// What `retry` takes.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("which").required(true))]
pub(crate) struct Args {
    /// The events: ids or the start of them, '#12', last, last~2
    #[arg(value_name = "ID", group = "which")]
    ids: Vec<EventRef>,
    #[command(flatten)]
    by_search: BySearch,
    /// All dead letters and failed deliveries
    #[arg(long, group = "which")]
    dead_letter: bool,
    /// All that the source withheld because of this host name, which it now allows (needs --source)
    #[arg(long, value_name = "NAME", group = "which", requires = "source")]
    withheld_host: Option<String>,
    /// Only this source's
    #[arg(long, value_name = "S", conflicts_with_all = ["ids", "search"])]
    source: Option<Slug>,
}

/// The API's answer to an order.
#[derive(Debug, Default, Deserialize)]
struct Retried {
    items: Vec<Ordered>,
    skipped: Vec<NotRetried>,
}

/// A delivery that can't be sent, and why.
#[derive(Debug, Deserialize)]
struct NotRetried {
    event_id: String,
    delivery_id: Option<String>,
    status: Option<String>,
    why: String,
}

/// Orders the retries, waits for one attempt of each, and prints the outcomes. Says of each that can't be sent why, and
/// goes on.
pub(crate) async fn run(args: &Args, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    if let Some(search) = &args.by_search.search {
        return args.by_search.run(search, "retry", "Retry", client, screen).await;
    }
    let mut taken = Retried::default();
    for order in args.orders(client).await? {
        let some: Retried = client.send(Method::POST, &Address::new(["retry"]), &order).await?;
        for left_out in &some.skipped {
            left_out.print(screen)?;
        }
        taken.items.extend(some.items);
        taken.skipped.extend(some.skipped);
    }
    if taken.items.is_empty() && taken.skipped.is_empty() && !screen.json {
        screen.note(Styled(FAINT, args.nothing()));
    }
    let mut outcomes = Outcomes::default();
    outcomes.wait_for(&taken.items, client, screen).await?;
    // Who names an event wants it sent. Of all that failed, some may never be sendable.
    let stays_unsent = !args.ids.is_empty() && taken.skipped.iter().any(NotRetried::stays_unsent);
    Ok(outcomes.exit().max(if stays_unsent { Exit::No } else { Exit::Success }))
}

impl Args {
    /// Returns what the API is asked for. More than ten named events at once would become a job, whose deliveries can't be
    /// waited for.
    async fn orders(&self, client: &Client) -> Result<Vec<Value>, CliError> {
        if let Some(host) = &self.withheld_host {
            return Ok(vec![json!({ "withheld_host": host, "source": self.source })]);
        }
        if self.dead_letter {
            return Ok(vec![json!({ "dead_letter": true, "failed": true, "source": self.source })]);
        }
        let ids = EventRef::ids(&self.ids, client).await?;
        Ok(ids.chunks(10).map(|some| json!({ "events": some })).collect())
    }

    const fn nothing(&self) -> &'static str {
        if self.dead_letter { "nothing failed" } else { "nothing is withheld because of that host name" }
    }
}

impl NotRetried {
    /// Whether it was not sent, and will not be.
    fn stays_unsent(&self) -> bool {
        !matches!(self.status.as_deref(), Some("completed" | "pending" | "processing"))
    }

    /// Prints what was not sent, in the form of an outcome.
    fn print(&self, screen: &Screen) -> Result<(), CliError> {
        if screen.json {
            return screen.print_json(&json!({
                "event_id": self.event_id,
                "delivery_id": self.delivery_id,
                "status": self.status,
                "response_status": null,
                "error": format!("not sent: {}", self.why),
            }));
        }
        let name = self.delivery_id.as_deref().unwrap_or(&self.event_id);
        screen.print(format_args!(
            "{}  {}  {}",
            Styled(FAINT, Plain(name)),
            Styled(ODD, "not sent"),
            Plain(&self.why)
        ))
    }
}
