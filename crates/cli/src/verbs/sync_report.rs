//! `hookmitt sync report`: what was missed, what was recovered, and what can't be.

use hookmitt_event::{Plain, Slug, Timestamp, counted};
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use super::sync_settings::SyncView;
use crate::{
    client::{Address, Client, Items},
    failure::{CliError, Exit},
    moment::Since,
    shown::{self, grouped},
    terminal::{FAINT, ODD, STRONG, Screen, Styled},
};

/// What `sync report` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The source; every source that was synced if left out
    source: Option<Slug>,
    /// From when on: 12h, 7d, or a time
    #[arg(long, value_name = "T", default_value = "7d")]
    since: Since,
    /// List these events, one a line, instead of counting them by day
    #[arg(long, value_name = "WHICH")]
    list: Option<Part>,
    /// List the syncs themselves, newest first
    #[arg(long, conflicts_with = "list")]
    syncs: bool,
}

/// Which events are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// Those that the provider lists and that are or were here
    Both,
    /// Those that the provider lists and that aren't here
    There,
    /// Those that came in and that the provider doesn't list
    Here,
}

/// What one sync of a source found.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(super) struct Report {
    pub(super) id: i64,
    source: String,
    pub(super) job: i64,
    since: Timestamp,
    until: Timestamp,
    dry_run: bool,
    began_at: Timestamp,
    ended_at: Option<Timestamp>,
    why: Option<String>,
    checked: u64,
    here: u64,
    pub(super) added: u64,
    missing: u64,
    lost: u64,
    pub(super) kept: u64,
}

/// A provider's events against ours.
#[derive(Debug, Deserialize)]
struct Reconciled {
    since: Option<Timestamp>,
    until: Option<Timestamp>,
    items: Vec<Day>,
    away: Vec<Away>,
}

/// A time when no hookmitt caught anything.
#[derive(Debug, Deserialize)]
struct Away {
    from: Timestamp,
    until: Timestamp,
    synced: Option<u64>,
    unrecoverable: Option<u64>,
}

/// A day of them.
#[derive(Debug, Deserialize, Serialize)]
struct Day {
    #[serde(default)]
    source: String,
    day: String,
    from: Timestamp,
    until: Timestamp,
    both: u64,
    only_there: u64,
    only_here: u64,
}

/// An event, as the provider lists it or as it is here.
#[derive(Debug, Deserialize, Serialize)]
struct Listed {
    id: String,
    at: Timestamp,
    r#type: Option<String>,
    event_id: Option<String>,
    seq: Option<i64>,
    added: bool,
    why: Option<String>,
}

impl Report {
    /// Returns since when the provider was asked, if that is later than a moment.
    pub(super) fn later_than(&self, asked: Timestamp) -> Option<String> {
        (asked < self.since).then(|| shown::day_and_clock(self.since, &TimeZone::system()))
    }

    /// Says in one sentence what was found.
    pub(super) fn sentence(&self) -> String {
        let since = shown::day_and_clock(self.since, &TimeZone::system());
        let name = Styled(STRONG, Plain(&self.source).to_string());
        let (checked, here) = (counted(self.checked, "event"), grouped(self.here));
        let mut parts = vec![format!("{here} were here")];
        let mut add = |count: u64, what: &str| {
            if count > 0 {
                parts.push(format!("{} {what}", grouped(count)));
            }
        };
        add(self.added, "were added");
        add(self.missing, "are missing");
        add(self.lost, "can't be recovered");
        let ended = match (&self.why, self.ended_at) {
            (Some(why), _) if self.checked == 0 => return format!("{name}: {}", Plain(why)),
            (Some(why), _) => format!("; it ended early: {}", Plain(why)),
            (None, None) => "; it hasn't ended".to_owned(),
            (None, Some(_)) => String::new(),
        };
        format!("{name}: the provider lists {checked} since {since}; {}{ended}", parts.join(", "))
    }

    /// Returns a line for each event that can't be recovered, at most 10, with why.
    pub(super) async fn why_lost(&self, client: &Client) -> Result<Vec<String>, CliError> {
        const SHOWN: usize = 10;
        if self.lost == 0 {
            return Ok(Vec::new());
        }
        let (since, until) = (self.since.to_string(), self.until.to_string());
        let address = Address::new(["sync", &self.source, "events"]).with("since", Some(since));
        let listed: Vec<Listed> = client.all(&address.with("until", Some(until))).await?;
        let lost =
            listed.iter().filter_map(|one| Some(format!("  {}  {}", one.name(), Plain(one.why.as_ref()?))));
        Ok(lost.take(SHOWN).collect())
    }
}

impl Listed {
    fn name(&self) -> String {
        let at = Styled(FAINT, shown::day_and_clock(self.at, &TimeZone::system()));
        let kind = self.r#type.as_deref().unwrap_or("–");
        format!("{at}  {:28}  {}", Plain(kind).to_string(), Plain(&self.id))
    }

    fn line(&self) -> String {
        let where_it_is = match (self.seq, &self.why) {
            (Some(seq), _) if self.added => format!("#{seq}, added"),
            (Some(seq), _) => format!("#{seq}"),
            (None, Some(why)) => Plain(why).to_string(),
            (None, None) => "not here".to_owned(),
        };
        format!("{}  {}", self.name(), Styled(FAINT, where_it_is))
    }
}

impl Away {
    fn line(&self) -> String {
        let zone = TimeZone::system();
        let (from, until) = (shown::day_and_clock(self.from, &zone), shown::day_and_clock(self.until, &zone));
        let what = match (self.synced, self.unrecoverable.unwrap_or(0)) {
            (None, _) => "not looked at yet: sync to find out".to_owned(),
            (Some(synced), 0) => format!("{} recovered", grouped(synced)),
            (Some(synced), lost) => format!("{} recovered, {} can't be", grouped(synced), grouped(lost)),
        };
        format!("  nothing caught {from} to {until}: {what}")
    }
}

impl Day {
    fn line(&self) -> String {
        let there = match self.only_there {
            0 => Styled(FAINT, "only there 0".to_owned()),
            count => Styled(ODD, format!("only there {}", grouped(count))),
        };
        let here = format!("only here {}", grouped(self.only_here));
        format!("  {}  in both {:>7}   {there}   {here}", self.day, grouped(self.both))
    }
}

/// Prints what was missed.
pub(super) async fn run(args: &Args, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    if args.syncs {
        return syncs(args, client, screen).await;
    }
    let since = args.since.moment(Timestamp::now()).to_string();
    let views: Vec<SyncView> = match &args.source {
        Some(source) => vec![client.get(&Address::new(["sync", source.as_str()])).await?],
        None => client.all(&Address::new(["sync"])).await?,
    };
    let mut told = false;
    for view in views {
        let address = |part: &str| {
            Address::new(["sync", view.source.as_str(), part]).with("since", Some(since.as_str()))
        };
        if let Some(part) = args.list {
            let name = match part {
                Part::Both => "both",
                Part::There => "only_there",
                Part::Here => "only_here",
            };
            told |= list(&address("events").with("part", Some(name)), client, screen).await?;
            continue;
        }
        let found: Reconciled = client.get(&address("days")).await?;
        if let Some((from, until)) = found.since.zip(found.until) {
            told = true;
            print_days(&view, (from, until), found.items, screen)?;
            if !screen.json {
                found.away.iter().try_for_each(|away| screen.print(away.line()))?;
            }
        } else if args.source.is_some() {
            screen.note(format_args!("{}", not_synced(&view)));
            told = true;
        }
    }
    if !told && args.list.is_none() {
        let hint = "`hookmitt sync` syncs every source that has an API key, `hookmitt sync list` says which have one";
        screen.note(format_args!("no source was synced in that time; {hint}"));
    }
    Ok(Exit::Success)
}

fn not_synced(view: &SyncView) -> String {
    let why = view
        .lacks
        .as_ref()
        .or(view.failed.as_ref())
        .map_or_else(|| format!("`hookmitt sync {}` does it", view.source), |lacks| Plain(lacks).to_string());
    format!("{} wasn't synced in that time: {why}", view.source)
}

fn print_days(
    view: &SyncView,
    (from, until): (Timestamp, Timestamp),
    days: Vec<Day>,
    screen: &Screen,
) -> Result<(), CliError> {
    let source = view.source.as_str();
    if screen.json {
        return days
            .into_iter()
            .try_for_each(|day| screen.print_json(&Day { source: source.to_owned(), ..day }));
    }
    let zone = TimeZone::system();
    let span = format!("{} to {}", shown::day_and_clock(from, &zone), shown::day_and_clock(until, &zone));
    screen.print(format_args!("{}  {}", Styled(STRONG, source), Styled(FAINT, span)))?;
    if let Some(failed) = &view.failed {
        screen.print(format_args!("  {} {}", Styled(ODD, "the last sync ended early:"), Plain(failed)))?;
    }
    let missed: u64 = days.iter().map(|day| day.only_there).sum();
    days.iter().try_for_each(|day| screen.print(day.line()))?;
    if missed > 0 {
        let hint = format!(
            "`hookmitt sync report {source} --list there` lists those, `hookmitt sync {source}` fetches them"
        );
        screen.note(Styled(FAINT, hint));
    }
    Ok(())
}

async fn list(address: &Address, client: &Client, screen: &Screen) -> Result<bool, CliError> {
    let mut any = false;
    let mut cursor: Option<String> = None;
    loop {
        let page: Items<Listed> = client.get(&address.clone().with("cursor", cursor)).await?;
        for one in &page.items {
            any = true;
            if screen.json { screen.print_json(one)? } else { screen.print(one.line())? }
        }
        match page.next_cursor {
            Some(next) => cursor = Some(next),
            None => return Ok(any),
        }
    }
}

async fn syncs(args: &Args, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    let since = args.since.moment(Timestamp::now());
    let address = Address::new(["sync-reports"]).with("source", args.source.as_ref().map(Slug::as_str));
    let mut cursor: Option<String> = None;
    loop {
        let page: Items<Report> = client.get(&address.clone().with("cursor", cursor)).await?;
        for report in &page.items {
            if report.began_at < since {
                return Ok(Exit::Success);
            }
            if screen.json {
                screen.print_json(report)?;
            } else {
                let number = Styled(FAINT, format!("{:>5}", report.id));
                let dry = if report.dry_run { " (only shown)" } else { "" };
                screen.print(format_args!("{number}  {}{dry}", report.sentence()))?;
            }
        }
        match page.next_cursor {
            Some(next) => cursor = Some(next),
            None => return Ok(Exit::Success),
        }
    }
}
