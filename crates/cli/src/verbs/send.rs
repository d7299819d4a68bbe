//! `hookmitt send`: sends sample events with a genuine signature; unsigned if the provider signs nothing.

use std::path::PathBuf;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hookmitt_event::{Plain, Slug};
use http::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    client::{Address, Client, Items},
    destination::Destination,
    failure::{CliError, Exit},
    outcome::{Outcome, Outcomes},
    provider_name, secret_variable,
    terminal::Screen,
};

/// What `send` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The provider's id, such as github or stripe
    provider: String,
    /// The event's type, such as push or invoice.paid; by default the provider's usual one
    event_type: Option<String>,
    /// Where to send it
    #[arg(long, value_name = "URL")]
    to: Destination,
    /// Sign with the secret in this environment variable
    #[arg(long, value_name = "NAME")]
    secret_env: Option<String>,
    /// Store it in this source, and sign with the source's secret
    #[arg(long, value_name = "S")]
    source: Option<Slug>,
    /// Send this file's bytes as the body
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// How many to send; each has its own id
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    times: Option<u32>,
}

#[derive(Debug, Deserialize)]
struct Sent {
    items: Vec<Outcome>,
    secret: Option<String>,
    unsigned: Option<String>,
}

/// A delivery of an event.
#[derive(Debug, Deserialize)]
struct Delivery {
    id: String,
}

/// Sends the samples, and prints the outcomes.
pub(crate) async fn run(args: &Args, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    let order = args.order()?;
    let sent: Sent = client.send(Method::POST, &Address::new(["send"]), &order).await?;
    if let Some(secret) = &sent.secret {
        screen.note(format_args!("signed with {}", Plain(secret)));
    }
    if let Some(reason) = &sent.unsigned {
        screen.note(format_args!("unsigned: {}", Plain(reason)));
    }
    let mut outcomes = Outcomes::default();
    for outcome in sent.items {
        let outcome = Outcome { unsigned: sent.unsigned.clone(), ..outcome };
        for became in became(outcome, client).await? {
            outcomes.print(&became, screen)?;
        }
    }
    Ok(outcomes.exit())
}

/// Returns what became of a sample. If it went to our own capture port, that it was accepted says little: then its
/// event's deliveries are waited for, one outcome each.
async fn became(outcome: Outcome, client: &Client) -> Result<Vec<Outcome>, CliError> {
    let Some(id) = outcome.event_id.as_deref().filter(|_| outcome.is_only_accepted()) else {
        return Ok(vec![outcome]);
    };
    let deliveries: Items<Delivery> = match client.get(&Address::new(["events", id, "deliveries"])).await {
        Err(CliError::Problem(problem)) if problem.status == 404 => return Ok(vec![outcome]), // deleted meanwhile
        found => found?,
    };
    if deliveries.items.is_empty() {
        return Ok(vec![Outcome { status: Some("captured".to_owned()), ..outcome }]);
    }
    let mut all = Vec::with_capacity(deliveries.items.len());
    for Delivery { id } in &deliveries.items {
        let became: Outcome = client.get(&Address::new(["deliveries", id, "outcome"])).await?;
        all.push(Outcome { unsigned: outcome.unsigned.clone(), ..became });
    }
    Ok(all)
}

impl Args {
    fn order(&self) -> Result<Value, CliError> {
        let provider = provider_name::find(&self.provider)?;
        let secret = self.secret_env.as_deref().map(secret_variable::secret_of).transpose()?;
        let data = match &self.data {
            Some(path) => Some(std::fs::read(path).map_err(|source| CliError::file(path, source))?),
            None => None,
        };
        Ok(json!({
            "provider": provider.id,
            "type": self.event_type,
            "to": self.to.as_str(),
            "source": self.source,
            "secret_base64": secret.map(|secret| STANDARD.encode(secret)),
            "secret_name": self.secret_env.as_deref().map(secret_variable::label_of),
            "data_base64": data.map(|data| STANDARD.encode(data)),
            "times": self.times,
        }))
    }
}
