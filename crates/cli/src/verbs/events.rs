//! `hookmitt events`: lists events, newest first.

use std::collections::HashSet;

use hookmitt_api::EventJson;
use hookmitt_event::{EventStatus, Slug, Timestamp, Verdict};
use hookmitt_search::{Pattern, Query, Test, Text, WordKey};
use http::Method;
use jiff::tz::TimeZone;
use serde_json::Value;

use super::refused;
use crate::{
    client::{Address, Client, Items},
    event_table::EventTable,
    failure::{CliError, Exit},
    live::News,
    moment::Since,
    search,
    terminal::{FAINT, Screen, Styled},
};

/// How many events are fetched at a time.
const PAGE: usize = 200;

/// What `events` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What to search for, such as 'type:invoice verdict:invalid "two words"'; docs/search.md has the whole language
    #[arg(value_name = "SEARCH", default_value = "", hide_default_value = true)]
    #[arg(allow_hyphen_values = true, value_parser = search::argument)]
    query: String,
    /// Only this source's
    #[arg(long, value_name = "S")]
    source: Option<Slug>,
    /// Only with this status: dead_letter, failed, processing, pending, completed, skipped or captured
    #[arg(long, value_name = "ST")]
    status: Option<EventStatus>,
    /// Only with this verdict: valid, invalid, unsigned, no_secret, unsupported or pending
    #[arg(long, value_name = "V")]
    verdict: Option<Verdict>,
    /// Only this type; the part before a dot is enough, and * matches anything
    #[arg(long = "type", value_name = "T")]
    kind: Option<String>,
    /// Only with this text in the type, title, path, query, headers, body or note
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    /// Only since this time: how long ago (10m, 2h, 7d), or an RFC 3339 time
    #[arg(long, value_name = "T")]
    since: Option<Since>,
    /// Only before this time
    #[arg(long, value_name = "T", conflicts_with = "follow")]
    until: Option<Since>,
    /// The requests that were refused instead of stored
    #[arg(long, conflicts_with_all = ["query", "source", "status", "verdict", "kind", "search", "until", "follow"])]
    refused: bool,
    /// At most this many
    #[arg(long, value_name = "N", value_parser = at_least_one, allow_negative_numbers = true)]
    limit: Option<usize>,
    /// Keep running, and print new events as they arrive
    #[arg(long)]
    follow: bool,
}

/// Reads a number of events.
pub(crate) fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|limit| *limit > 0).ok_or_else(|| "give a number from 1".to_owned())
}

/// Prints the events, and then new ones if that was asked for.
pub(crate) async fn run(args: &Args, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    if args.refused {
        refused::print(args.since, args.limit.unwrap_or(usize::MAX), client, screen).await?;
        return Ok(Exit::Success);
    }
    let query = args.query(screen)?;
    let address = args.address(&query, Timestamp::now());
    let floor = if args.follow { newest(client).await? } else { 0 };
    let mut printer = Printer::new(screen);
    let mut left = args.limit.unwrap_or(usize::MAX);
    let mut cursor: Option<String> = None;
    while left > 0 {
        let page_size = left.min(PAGE).to_string();
        let page = address.clone().with("limit", Some(page_size)).with("cursor", cursor);
        let page: Items<EventJson> = client.get(&page).await?;
        left = left.saturating_sub(page.items.len());
        printer.print(&page.items)?;
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    if printer.is_unused {
        args.check_source(client).await?;
    }
    if !args.follow {
        if printer.is_unused && !screen.json {
            screen.note(Styled(FAINT, args.nothing()));
        }
        return Ok(Exit::Success);
    }
    let live = Address::new(["live"]).with("after", Some(floor.to_string()));
    follow(args.narrowed(live, &query), client, floor, printer).await
}

/// Returns the highest event number so far; 0 if there are no events.
pub(crate) async fn newest(client: &Client) -> Result<i64, CliError> {
    let address = Address::new(["events"]).with("limit", Some("1"));
    let page: Items<EventJson> = client.get(&address).await?;
    Ok(page.items.first().map_or(0, |event| event.seq))
}

/// Prints events with numbers above `floor` as they come or come to match, until the command is killed.
async fn follow(
    live: Address,
    client: &Client,
    floor: i64,
    mut printer: Printer<'_>,
) -> Result<Exit, CliError> {
    let mut live = client.stream(Method::GET, &live, None).await?;
    let mut printed = HashSet::new();
    while let Some(message) = live.next().await {
        if let Ok(News::Event(event)) = message.read()
            && event.seq > floor
            && printed.insert(event.seq)
        {
            printer.print(&[*event])?;
        }
    }
    Err(if client.is_attached() { CliError::Gone } else { CliError::BrokenOff })
}

/// Prints events, as rows of a table or as JSON.
pub(crate) struct Printer<'a> {
    screen: &'a Screen,
    table: Option<EventTable>,
    /// Whether no event was printed yet.
    is_unused: bool,
}

impl<'a> Printer<'a> {
    /// Makes a printer that has printed nothing yet.
    pub(crate) const fn new(screen: &'a Screen) -> Self {
        Self { screen, table: None, is_unused: true }
    }

    /// Prints these events, below those that were printed before.
    pub(crate) fn print(&mut self, events: &[EventJson]) -> Result<(), CliError> {
        self.is_unused &= events.is_empty();
        if self.screen.json {
            return events.iter().try_for_each(|event| self.screen.print_json(event));
        }
        if events.is_empty() {
            return Ok(());
        }
        let mut lines = Vec::with_capacity(events.len() + 1);
        let table = self.table.get_or_insert_with(|| {
            let table = EventTable::new(events, self.screen.width(), TimeZone::system());
            lines.push(table.head());
            table
        });
        lines.extend(events.iter().map(|event| table.row(event)));
        self.screen.print(lines.join("\n"))
    }
}

impl Args {
    /// Returns the search that says what the argument and the options say, but for source and time.
    fn query(&self, screen: &Screen) -> Result<String, CliError> {
        search::read(&self.query, screen)?;
        let mut options = Query::default();
        let kind = self.kind.as_deref().map(|kind| Test::Word(WordKey::Type, Pattern::new(kind)));
        let text = self.search.as_deref().filter(|text| !text.is_empty());
        let tests = [
            self.status.map(Test::Status),
            self.verdict.map(Test::Verdict),
            kind,
            text.map(|text| Test::Text(Text::new(text))),
        ];
        tests.into_iter().flatten().for_each(|test| options.and(test));
        Ok(format!("{} {options}", self.query).trim().to_owned())
    }

    fn address(&self, query: &str, now: Timestamp) -> Address {
        let moment = |time: Option<Since>| time.map(|time| time.moment(now).to_string());
        self.narrowed(Address::new(["events"]), query)
            .with("since", moment(self.since))
            .with("until", moment(self.until))
    }

    fn narrowed(&self, address: Address, query: &str) -> Address {
        address
            .with("source", self.source.as_ref().map(Slug::as_str))
            .with("q", Some(query).filter(|query| !query.is_empty()))
    }

    /// Whether events are left out.
    fn narrows(&self) -> bool {
        !self.query.trim().is_empty()
            || self.source.is_some()
            || self.status.is_some()
            || self.verdict.is_some()
            || self.kind.is_some()
            || self.search.is_some()
            || self.since.is_some()
            || self.until.is_some()
    }

    /// Fails if there is no such source. Not asked before events are listed, because those of a removed source stay.
    async fn check_source(&self, client: &Client) -> Result<(), CliError> {
        let Some(source) = &self.source else { return Ok(()) };
        let _known: Value = client.get(&Address::new(["sources", source.as_str()])).await?;
        Ok(())
    }

    fn nothing(&self) -> &'static str {
        if self.narrows() {
            "no matching events"
        } else {
            "no events yet: `hookmitt serve` captures them, `hookmitt url` prints where to send them"
        }
    }
}
