//! Verbs that are about all events that a search finds.

use hookmitt_event::Plain;
use http::Method;
use serde_json::{Value, json};

use crate::{
    agreed::is_sure,
    client::{Address, Client, Items},
    failure::{CliError, Exit},
    job::{self, Begun},
    search::{argument, read},
    terminal::Screen,
};

/// Which events a verb is about if none is named.
#[derive(Debug, clap::Args)]
pub(crate) struct BySearch {
    /// All events that match this search
    #[arg(long = "where", value_name = "SEARCH", group = "which", value_parser = search, allow_hyphen_values = true)]
    pub(crate) search: Option<String>,
    /// Don't ask, however many match
    #[arg(long, conflicts_with = "ids")]
    yes: bool,
}

/// Above how many events a verb asks first.
const MANY: usize = 100;

fn search(typed: &str) -> Result<String, String> {
    if typed.trim().is_empty() {
        return Err("the search is empty; it would match everything".to_owned());
    }
    argument(typed)
}

impl BySearch {
    /// Reads the search, and asks if more events match than its user may expect: those that `meant` finds.
    pub(crate) async fn is_meant(
        &self,
        search: &str,
        meant: &str,
        doing: &str,
        client: &Client,
        screen: &Screen,
    ) -> Result<bool, CliError> {
        read(search, screen)?;
        if self.yes || !is_many(meant, client).await? {
            return Ok(true);
        }
        let several = format!("more than {MANY} events match {:?}", Plain(search).to_string());
        let hint = "--yes does it without asking; `hookmitt events` shows what there is";
        is_sure(&several, &format!("{doing} all of them?"), hint, screen).await
    }

    /// Asks for the job at an address such as `delete`, and follows it. `doing` names it in the question: `Delete`.
    pub(crate) async fn run(
        &self,
        search: &str,
        address: &'static str,
        doing: &str,
        client: &Client,
        screen: &Screen,
    ) -> Result<Exit, CliError> {
        let meant = if address == "restore" { format!("{search} is:deleted") } else { search.to_owned() };
        if !self.is_meant(search, &meant, doing, client, screen).await? {
            return Ok(Exit::No);
        }
        let Begun { job } =
            client.send(Method::POST, &Address::new([address]), &json!({ "q": search })).await?;
        job::follow(job, client, screen).await
    }
}

/// Whether a search finds so many events that a verb asks first.
async fn is_many(search: &str, client: &Client) -> Result<bool, CliError> {
    let address =
        Address::new(["events"]).with("q", Some(search)).with("limit", Some((MANY + 1).to_string()));
    let (mut found, mut cursor) = (0, None);
    loop {
        // A page of a long search may end before it is full.
        let page: Items<Value> = client.get(&address.clone().with("cursor", cursor)).await?;
        found += page.items.len();
        cursor = page.next_cursor;
        if found > MANY || cursor.is_none() {
            return Ok(found > MANY);
        }
    }
}
