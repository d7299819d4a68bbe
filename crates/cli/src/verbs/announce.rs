//! Waits until relays know what a command has changed.

use hookmitt_event::{Plain, Slug};
use http::Method;
use serde::Deserialize;
use serde_json::Value;

use crate::{
    client::{Address, Client, Items},
    failure::CliError,
    terminal::{ODD, Screen, Styled},
    tunnel_view::Trouble,
};

/// Whether a tunnel's relay knows the sources.
#[derive(Deserialize)]
struct Announced {
    host: String,
    known: bool,
    error: Option<Trouble>,
}

/// Whether a source exists. One that a command makes has to be announced.
///
/// # Errors
/// Fails if the inbox fails.
pub(crate) async fn exists(source: &Slug, client: &Client) -> Result<bool, CliError> {
    let found: Result<Value, _> = client.get(&Address::new(["sources", source.as_str()])).await;
    match found {
        Ok(_) => Ok(true),
        Err(CliError::Problem(problem)) if problem.status == 404 => Ok(false),
        Err(error) => Err(error),
    }
}

/// Waits until every relay that should hear of a source knows it, or of all sources without one. Says which relays
/// don't know it after five seconds, and why.
///
/// # Errors
/// Fails if the inbox fails. A relay that can't be told is no error: it hears of the change once it is connected.
pub(crate) async fn announced(
    source: Option<&Slug>,
    client: &Client,
    screen: &Screen,
) -> Result<(), CliError> {
    let address = Address::new(["tunnels", "announce"]).with("source", source.map(Slug::as_str));
    let relays: Items<Announced> = client.send(Method::POST, &address, &Value::Null).await?;
    for relay in relays.items.iter().filter(|relay| !relay.known) {
        let why = relay.error.as_ref().map_or("it did not answer", |error| error.message.as_str());
        let note = format!(
            "{} doesn't know of this yet: {}. It will as soon as a running hookmitt is connected to it",
            Plain(&relay.host),
            Plain(why)
        );
        screen.note(Styled(ODD, note));
    }
    Ok(())
}
