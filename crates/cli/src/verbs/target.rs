//! `hookmitt target`: adds, lists, changes, removes, pauses and resumes targets.

use std::str::FromStr;

use hookmitt_event::{OrderMode, Plain, Slug, TargetId, Timestamp, counted};
use http::Method;
use jiff::tz::TimeZone;
use serde::Deserialize as _;
use serde_json::{Map, Value, json};

use crate::{
    client::{Address, Client},
    destination::Destination,
    failure::{CliError, Exit},
    moment::Span,
    target_view::{Target, looked_at},
    terminal::{FAINT, STRONG, Screen, Styled},
    verbs::{
        announce::{announced, exists},
        source::lines,
        strict_order,
    },
};

/// What is done with targets.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Verb {
    /// Add a target; it gets the events that arrive from now on
    Add {
        /// The source whose events it gets; '*' for every source; a provider's id creates that provider's source
        slug: Wanted,
        /// Where they go: a port, or a URL
        url: Destination,
        /// Create the source if it doesn't exist
        #[arg(long)]
        create: bool,
        #[command(flatten)]
        settings: Settings,
    },
    /// List targets
    List {
        /// Only this source's
        slug: Option<Slug>,
    },
    /// Change a target
    Edit {
        /// Its number, as `target list` shows it
        id: Number,
        /// Where events go
        #[arg(long)]
        url: Option<Destination>,
        #[command(flatten)]
        settings: Settings,
    },
    /// Remove a target; deliveries that wait for it fail
    Remove {
        /// Its number
        id: Number,
    },
    /// Pause a target; new deliveries wait
    Pause {
        /// Its number
        id: Number,
    },
    /// Resume a paused target
    Resume {
        /// Its number
        id: Number,
    },
}

/// One source, or all sources.
#[derive(Clone, Debug)]
pub(crate) struct Wanted(Option<Slug>);

impl FromStr for Wanted {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "*" => Ok(Self(None)),
            slug => slug
                .parse()
                .map(|slug| Self(Some(slug)))
                .map_err(|error: hookmitt_event::SlugError| error.to_string()),
        }
    }
}

/// A target's number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Number(TargetId);

impl FromStr for Number {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number =
            text.parse().map_err(|_| "that isn't a target's number: `hookmitt target list` shows them")?;
        Ok(Self(TargetId(number)))
    }
}

/// Settings of a target.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Settings {
    /// sequential, fifo, fifo-by-key or parallel:N
    #[arg(long, value_name = "MODE")]
    order: Option<OrderMode>,
    /// The number of attempts
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    attempts: Option<u32>,
    /// How long one attempt may take
    #[arg(long, value_name = "D")]
    timeout: Option<Span>,
    /// The longest wait before the second attempt
    #[arg(long, value_name = "D")]
    retry_base: Option<Span>,
    /// The longest wait before any attempt
    #[arg(long, value_name = "D")]
    retry_cap: Option<Span>,
    /// Send the sender's Host line instead of the target's
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    preserve_host: Option<bool>,
    /// Add the x-hookmitt-* headers
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true", require_equals = true)]
    hookmitt_headers: Option<bool>,
}

impl Settings {
    /// Returns the settings that were given.
    fn fields(&self) -> Map<String, Value> {
        let millis = |span: Option<Span>| span.map(|span| json!(span.as_millis()));
        let given = [
            ("order", self.order.map(|order| json!(order))),
            ("attempts", self.attempts.map(|attempts| json!(attempts))),
            ("timeout_ms", millis(self.timeout)),
            ("retry_base_ms", millis(self.retry_base)),
            ("retry_cap_ms", millis(self.retry_cap)),
            ("preserve_host", self.preserve_host.map(|yes| json!(yes))),
            ("hookmitt_headers", self.hookmitt_headers.map(|yes| json!(yes))),
        ];
        given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }
}

/// Runs the command.
pub(crate) async fn run(verb: &Verb, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    match verb {
        Verb::Add { slug, url, create, settings } => {
            let mut target = settings.fields();
            target.insert("source".to_owned(), json!(slug.0));
            target.insert("url".to_owned(), json!(url.as_str()));
            target.insert("create".to_owned(), json!(create));
            let makes = match &slug.0 {
                Some(slug) if !exists(slug, client).await? => Some(slug),
                _ => None,
            };
            let added: Value =
                client.send(Method::POST, &Address::new(["targets"]), &Value::Object(target)).await?;
            print(&added, screen)?;
            strict_order::of_target(&added, client, screen).await?;
            if makes.is_some() {
                announced(makes, client, screen).await?;
            }
        }
        Verb::List { slug } => {
            list(&client.all(&looked_at(slug.as_ref().map(Slug::as_str))).await?, screen)?;
        }
        Verb::Edit { id, url, settings } => {
            let mut change = settings.fields();
            change.extend(url.as_ref().map(|url| ("url".to_owned(), json!(url.as_str()))));
            let changed = patch(*id, Value::Object(change), client).await?;
            print(&changed, screen)?;
            strict_order::of_target(&changed, client, screen).await?;
        }
        Verb::Remove { id } => {
            client.order(Method::DELETE, &address(*id), None).await?;
            screen.note(Styled(FAINT, format!("removed target {}", id.0)));
        }
        Verb::Pause { id } => print(&patch(*id, json!({ "paused": true }), client).await?, screen)?,
        Verb::Resume { id } => print(&patch(*id, json!({ "paused": false }), client).await?, screen)?,
    }
    Ok(Exit::Success)
}

fn address(Number(id): Number) -> Address {
    Address::new(["targets", &id.to_string()])
}

async fn patch(id: Number, change: Value, client: &Client) -> Result<Value, CliError> {
    client.send(Method::PATCH, &address(id), &change).await
}

fn print(target: &Value, screen: &Screen) -> Result<(), CliError> {
    if screen.json {
        return screen.print_json(target);
    }
    let mut settings = target.clone();
    settings["state"] = Value::Null; // it is no setting
    screen.print(lines(&settings, "").join("\n"))
}

fn list(targets: &[Value], screen: &Screen) -> Result<(), CliError> {
    for target in targets {
        if screen.json { screen.print_json(target)? } else { screen.print(line(target)?)? }
    }
    if targets.is_empty() && !screen.json {
        screen.note(Styled(
            FAINT,
            "no targets yet: run `hookmitt target add SLUG URL` or `hookmitt listen 3000`",
        ));
    }
    Ok(())
}

fn line(target: &Value) -> Result<String, CliError> {
    let text = |name: &str, absent: &str| target[name].as_str().unwrap_or(absent).to_owned();
    let number = Styled(STRONG, format!("{:>4}", target["id"].as_i64().unwrap_or_default()));
    let source = format!("{:<16}", text("source", "*"));
    let timeout = std::time::Duration::from_millis(target["timeout_ms"].as_u64().unwrap_or_default());
    let how = format!(
        "{}, {}, {} each",
        text("order", "-"),
        counted(target["attempts"].as_u64().unwrap_or_default(), "attempt"),
        crate::shown::span(timeout)
    );
    let read = Target::deserialize(target).map_err(|error| CliError::Answer(error.to_string()))?;
    let state = read.state(Timestamp::now(), &TimeZone::system());
    let how = Styled(FAINT, Plain(&how));
    Ok(format!("{number}  {}  {}  {how}  {state}", Plain(&source), Plain(&read.url)))
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;

    #[derive(clap::Parser)]
    struct Typed {
        #[command(flatten)]
        settings: Settings,
    }

    #[test]
    fn only_what_was_given_is_sent() {
        let fields = |typed: &[&str]| {
            let typed = ["add"].into_iter().chain(typed.iter().copied());
            Typed::try_parse_from(typed).map(|typed| Value::Object(typed.settings.fields()))
        };
        assert_eq!(fields(&[]).unwrap(), json!({}));
        let typed =
            ["--order", "parallel:4", "--timeout", "10s", "--preserve-host", "--hookmitt-headers=false"];
        let expected = json!({"order": "parallel:4", "timeout_ms": 10_000, "preserve_host": true, "hookmitt_headers": false});
        assert_eq!(fields(&typed).unwrap(), expected);
        assert!(fields(&["--order", "random"]).is_err() && fields(&["--attempts", "0"]).is_err());
    }

    #[test]
    fn every_source_has_a_name_too() {
        assert!("*".parse::<Wanted>().unwrap().0.is_none());
        assert!("Not A Slug".parse::<Wanted>().is_err());
    }
}
