//! `hookmitt relay token`: tokens with which tunnels are opened. A token is shown once, when it is created.

use std::path::Path;

use hookmitt_event::{Plain, Timestamp};
use hookmitt_mailbox::{MOST_TUNNELS, Mailbox, MailboxError, Token};
use hookmitt_relay::{fresh_token, fresh_token_id, hash};
use serde_json::{Value, json};

use crate::{
    failure::{CliError, Exit},
    terminal::{FAINT, STRONG, Screen, Styled},
    verbs::relay_store::{Opened, StoreName},
};

/// What is done with tokens.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Verb {
    /// Create a token; it is printed once, on standard output
    Create {
        /// Who or what it is for
        #[arg(long, value_name = "N")]
        name: Option<String>,
        /// How many tunnels it may have open at a time
        #[arg(long, value_name = "N", default_value_t = MOST_TUNNELS)]
        tunnels: u32,
        /// Where the relay stores its mailboxes; by default HOOKMITT_RELAY_STORE, else relay.db in the data directory
        #[arg(long, value_name = "STORE")]
        store: Option<StoreName>,
    },
    /// List tokens, without the tokens themselves
    List {
        /// Where the relay stores its mailboxes; by default HOOKMITT_RELAY_STORE, else relay.db in the data directory
        #[arg(long, value_name = "STORE")]
        store: Option<StoreName>,
    },
    /// Give a token a new secret, printed once, on standard output; its tunnels stay open
    Rotate {
        /// Its id, as `list` shows it
        id: String,
        /// Where the relay stores its mailboxes; by default HOOKMITT_RELAY_STORE, else relay.db in the data directory
        #[arg(long, value_name = "STORE")]
        store: Option<StoreName>,
    },
    /// Revoke a token: its tunnels are closed, what waits in them is deleted, and their names can't be used again;
    /// `rotate` keeps them
    Revoke {
        /// Its id, as `list` shows it
        id: String,
        /// Where the relay stores its mailboxes; by default HOOKMITT_RELAY_STORE, else relay.db in the data directory
        #[arg(long, value_name = "STORE")]
        store: Option<StoreName>,
    },
}

/// Runs the command; a relay may be running meanwhile.
pub(crate) async fn run(verb: &Verb, data_dir: &Path, screen: &Screen) -> Result<Exit, CliError> {
    let opened = match verb {
        Verb::Create { store, .. } => StoreName::open(store.as_ref(), data_dir).await,
        Verb::List { store } | Verb::Rotate { store, .. } | Verb::Revoke { store, .. } => {
            StoreName::open_made(store.as_ref(), data_dir).await
        }
    };
    match opened? {
        Opened::Sqlite(store) => obey(verb, store, screen).await,
        Opened::Nats(store) => obey(verb, store, screen).await,
    }
}

async fn obey<M: Mailbox>(verb: &Verb, store: M, screen: &Screen) -> Result<Exit, CliError> {
    let done = match verb {
        Verb::Create { name, tunnels, .. } => create(&store, name.as_deref(), *tunnels, screen).await,
        Verb::List { .. } => list(&store, screen).await,
        Verb::Rotate { id, .. } => rotate(&store, id, screen).await,
        Verb::Revoke { id, .. } => revoke(&store, id, screen).await,
    };
    store.close().await;
    done.map(|()| Exit::Success)
}

async fn create<M: Mailbox>(
    store: &M,
    name: Option<&str>,
    tunnels: u32,
    screen: &Screen,
) -> Result<(), CliError> {
    let (id, token) = (fresh_token_id(), fresh_token());
    let added = store.add_token(&id, hash(&token), name, tunnels);
    added.await.map_err(|error| failed(&error))?;
    if screen.json {
        let made = json!({ "id": id, "token": token, "name": name, "most_tunnels": tunnels });
        return screen.print_json(&made);
    }
    screen.note(format_args!("token {id} was created; it is shown only once:"));
    screen.print(token)
}

async fn list<M: Mailbox>(store: &M, screen: &Screen) -> Result<(), CliError> {
    let tokens = store.tokens().await.map_err(|error| failed(&error))?;
    for token in &tokens {
        if screen.json {
            screen.print_json(&shown(token))?;
        } else {
            screen.print(line(token))?;
        }
    }
    if tokens.is_empty() {
        screen.note("no tokens yet; create one with `hookmitt relay token create`");
    }
    Ok(())
}

async fn rotate<M: Mailbox>(store: &M, id: &str, screen: &Screen) -> Result<(), CliError> {
    let token = fresh_token();
    store.rotate_token(id, hash(&token)).await.map_err(|error| failed(&error))?;
    if screen.json {
        return screen.print_json(&json!({ "id": id, "token": token }));
    }
    let id = Plain(id);
    screen.note(format_args!(
        "token {id} has a new secret, shown only once; the old one opens no more tunnels:"
    ));
    screen.print(token)
}

async fn revoke<M: Mailbox>(store: &M, id: &str, screen: &Screen) -> Result<(), CliError> {
    store.revoke_token(id).await.map_err(|error| failed(&error))?;
    let tokens = store.tokens().await.map_err(|error| failed(&error))?;
    let token = tokens.into_iter().find(|token| token.id == id);
    if screen.json {
        // A token that was revoked before keeps its date.
        let revoked_at = token.and_then(|token| token.revoked_at);
        let revoked_at = revoked_at.map_or_else(Timestamp::now, Timestamp::from_micros);
        return screen.print_json(&json!({ "id": id, "revoked_at": revoked_at }));
    }
    let tunnels = token.map(|token| token.tunnels.join(", ")).unwrap_or_default();
    if tunnels.is_empty() {
        screen.note(format_args!("token {} is revoked", Plain(id)));
        return Ok(());
    }
    screen.note(format_args!(
        "token {} is revoked, and its tunnels are closed for good: {}. Their names can't be used again; to replace a \
         token and keep its tunnels, use `hookmitt relay token rotate ID`",
        Plain(id),
        Plain(&tunnels)
    ));
    Ok(())
}

/// A token as it is listed, without its secret.
fn shown(token: &Token) -> Value {
    let time = |micros: i64| Timestamp::from_micros(micros);
    json!({
        "id": token.id,
        "name": token.name,
        "created_at": time(token.created_at),
        "used_at": token.used_at.map(time),
        "revoked_at": token.revoked_at.map(time),
        "most_tunnels": token.most_tunnels,
        "tunnels": token.tunnels,
    })
}

fn line(token: &Token) -> String {
    let name = token.name.as_deref().unwrap_or("-");
    let state = if token.revoked_at.is_some() { "revoked" } else { "good" };
    let tunnels = if token.tunnels.is_empty() { "no tunnels".to_owned() } else { token.tunnels.join(" ") };
    let count = format!("{}/{}", token.tunnels.len(), token.most_tunnels);
    let (id, rest) = (Plain(&token.id), format!("{}  {state}  {count}  {}", Plain(name), Plain(&tunnels)));
    format!("{}  {rest}  {}", Styled(STRONG, id), Styled(FAINT, Timestamp::from_micros(token.created_at)))
}

/// An unknown or revoked id is wrong input; other errors mean that the store can't be used.
fn failed(error: &MailboxError) -> CliError {
    match error {
        MailboxError::TokenRevoked(_) => CliError::explained(error),
        MailboxError::Unknown { .. } => {
            CliError::bad_input_with("unknown-token", error.to_string(), "see `hookmitt relay token list`")
        }
        _ => CliError::unreached(error),
    }
}
