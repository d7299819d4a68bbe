//! `hookmitt secret`: sets, lists and removes signing secrets. A secret is never printed.

use std::io::{IsTerminal as _, Read as _};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hookmitt_event::{Plain, Slug};
use http::Method;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::{
    client::{Address, Client},
    event_ref::EventRef,
    failure::{CliError, Exit},
    shown,
    terminal::{BAD, FAINT, ODD, STRONG, Screen, Styled},
    verbs::announce::{announced, exists},
};

/// How many bytes a secret may have; keys in PEM fit well.
const LONGEST: usize = 64 * 1024;
/// The label of a source's only secret.
const USUAL: &str = "default";

/// What is done with secrets.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Verb {
    /// Store a secret for a source; reads it from standard input
    Set {
        /// The source; a provider's id creates that provider's source
        slug: Slug,
        /// A label that tells it from the source's other secrets
        #[arg(long, value_name = "L", default_value = USUAL)]
        label: String,
        /// Read it from this environment variable whenever hookmitt runs; stores only the variable's name
        #[arg(long, value_name = "NAME")]
        env: Option<String>,
        /// Create the source if it doesn't exist
        #[arg(long)]
        create: bool,
    },
    /// Create a local key pair to sign with when the provider's own key is private; prints the public key
    TestKey {
        /// The source
        slug: Slug,
    },
    /// Store the secret that a set-up request delivered, such as Asana's or Notion's
    Accept {
        /// The event: its id or the start of it, '#12', last, last~2
        id: EventRef,
        /// A label that tells it from the source's other secrets
        #[arg(long, value_name = "L")]
        label: Option<String>,
    },
    /// List secrets, without their values
    List {
        /// Only this source's
        slug: Option<Slug>,
    },
    /// Remove a secret
    Remove {
        /// The source
        slug: Slug,
        /// Its label
        #[arg(long, value_name = "L", default_value = USUAL)]
        label: String,
    },
}

/// A secret as the API lists it.
#[derive(Debug, Deserialize, Serialize)]
struct Entry {
    source: String,
    label: String,
    kind: String,
    env: Option<String>,
    readable: bool,
    problem: Option<String>,
}

/// Where a delivered secret was stored.
#[derive(Debug, Deserialize)]
struct Saved {
    source: Slug,
    label: String,
}

/// Runs the command.
pub(crate) async fn run(verb: &Verb, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    let one = |slug: &Slug, label: &str| Address::new(["sources", slug.as_str(), "secrets", label]);
    match verb {
        Verb::Set { slug, label, env, create } => {
            let order = match env {
                Some(name) => json!({ "env": name, "create": create }),
                None => {
                    json!({ "value_base64": STANDARD.encode(from_stdin(&format!("the secret of {slug}"), screen)?), "create": create })
                }
            };
            let is_new = !exists(slug, client).await?;
            client.order(Method::PUT, &one(slug, label), Some(&order)).await?;
            let kept = entries(Some(slug), client).await?;
            kept.iter().filter(|entry| entry.label == *label).for_each(|entry| confirm(entry, screen));
            if is_new {
                announced(Some(slug), client, screen).await?;
            }
        }
        Verb::TestKey { slug } => {
            let address = Address::new(["sources", slug.as_str(), "test-key"]);
            let made: Value = client.send(Method::POST, &address, &json!({})).await?;
            print_test_key(slug, &made, screen)?;
        }
        Verb::Accept { id, label } => {
            let saved = accept(id, label.as_deref(), client, screen).await?;
            let kept = entries(Some(&saved.source), client).await?;
            kept.iter().filter(|entry| entry.label == saved.label).for_each(|entry| confirm(entry, screen));
        }
        Verb::List { slug } => {
            for entry in entries(slug.as_ref(), client).await? {
                if screen.json { screen.print_json(&entry)? } else { screen.print(line(&entry))? }
            }
        }
        Verb::Remove { slug, label } => {
            client.order(Method::DELETE, &one(slug, label), None).await?;
            screen.note(Styled(FAINT, format!("removed the secret {} of {slug}", Plain(label))));
        }
    }
    Ok(Exit::Success)
}

/// Stores a delivered secret. Says first who sent it. If the source has a secret already and a label was given, also
/// warns that whoever sent this one can sign the source's events, too.
async fn accept(
    id: &EventRef,
    label: Option<&str>,
    client: &Client,
    screen: &Screen,
) -> Result<Saved, CliError> {
    let event = id.read(client).await?;
    let (sender, at) = (event.remote.as_deref().unwrap_or("an unknown address"), event.received_at);
    let sent = format!("#{} was sent by {sender} at {}", event.seq, shown::moment(at, &TimeZone::system()));
    screen.note(Plain(&sent));
    let has_one = !entries(Some(&event.source), client).await?.is_empty();
    if let Some(label) = label.filter(|_| has_one) {
        let warning = format!(
            "{} already has a secret; whoever sent this one can now sign its events, too. If that wasn't the \
             provider, run `hookmitt secret remove {} --label {label}`",
            event.source, event.source
        );
        screen.note(format_args!("{} {}", Styled(ODD, "warning:"), Plain(&warning)));
    }
    client.send(Method::POST, &id.address_of("save-secret"), &json!({ "label": label })).await
}

/// Prints the public key to standard output, in the form that handlers for this provider expect.
fn print_test_key(slug: &Slug, made: &Value, screen: &Screen) -> Result<(), CliError> {
    if screen.json {
        return screen.print_json(made);
    }
    let halves = made["public"].as_array().map(Vec::as_slice).unwrap_or_default();
    let text = |half: &Value, name: &str| half[name].as_str().unwrap_or_default().to_owned();
    screen
        .note(format_args!("{slug} now signs with a local test key; give this public key to your handler:"));
    if let Some(first) = halves.first() {
        screen.print(text(first, "text").trim_end())?;
    }
    let others: Vec<_> = halves.iter().skip(1).map(|half| text(half, "form")).collect();
    if !others.is_empty() {
        screen.note(Styled(FAINT, format!("--json also prints it as {}", Plain(&others.join(", ")))));
    }
    Ok(())
}

async fn entries(slug: Option<&Slug>, client: &Client) -> Result<Vec<Entry>, CliError> {
    client.all(&Address::new(["secrets"]).with("source", slug.map(Slug::as_str))).await
}

fn confirm(entry: &Entry, screen: &Screen) {
    let place = match (entry.kind.as_str(), &entry.env) {
        ("keychain", _) => "stored in the keychain".to_owned(),
        ("env", Some(name)) => format!("read from the environment variable {}", Plain(name)),
        ("file", _) => {
            "stored in a file in the data directory that only you can read, because no keychain is available"
                .to_owned()
        }
        (other, _) => format!("stored: {}", Plain(other)),
    };
    screen.note(format_args!("the secret {} of {} is {place}", Plain(&entry.label), Plain(&entry.source)));
    if let Some(problem) = &entry.problem {
        screen.note(format_args!("{} {}", Styled(ODD, "warning:"), Plain(problem)));
    }
}

fn line(entry: &Entry) -> String {
    let source = Styled(STRONG, format!("{:<16}", entry.source));
    let place = entry.env.as_ref().map_or_else(|| entry.kind.clone(), |name| format!("env:{name}"));
    let rest = format!("{:<12}  {place}", entry.label);
    match (&entry.problem, entry.readable) {
        (Some(problem), _) => format!("{source}  {}  {}", Plain(&rest), Styled(BAD, Plain(problem))),
        (None, false) => format!("{source}  {}  {}", Plain(&rest), Styled(BAD, "can't be read")),
        (None, true) => format!("{source}  {}", Plain(&rest)),
    }
}

/// Reads a secret from standard input; `what` names it to who types it.
pub(super) fn from_stdin(what: &str, screen: &Screen) -> Result<Zeroizing<Vec<u8>>, CliError> {
    let wrong = |source| CliError::System { doing: "can't read the secret from standard input", source };
    let mut secret = Zeroizing::new(Vec::with_capacity(LONGEST + 1));
    if std::io::stdin().is_terminal() {
        screen.note(format_args!("{what} (hidden while you type):"));
        secret = Zeroizing::new(rpassword::read_password().map_err(wrong)?.into_bytes());
    } else {
        std::io::stdin().lock().take(LONGEST as u64 + 1).read_to_end(&mut secret).map_err(wrong)?;
    }
    checked(secret)
}

/// Removes one line end from the end of the secret.
///
/// # Errors
/// Fails if the secret is longer than [`LONGEST`], with its line end counted, or is empty.
fn checked(mut secret: Zeroizing<Vec<u8>>) -> Result<Zeroizing<Vec<u8>>, CliError> {
    if secret.len() > LONGEST {
        return Err(CliError::bad_input("secret-too-long", "the secret is longer than 64 KiB"));
    }
    if secret.ends_with(b"\n") {
        secret.pop();
        if secret.ends_with(b"\r") {
            secret.pop();
        }
    }
    if secret.is_empty() {
        let hint = "pipe it in, such as: printf %s \"$SECRET\" | hookmitt secret set NAME";
        return Err(CliError::bad_input_with("secret-empty", "the secret is empty", hint));
    }
    Ok(secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_end_is_cut_and_nothing_else() {
        let read = |text: &str| {
            let read = checked(Zeroizing::new(text.as_bytes().to_vec()));
            read.map(|secret| String::from_utf8(secret.to_vec()).unwrap())
        };
        assert_eq!(read("s3cret\n").unwrap(), "s3cret");
        assert_eq!(read("s3cret\r\n").unwrap(), "s3cret");
        assert_eq!(read(" s3cret\n\n").unwrap(), " s3cret\n");
        assert_eq!(read("s3cret").unwrap(), "s3cret");
        assert_eq!(read("\n").unwrap_err().code(), "secret-empty");
        assert_eq!(read(&"x".repeat(70_000)).unwrap_err().code(), "secret-too-long");
    }
}
