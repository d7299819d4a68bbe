//! `hookmitt source`: adds, lists, shows, changes and removes sources.

use hookmitt_event::{Plain, Slug, Timestamp, counted};
use http::Method;
use jiff::tz::TimeZone;
use serde_json::Value;

use crate::{
    client::{Address, Client},
    failure::{CliError, Exit},
    shared_scheme,
    target_view::{Target, looked_at},
    terminal::{FAINT, STRONG, Screen, Styled},
    verbs::{announce::announced, source_settings::Settings, strict_order},
};

/// What is done with sources.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Verb {
    /// Add a source
    Add {
        /// Its name in URLs; a provider's id sets that provider
        slug: Slug,
        #[command(flatten)]
        settings: Box<Settings>,
    },
    /// List all sources
    List,
    /// Show one source with its settings
    Show {
        /// Its name
        slug: Slug,
        /// Print only its custom signing scheme, as a file for `--scheme-file`; never contains a secret
        #[arg(long)]
        scheme: bool,
    },
    /// Change settings of a source; an empty value unsets one
    Edit {
        /// Its name
        slug: Slug,
        #[command(flatten)]
        settings: Box<Settings>,
    },
    /// Remove a source with its secrets and targets; its events stay
    Remove {
        /// Its name
        slug: Slug,
    },
}

/// Runs the command.
pub(crate) async fn run(verb: &Verb, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    let all = Address::new(["sources"]);
    let one = |slug: &Slug| Address::new(["sources", slug.as_str()]);
    match verb {
        Verb::Add { slug, settings } => {
            let mut source = settings.change(&Value::Null)?;
            source.insert("slug".to_owned(), Value::from(slug.as_str()));
            // A name that is a provider's means that provider, unless the flags say otherwise.
            if let Some(named) = hookmitt_verify::provider(slug.as_str())
                && !source.contains_key("generic")
            {
                source.entry("provider").or_insert_with(|| Value::from(named.id.as_str()));
            }
            let made: Value = client.send(Method::POST, &all, &Value::Object(source)).await?;
            print(&made, screen)?;
            strict_order::of_source(&made, client, screen).await?;
            announced(Some(slug), client, screen).await?;
        }
        Verb::List => list(&client.all(&all).await?, screen)?,
        Verb::Show { slug, scheme: true } => print_scheme(slug, &client.get(&one(slug)).await?, screen)?,
        Verb::Show { slug, scheme: false } => {
            print(&client.get(&one(slug)).await?, screen)?;
            if !screen.json {
                print_targets(slug, client, screen).await?;
            }
        }
        Verb::Edit { slug, settings } => {
            let before: Value = client.get(&one(slug)).await?;
            let change = Value::Object(settings.change(&before)?);
            let changed: Value = client.send(Method::PATCH, &one(slug), &change).await?;
            print(&changed, screen)?;
            strict_order::of_source(&changed, client, screen).await?;
            announced(Some(slug), client, screen).await?;
            if settings.allows_hosts() {
                offer_withheld(slug, client, screen).await?;
            }
        }
        Verb::Remove { slug } => {
            client.order(Method::DELETE, &one(slug), None).await?;
            screen
                .note(Styled(FAINT, format!("removed {slug} with its secrets and targets; its events stay")));
            announced(None, client, screen).await?;
        }
    }
    Ok(Exit::Success)
}

/// Says how many events were withheld under each host name that is allowed now, and how to send them.
async fn offer_withheld(slug: &Slug, client: &Client, screen: &Screen) -> Result<(), CliError> {
    let withheld = Address::new(["sources", slug.as_str(), "withheld"]);
    let hosts: Vec<Value> = client.all(&withheld).await?;
    for one in hosts.iter().filter(|one| one["allowed"] == true) {
        let (host, events) = (one["host"].as_str().unwrap_or_default(), one["events"].as_u64().unwrap_or(0));
        let said = counted(events, "event");
        let host = Plain(host);
        screen.note(format!(
            "{said} withheld because of that host name; to send: `hookmitt retry --withheld-host {host} --source \
             {slug}`"
        ));
    }
    Ok(())
}

fn list(sources: &[Value], screen: &Screen) -> Result<(), CliError> {
    for source in sources {
        if screen.json {
            screen.print_json(source)?;
            continue;
        }
        let text = |name: &str| source[name].as_str().unwrap_or("-").to_owned();
        let secrets = source["secrets"].as_array().map_or(0, Vec::len);
        let slug = Styled(STRONG, format!("{:<16}", text("slug")));
        let provider = format!("{:<16}", text("provider"));
        let made = if source["auto_created"] == true { "  created by its first event" } else { "" };
        let rest = format!(
            "secrets: {secrets}  invalid: {}  duplicates: {}{made}",
            text("on_invalid"),
            text("on_duplicate")
        );
        screen.print(format_args!("{slug}  {}  {}", Plain(&provider), Plain(&rest)))?;
    }
    if sources.is_empty() && !screen.json {
        screen.note(Styled(
            FAINT,
            "no sources yet: run `hookmitt source add NAME`, or post to the capture port",
        ));
    }
    Ok(())
}

fn print_scheme(slug: &Slug, source: &Value, screen: &Screen) -> Result<(), CliError> {
    let none = || CliError::bad_input("no-scheme", format!("{slug} has no custom signing scheme"));
    let scheme = shared_scheme::of(source).ok_or_else(none)?;
    if screen.json { screen.print_json(&scheme) } else { screen.print(format_args!("{scheme:#}")) }
}

fn print(source: &Value, screen: &Screen) -> Result<(), CliError> {
    if screen.json {
        return screen.print_json(source);
    }
    let mut lines = lines(source, "");
    if source["answer"]["status"].is_null() {
        lines.push(setting("answer.status", usual_status(source)));
    }
    screen.print(lines.join("\n"))
}

/// Returns the status that senders get where none is set, and why.
fn usual_status(source: &Value) -> &'static str {
    if source["provider"].is_string() {
        "not set: 200, because the provider is known, and some take nothing else for success"
    } else {
        "not set: 200 where a request's provider is recognised, else 202 (stored, not handled yet)"
    }
}

fn setting(name: &str, value: &str) -> String {
    format!("{}  {}", Styled(FAINT, Plain(&format!("{name:<24}"))), Plain(value))
}

/// Prints where the source's events go, and what is known of each target.
async fn print_targets(slug: &Slug, client: &Client, screen: &Screen) -> Result<(), CliError> {
    let targets: Vec<Target> = client.all(&looked_at(Some(slug.as_str()))).await?;
    let (now, zone) = (Timestamp::now(), TimeZone::system());
    for target in &targets {
        let name = Styled(FAINT, format!("{:<24}", "target"));
        screen.print(format_args!("{name}  {}  {}", Plain(&target.url), target.state(now, &zone)))?;
    }
    Ok(())
}

/// Returns a line for each setting that is set. A setting in a group is named `group.setting`.
pub(crate) fn lines(settings: &Value, group: &str) -> Vec<String> {
    let Some(fields) = settings.as_object() else { return Vec::new() };
    let mut out = Vec::new();
    for (name, value) in fields {
        let name = if group.is_empty() { name.clone() } else { format!("{group}.{name}") };
        let shown = match value {
            Value::Null => continue,
            Value::Object(_) => {
                out.extend(lines(value, &name));
                continue;
            }
            Value::Array(items) if items.is_empty() => continue,
            Value::String(text) => text.clone(),
            Value::Array(_) | Value::Bool(_) | Value::Number(_) => value.to_string(),
        };
        out.push(setting(&name, &shown));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_gets_a_line() {
        let source = serde_json::json!({"slug": "a", "provider": null, "answer": {"status": 201, "headers": []},
            "generic": {"prefix": "\u{1b}["}});
        let plain: Vec<_> =
            lines(&source, "").iter().map(|line| anstream::adapter::strip_str(line).to_string()).collect();
        assert_eq!(plain.len(), 3);
        assert!(
            plain.iter().any(|line| line.starts_with("answer.status") && line.ends_with("  201")),
            "{plain:?}"
        );
        assert!(plain.iter().any(|line| line.ends_with(r"\u{1b}[")), "{plain:?}");
    }

    #[test]
    fn a_status_that_is_not_set_says_which_it_is_and_why() {
        assert!(usual_status(&serde_json::json!({"provider": "github"})).contains("200, because"));
        assert!(
            usual_status(&serde_json::json!({"provider": null}))
                .ends_with("else 202 (stored, not handled yet)")
        );
    }
}
