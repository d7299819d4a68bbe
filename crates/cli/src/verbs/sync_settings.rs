//! How a source is synced: its API key, its connector, what that has to know, and when.

use std::{path::PathBuf, str::FromStr};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hookmitt_event::{Plain, Slug, SyncDelivery, Timestamp};
use http::Method;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::secret::from_stdin;
use crate::{
    client::{Address, Client},
    failure::{CliError, Exit},
    moment::Span,
    shown,
    terminal::{BAD, FAINT, GOOD, ODD, STRONG, Screen, Styled},
};

/// What `sync key` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct KeyArgs {
    /// The source
    slug: Slug,
    /// Read it from this environment variable whenever hookmitt runs; stores only the variable's name
    #[arg(long, value_name = "NAME", conflicts_with_all = ["check", "remove"])]
    env: Option<String>,
    /// Ask the provider whether the stored key is good, with a request that changes nothing
    #[arg(long, conflicts_with = "remove")]
    check: bool,
    /// Remove the key; the source isn't synced any more
    #[arg(long)]
    remove: bool,
}

/// What `sync set` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct SetArgs {
    /// The source
    slug: Slug,
    /// What its connector has to know: `hookmitt sync show SLUG` says what; an empty value unsets it
    #[arg(long = "param", value_name = "NAME=VALUE")]
    params: Vec<Pair>,
    /// What to do with an event that was missing: ask (keep it and offer to deliver it), keep or deliver
    #[arg(long, value_name = "DO", value_parser = delivery)]
    missing: Option<SyncDelivery>,
    /// How often: 15m, 1h, off or default
    #[arg(long, value_name = "SPAN")]
    every: Option<Every>,
    /// A connector of your own, in TOML; `hookmitt sync preset` prints models
    #[arg(long, value_name = "FILE", conflicts_with = "no_connector")]
    connector: Option<PathBuf>,
    /// Use the provider's connector again
    #[arg(long)]
    no_connector: bool,
}

/// A name and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pair(String, String);

impl FromStr for Pair {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) =
            text.split_once('=').ok_or_else(|| format!("{text} has no `=`: write NAME=VALUE"))?;
        Ok(Self(name.to_owned(), value.to_owned()))
    }
}

/// How often a source is synced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Every {
    Default,
    Off,
    Span(Span),
}

impl FromStr for Every {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "default" => Ok(Self::Default),
            "off" | "never" => Ok(Self::Off),
            span => span.parse().map(Self::Span),
        }
    }
}

impl Every {
    fn seconds(self) -> Value {
        match self {
            Self::Default => Value::Null,
            Self::Off => 0.into(),
            Self::Span(span) => span.as_millis().div_ceil(1_000).into(),
        }
    }
}

fn delivery(text: &str) -> Result<SyncDelivery, String> {
    match text {
        "ask" => Ok(SyncDelivery::Ask),
        "keep" => Ok(SyncDelivery::Keep),
        "deliver" => Ok(SyncDelivery::Deliver),
        other => Err(format!("nothing is called {other}: use ask, keep or deliver")),
    }
}

/// How a source is synced.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct SyncView {
    pub(super) source: Slug,
    connector: Option<Connector>,
    key: Option<String>,
    key_env: Option<String>,
    delivery: SyncDelivery,
    every_s: u64,
    pub(super) lacks: Option<String>,
    synced_until: Option<Timestamp>,
    #[serde(default)]
    pub(super) failed: Option<String>,
    due_in_s: Option<u64>,
    job: Option<i64>,
}

/// How a provider's API lists what it has sent.
#[derive(Debug, Deserialize, Serialize)]
struct Connector {
    id: Option<String>,
    name: String,
    confidence: Option<String>,
    gives: String,
    days: Option<u32>,
    hosts: Vec<String>,
    scope: String,
    key_hint: String,
    key_form: String,
    lost: Vec<String>,
    params: Vec<Param>,
}

/// What a connector has to know.
#[derive(Debug, Deserialize, Serialize)]
struct Param {
    name: String,
    label: String,
    hint: String,
    value: Option<String>,
    default: Option<String>,
    optional: bool,
}

/// What a provider's API says of a key.
#[derive(Debug, Deserialize, Serialize)]
struct KeyChecked {
    ok: bool,
    why: Option<String>,
    hint: Option<String>,
}

/// Stores, checks or removes a source's API key.
pub(super) async fn key(args: &KeyArgs, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    let KeyArgs { slug, env, check, remove } = args;
    let address = Address::new(["sync", slug.as_str(), "key"]);
    if *check {
        return checked(slug, client, screen).await;
    }
    if *remove {
        client.order(Method::DELETE, &address, None).await?;
        screen.note(Styled(FAINT, format!("removed the API key of {slug}; it isn't synced any more")));
        return Ok(Exit::Success);
    }
    let order = match env {
        Some(name) => json!({ "env": name }),
        None => {
            let what = format!("the API key of {slug}");
            json!({ "value_base64": STANDARD.encode(from_stdin(&what, screen)?) })
        }
    };
    let view: SyncView = client.send(Method::PUT, &address, &order).await?;
    if screen.json {
        screen.print_json(&view)?;
        return Ok(Exit::Success);
    }
    screen.note(format_args!("the API key of {slug} is {}", view.place()));
    match &view.lacks {
        Some(lacks) => screen.note(Plain(lacks)),
        None => {
            let hint = format!("`hookmitt sync key {slug} --check` asks whether it is good");
            screen.note(Styled(FAINT, hint));
        }
    }
    Ok(Exit::Success)
}

async fn checked(slug: &Slug, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    let address = Address::new(["sync", slug.as_str(), "check"]);
    let found: KeyChecked = client.send(Method::POST, &address, &json!({})).await?;
    let exit = if found.ok { Exit::Success } else { Exit::No };
    if screen.json {
        screen.print_json(&found)?;
        return Ok(exit);
    }
    match (&found.why, &found.hint) {
        (Some(why), hint) => {
            let hint = hint.as_ref().map_or_else(String::new, |hint| format!("; {}", Plain(hint)));
            screen.print(format_args!("{} {}{hint}", Styled(BAD, "no:"), Plain(why)))?;
        }
        (None, _) => screen.print(format_args!("{} the key of {slug} is good", Styled(GOOD, "yes:")))?,
    }
    Ok(exit)
}

/// Changes how a source is synced.
pub(super) async fn set(args: &SetArgs, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    let mut change = Map::new();
    if !args.params.is_empty() {
        let params: Map<String, Value> =
            args.params.iter().map(|Pair(name, value)| (name.clone(), value.as_str().into())).collect();
        change.insert("params".to_owned(), params.into());
    }
    if let Some(delivery) = args.missing {
        change.insert("delivery".to_owned(), json!(delivery));
    }
    if let Some(every) = args.every {
        change.insert("every_s".to_owned(), every.seconds());
    }
    if let Some(file) = &args.connector {
        change.insert("connector".to_owned(), read(file)?);
    } else if args.no_connector {
        change.insert("connector".to_owned(), Value::Null);
    }
    if change.is_empty() {
        let hint = "see `hookmitt sync set --help`";
        return Err(CliError::bad_input_with("nothing-to-change", "nothing is to be changed", hint));
    }
    let address = Address::new(["sync", args.slug.as_str()]);
    let view: SyncView = client.send(Method::PATCH, &address, &change.into()).await?;
    print(&view, screen)
}

/// Reads a connector file.
fn read(file: &PathBuf) -> Result<Value, CliError> {
    let shown = file.display().to_string();
    let text = std::fs::read_to_string(file).map_err(|error| {
        CliError::bad_input("unreadable-connector", format!("can't read {shown}: {error}"))
    })?;
    toml::from_str(&text).map_err(|error| {
        CliError::bad_input("bad-connector", format!("{shown} isn't TOML: {}", error.to_string().trim()))
    })
}

/// Shows how a source is synced.
pub(super) async fn show(slug: &Slug, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    print(&client.get(&Address::new(["sync", slug.as_str()])).await?, screen)
}

/// Lists how every source is synced.
pub(super) async fn list(client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    let views: Vec<SyncView> = client.all(&Address::new(["sync"])).await?;
    for view in views {
        if screen.json {
            screen.print_json(&view)?;
        } else {
            screen.print(view.line())?;
        }
    }
    Ok(Exit::Success)
}

/// Prints a connector file.
pub(super) fn preset(provider: Option<&str>, screen: &Screen) -> Result<Exit, CliError> {
    let Some(id) = provider else {
        for connector in hookmitt_sync::connectors() {
            screen.print(format_args!("{:20} {}", connector.id, connector.name))?;
        }
        return Ok(Exit::Success);
    };
    let Some(text) = hookmitt_sync::preset(id) else {
        let message = format!("there is no connector {:?}", Plain(id).to_string());
        return Err(CliError::bad_input_with(
            "unknown-connector",
            message,
            "`hookmitt sync preset` lists them",
        ));
    };
    screen.print(text.trim_end())?;
    Ok(Exit::Success)
}

impl SyncView {
    fn place(&self) -> String {
        match (self.key.as_deref(), &self.key_env) {
            (Some("keychain"), _) => "stored in the keychain".to_owned(),
            (Some("env"), Some(name)) => format!("read from the environment variable {}", Plain(name)),
            (Some(_), _) => {
                "stored in a file in the data directory that only you can read, because no keychain is available"
                    .to_owned()
            }
            (None, _) => "not set".to_owned(),
        }
    }

    fn line(&self) -> String {
        let name = Styled(STRONG, format!("{:<16}", self.source));
        if let Some(failed) = self.failed.as_ref().filter(|_| self.lacks.is_none()) {
            return format!("{name}  {}  {}", self.often(), Styled(BAD, Plain(failed)));
        }
        match (&self.lacks, self.synced_until) {
            (Some(lacks), _) => format!("{name}  {}", Styled(FAINT, Plain(lacks))),
            (None, None) => format!("{name}  {}  not synced yet", self.often()),
            (None, Some(until)) => {
                let until = shown::day_and_clock(until, &TimeZone::system());
                format!("{name}  {}  complete until {until}", self.often())
            }
        }
    }

    fn often(&self) -> String {
        match self.every_s {
            0 => "by hand".to_owned(),
            seconds => format!("every {}", shown::span(std::time::Duration::from_secs(seconds))),
        }
    }
}

fn print(view: &SyncView, screen: &Screen) -> Result<Exit, CliError> {
    if screen.json {
        screen.print_json(view)?;
        return Ok(Exit::Success);
    }
    screen.print(view.line())?;
    let fact = |name: &str, value: &str| {
        screen.print(format_args!("  {}  {}", Styled(FAINT, format!("{name:<12}")), Plain(value)))
    };
    let missing = match view.delivery {
        SyncDelivery::Ask => "kept, and offered to be delivered",
        SyncDelivery::Keep => "kept",
        SyncDelivery::Deliver => "delivered, signed again; what the first sync finds is offered",
    };
    fact("missing", missing)?;
    fact("API key", &view.place())?;
    let Some(connector) = &view.connector else { return Ok(Exit::Success) };
    let own = if connector.id.is_none() { " (your own connector)" } else { "" };
    fact("asks", &format!("{}{own}, {}", connector.name, connector.hosts.join(", ")))?;
    fact("key", &format!("{} ({})", connector.scope, connector.key_hint))?;
    if connector.key_form != "key" {
        fact("written as", &connector.key_form)?;
    }
    if let Some(days) = connector.days {
        fact("goes back", &format!("{days} days"))?;
    }
    for param in &connector.params {
        let value = param.value.as_deref().or(param.default.as_deref());
        let said = value.map_or_else(|| format!("not set: {}", param.hint), str::to_owned);
        fact(&param.name, &said)?;
    }
    for lost in &connector.lost {
        let line = format!("  {}  {}", Styled(ODD, "not recovered"), Plain(lost));
        screen.print(line)?;
    }
    Ok(Exit::Success)
}
