//! `hookmitt retention`: shows and changes how long events are kept.

use std::{collections::BTreeMap, str::FromStr};

use hookmitt_event::{Keep, Kept, Plain, Retention, Slug, WhenFull};
use http::Method;
use serde_json::{Map, Value, json};

use crate::{
    client::{Address, Client},
    failure::{CliError, Exit},
    shown,
    terminal::{FAINT, ODD, STRONG, Screen, Styled},
};

/// What `retention` takes.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("of_source").multiple(true))]
pub(crate) struct Args {
    /// Events without a target: 12h, 7d, never or default
    #[arg(long, value_name = "KEEP", group = "of_source")]
    captured: Option<Change>,
    /// Delivered events
    #[arg(long, value_name = "KEEP", group = "of_source")]
    completed: Option<Change>,
    /// Events that were not sent on purpose
    #[arg(long, value_name = "KEEP", group = "of_source")]
    skipped: Option<Change>,
    /// Events with a delivery that failed, but no dead letter
    #[arg(long, value_name = "KEEP", group = "of_source")]
    failed: Option<Change>,
    /// Events with a delivery that used up its attempts
    #[arg(long, value_name = "KEEP", group = "of_source")]
    dead_letter: Option<Change>,
    /// Deleted events, counted from when they were deleted
    #[arg(long, value_name = "KEEP", conflicts_with = "source")]
    trash: Option<Change>,
    /// Change it for this source only
    #[arg(long, value_name = "S", requires = "of_source")]
    source: Option<Slug>,
    /// How large the inbox may become: 500MB, 10GB or none
    #[arg(long, value_name = "SIZE", conflicts_with = "source")]
    size: Option<Limit>,
    /// What to do when the disk is nearly full: warn or prune
    #[arg(long, value_name = "DO", conflicts_with = "source")]
    when_full: Option<WhenFull>,
}

/// For how long events are to be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    To(Keep),
    Default,
}

impl FromStr for Change {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "default" { Ok(Self::Default) } else { text.parse().map(Self::To) }
    }
}

/// How large the inbox may become, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Limit(Option<u64>);

impl FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const UNITS: [(&str, u64); 3] = [("mb", 1_000_000), ("gb", 1_000_000_000), ("tb", 1_000_000_000_000)];
        let lower = text.to_ascii_lowercase();
        if lower == "none" {
            return Ok(Self(None));
        }
        let found = UNITS.into_iter().find_map(|(name, unit)| {
            let number: u64 = lower.strip_suffix(name)?.trim().parse().ok()?;
            number.checked_mul(unit).filter(|bytes| *bytes > 0)
        });
        let wrong = || format!("{} isn't a size: write it like 500MB, 10GB or none", Plain(text));
        found.map(|bytes| Self(Some(bytes))).ok_or_else(wrong)
    }
}

/// Changes what is asked for, and prints what holds.
pub(crate) async fn run(args: &Args, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    let address = Address::new(["retention"]);
    let change = args.change();
    let retention: Retention = match change.as_object() {
        Some(fields) if fields.is_empty() => client.get(&address).await?,
        _ => client.send(Method::PATCH, &address, &change).await?,
    };
    if screen.json {
        screen.print_json(&retention)?;
    } else {
        print(&retention, screen)?;
    }
    if let Some(warning) = warning(client).await? {
        screen.note(Styled(ODD, Plain(&warning)));
    }
    Ok(Exit::Success)
}

/// Returns what is wrong with the size limit.
async fn warning(client: &Client) -> Result<Option<String>, CliError> {
    let stats: Value = client.get(&Address::new(["stats"])).await?;
    Ok(stats["retention"]["warning"].as_str().map(str::to_owned))
}

impl Args {
    /// Returns the change as the API takes it.
    fn change(&self) -> Value {
        let given = [
            (Kept::Captured, self.captured),
            (Kept::Completed, self.completed),
            (Kept::Skipped, self.skipped),
            (Kept::Failed, self.failed),
            (Kept::DeadLetter, self.dead_letter),
            (Kept::Trash, self.trash),
        ];
        let keep: BTreeMap<_, _> = given
            .into_iter()
            .filter_map(|(kept, change)| match change? {
                Change::To(keep) => Some((kept, Some(keep))),
                Change::Default => Some((kept, None)),
            })
            .collect();
        let mut change = Map::new();
        match &self.source {
            _ if keep.is_empty() => {}
            Some(source) => drop(change.insert("sources".to_owned(), json!({ (source.as_str()): keep }))),
            None => drop(change.insert("keep".to_owned(), json!(keep))),
        }
        if let Some(Limit(limit)) = self.size {
            change.insert("size_limit".to_owned(), json!(limit));
        }
        if let Some(when_full) = self.when_full {
            change.insert("when_full".to_owned(), json!(when_full));
        }
        Value::Object(change)
    }
}

fn print(retention: &Retention, screen: &Screen) -> Result<(), CliError> {
    let line = |name: &str, value: &str| {
        screen.print(format_args!("{}  {value}", Styled(FAINT, format!("{name:<17}"))))
    };
    for (kept, keep) in &retention.keep {
        line(&kept.as_str().replace('_', " "), &keep.to_string())?;
    }
    for (source, overrides) in &retention.sources {
        let all: Vec<_> = overrides
            .iter()
            .map(|(kept, keep)| format!("{} {keep}", kept.as_str().replace('_', " ")))
            .collect();
        screen.print(format_args!("{}  {}", Styled(STRONG, Plain(source)), all.join(", ")))?;
    }
    line("size limit", &retention.size_limit.map_or_else(|| "none".to_owned(), shown::size))?;
    line("disk nearly full", &retention.when_full.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_in_every_unit() {
        let size = |text: &str| text.parse::<Limit>().map(|limit| limit.0);
        assert_eq!((size("500MB"), size("10gb")), (Ok(Some(500_000_000)), Ok(Some(10_000_000_000))));
        assert_eq!((size("1TB"), size("none")), (Ok(Some(1_000_000_000_000)), Ok(None)));
        for wrong in ["", "10", "GB", "0GB", "-1GB", "99999999999TB"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_default_takes_back_what_was_set() {
        assert_eq!("default".parse(), Ok(Change::Default));
        assert_eq!("never".parse(), Ok(Change::To(Keep::Forever)));
        assert!("soon".parse::<Change>().is_err());
    }
}
