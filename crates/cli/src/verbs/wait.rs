//! `hookmitt wait`: waits until events are there that a search finds.

use std::{collections::HashSet, time::Duration};

use hookmitt_api::EventJson;
use hookmitt_event::{EventId, Timestamp, counted};
use hookmitt_search::{Query, Test, WordKey};
use http::Method;
use serde_json::Value;
use tokio::time::Instant;

use super::events::{Printer, at_least_one, newest};
use crate::{
    client::{Address, Client, Items},
    failure::{CliError, Exit},
    live::Live,
    moment::{Since, Span},
    search,
    stop::Stop,
    terminal::{FAINT, Screen, Styled},
};

/// What `wait` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Which events, such as 'source:shop type:order verdict:valid'; docs/search.md has the whole language
    #[arg(value_name = "SEARCH", default_value = "", hide_default_value = true)]
    #[arg(allow_hyphen_values = true, value_parser = search::argument)]
    search: String,
    /// How many
    #[arg(long, value_name = "N", value_parser = at_least_one, default_value = "1")]
    count: usize,
    /// Also count events since this time: how long ago (10m, 2h, 7d), or an RFC 3339 time
    #[arg(long, value_name = "T")]
    since: Option<Since>,
    /// The longest time to wait; after that the exit code is 1
    #[arg(long, value_name = "D", default_value = "30s")]
    timeout: Span,
}

/// The maximum number of events on a page of a list.
const PAGE: usize = 1_000;

/// Prints events as they are found. Ends once there are enough of them.
pub(crate) async fn run(args: &Args, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    let query = search::read(&args.search, screen)?;
    let mut stop = Stop::watch().map_err(CliError::signals)?;
    // A span that is too long to be added means to wait for ever.
    let deadline = Instant::now().checked_add(args.timeout.0);
    let mut search = Running::start(args, client, screen).await?;
    if search.is_short() && !screen.json {
        screen.note(Styled(FAINT, format!("waiting for {}, at most {}", args.events(), args.timeout)));
    }
    let timeout = async {
        match deadline {
            Some(deadline) => tokio::time::sleep_until(deadline).await,
            None => std::future::pending().await,
        }
    };
    let ended = tokio::select! {
        biased;
        found = search.finish() => Some(found?),
        () = stop.asked() => return Ok(Exit::Interrupted),
        () = timeout => None,
    };
    if ended.is_none() {
        let found = search.found.len();
        args.complain(&query, found, client, screen).await;
        return Ok(Exit::No);
    }
    Ok(Exit::Success)
}

/// A search that goes on until enough events are found.
struct Running<'a> {
    client: &'a Client,
    live: Live,
    /// The events that may be found.
    address: Address,
    count: usize,
    found: HashSet<EventId>,
    printer: Printer<'a>,
}

impl<'a> Running<'a> {
    /// Opens the live stream, and looks for events that are there already.
    async fn start(args: &Args, client: &'a Client, screen: &'a Screen) -> Result<Self, CliError> {
        let floor = newest(client).await?;
        let q = Some(&args.search).filter(|text| !text.trim().is_empty());
        let address = Address::new(["events"]).with("q", q);
        let address = match args.since {
            Some(since) => address.with("since", Some(since.moment(Timestamp::now()).to_string())),
            None => address.with("after", Some(floor.to_string())),
        };
        // With glances, an event comes again whenever its deliveries change, also if another process delivers.
        let stream =
            Address::new(["live"]).with("after", Some(floor.to_string())).with("glance", Some("true"));
        let live = client.stream(Method::GET, &stream, None).await?;
        let printer = Printer::new(screen);
        let mut search = Self { client, live, address, count: args.count, found: HashSet::new(), printer };
        search.look().await?;
        Ok(search)
    }

    /// Whether more events are needed than were found.
    fn is_short(&self) -> bool {
        self.found.len() < self.count
    }

    /// Waits until enough events are found.
    async fn finish(&mut self) -> Result<(), CliError> {
        while self.is_short() {
            self.change().await?;
            self.look().await?;
        }
        Ok(())
    }

    /// Waits until an event came or changed. Takes all such messages that are there, so that one look serves them.
    async fn change(&mut self) -> Result<(), CliError> {
        loop {
            let Some(message) = self.live.next().await else {
                return Err(if self.client.is_attached() { CliError::Gone } else { CliError::BrokenOff });
            };
            if matches!(message.name.as_str(), "event" | "lagged") {
                break;
            }
        }
        while let Ok(Some(_)) = tokio::time::timeout(Duration::ZERO, self.live.next()).await {}
        Ok(())
    }

    /// Finds the events that match now, and prints those that weren't found before, oldest first.
    async fn look(&mut self) -> Result<(), CliError> {
        // Asking for the newest is enough: as long as some are missing, not all of those were found before.
        let mut new = self.matching().await?;
        new.retain(|event| !self.found.contains(&event.id));
        new.truncate(self.count - self.found.len());
        new.reverse();
        self.found.extend(new.iter().map(|event| event.id));
        self.printer.print(&new)
    }

    /// Returns the newest matching events, as many as are waited for.
    async fn matching(&self) -> Result<Vec<EventJson>, CliError> {
        let (mut found, mut cursor) = (Vec::new(), None);
        loop {
            let limit = (self.count - found.len()).min(PAGE);
            let page = self.address.clone().with("limit", Some(limit.to_string())).with("cursor", cursor);
            let page: Items<EventJson> = self.client.get(&page).await?;
            found.extend(page.items);
            cursor = page.next_cursor;
            if cursor.is_none() || found.len() >= self.count {
                return Ok(found);
            }
        }
    }
}

impl Args {
    /// Returns how many events are waited for, in words.
    fn events(&self) -> String {
        counted(self.count as u64, "event")
    }

    /// Says what did not come. A source that nobody made may be a typo, and may also be one that the first event makes,
    /// so that is only said here.
    async fn complain(&self, query: &Query, found: usize, client: &Client, screen: &Screen) {
        let message = format!("{found} of {} arrived within {}", self.events(), self.timeout);
        let mut hint = None;
        for source in sources(query) {
            let known: Result<Value, _> = client.get(&Address::new(["sources", source])).await;
            if let Err(error) = known {
                hint = Some(match error.hint() {
                    Some(hint) => format!("{error}: {hint}"),
                    None => error.to_string(),
                });
            }
        }
        screen.complain("timed-out", &message, hint.as_deref());
    }
}

/// Returns the sources that events must be of, as far as a search names them.
fn sources(query: &Query) -> impl Iterator<Item = &str> {
    let wanted = query.terms.iter().filter(|term| !term.negated).flat_map(|term| &term.any);
    wanted.filter_map(|test| match test {
        Test::Word(WordKey::Source, pattern) => pattern.exact(),
        _ => None,
    })
}
