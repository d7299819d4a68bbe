//! `hookmitt source`: adds, lists, shows, changes and removes sources.

use hookmitt_event::{Plain, Slug};
use http::Method;
use serde_json::Value;

use crate::{
    client::{Address, Client},
    failure::{CliError, Exit},
    shared_scheme,
    terminal::{FAINT, STRONG, Screen, Styled},
    verbs::source_settings::Settings,
};

/// What is done with sources.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Verb {
    /// Make a source
    Add {
        /// Its name in URLs
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
        /// Only how it signs by settings of its own, as a file that `--scheme-file` takes; never a secret
        #[arg(long)]
        scheme: bool,
    },
    /// Change settings of a source; an empty text unsets one
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
            let made: Value = client.send(Method::POST, &all, &Value::Object(source)).await?;
            print(&made, screen)?;
        }
        Verb::List => list(&client.all(&all).await?, screen)?,
        Verb::Show { slug, scheme: true } => print_scheme(slug, &client.get(&one(slug)).await?, screen)?,
        Verb::Show { slug, scheme: false } => print(&client.get(&one(slug)).await?, screen)?,
        Verb::Edit { slug, settings } => {
            let before: Value = client.get(&one(slug)).await?;
            let change = Value::Object(settings.change(&before)?);
            let changed: Value = client.send(Method::PATCH, &one(slug), &change).await?;
            print(&changed, screen)?;
            if settings.allows_hosts() {
                offer_withheld(slug, client, screen).await?;
            }
        }
        Verb::Remove { slug } => {
            client.order(Method::DELETE, &one(slug), None).await?;
            screen.note(Styled(
                FAINT,
                format!("{slug} is removed with its secrets and targets; its events stay"),
            ));
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
        let said = if events == 1 { "1 event was".to_owned() } else { format!("{events} events were") };
        let host = Plain(host);
        screen.note(format!(
            "{said} withheld under that name; to send: `hookmitt retry --withheld-host {host} --source {slug}`"
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
        let made = if source["auto_created"] == true { "  made by its first event" } else { "" };
        let rest = format!(
            "secrets {secrets}  invalid: {}  repeats: {}{made}",
            text("on_invalid"),
            text("on_duplicate")
        );
        screen.print(format_args!("{slug}  {}  {}", Plain(&provider), Plain(&rest)))?;
    }
    if sources.is_empty() && !screen.json {
        screen.note(Styled(FAINT, "no sources yet: `hookmitt source add NAME`, or post to the capture port"));
    }
    Ok(())
}

fn print_scheme(slug: &Slug, source: &Value, screen: &Screen) -> Result<(), CliError> {
    let none = || CliError::bad_input("no-scheme", format!("{slug} signs by no settings of its own"));
    let scheme = shared_scheme::of(source).ok_or_else(none)?;
    if screen.json { screen.print_json(&scheme) } else { screen.print(format_args!("{scheme:#}")) }
}

fn print(source: &Value, screen: &Screen) -> Result<(), CliError> {
    if screen.json { screen.print_json(source) } else { screen.print(lines(source, "").join("\n")) }
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
        out.push(format!("{}  {}", Styled(FAINT, Plain(&format!("{name:<24}"))), Plain(&shown)));
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
}
