//! `hookmitt send`: a genuinely signed sample event.

use std::path::PathBuf;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hookmitt_event::{Plain, Slug};
use http::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    client::{Address, Client},
    destination::Destination,
    failure::{CliError, Exit},
    outcome::{Outcome, Outcomes},
    provider_name,
    terminal::Screen,
};

/// What `send` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Whose event: a provider's id, such as github or stripe
    provider: String,
    /// Its type, such as push or invoice.paid; else the provider's usual one
    event_type: Option<String>,
    /// Where to
    #[arg(long, value_name = "URL")]
    to: Destination,
    /// Sign with the value of this environment variable
    #[arg(long, value_name = "NAME")]
    secret_env: Option<String>,
    /// Keep it under this source, and sign with that one's secret
    #[arg(long, value_name = "S")]
    source: Option<Slug>,
    /// Send this file's bytes as the body
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// How many; each has an id of its own
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    times: Option<u32>,
}

#[derive(Debug, Deserialize)]
struct Sent {
    items: Vec<Outcome>,
    secret: Option<String>,
    unsigned: Option<String>,
}

/// Sends them, and prints what came of each.
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
        outcomes.print(&Outcome { unsigned: sent.unsigned.clone(), ..outcome }, screen)?;
    }
    Ok(outcomes.exit())
}

impl Args {
    fn order(&self) -> Result<Value, CliError> {
        let provider = provider_name::find(&self.provider)?;
        let secret = self.secret_env.as_deref().map(secret_of_variable).transpose()?;
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
            "secret_name": self.secret_env.as_deref().map(label_of_variable),
            "data_base64": data.map(|data| STANDARD.encode(data)),
            "times": self.times,
        }))
    }
}

/// A secret out of an environment variable, byte for byte.
pub(crate) fn secret_of_variable(name: &str) -> Result<Vec<u8>, CliError> {
    let wrong = |message: String, hint: &str| CliError::bad_input_with("missing-variable", message, hint);
    if name.is_empty() || name.contains(['=', '\0']) {
        return Err(wrong(
            format!("{} can't name an environment variable", Plain(name)),
            "give its name, not its value",
        ));
    }
    let value = std::env::var_os(name).ok_or_else(|| {
        wrong(
            format!("the environment variable {} is not set", Plain(name)),
            "set it to the secret and export it",
        )
    })?;
    if value.is_empty() {
        return Err(wrong(
            format!("the environment variable {} is empty", Plain(name)),
            "set it to the secret",
        ));
    }
    Ok(bytes_of(value))
}

/// What a secret out of that variable is called.
pub(crate) fn label_of_variable(name: &str) -> String {
    format!("env:{name}")
}

#[cfg(unix)]
fn bytes_of(value: std::ffi::OsString) -> Vec<u8> {
    std::os::unix::ffi::OsStringExt::into_vec(value)
}

#[cfg(not(unix))]
fn bytes_of(value: std::ffi::OsString) -> Vec<u8> {
    value.to_string_lossy().into_owned().into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_that_is_not_set_is_bad_input() {
        for name in ["HOOKMITT_TEST_NOT_SET", "", "A=B"] {
            assert_eq!(secret_of_variable(name).unwrap_err().exit(), Exit::BadInput, "{name}");
        }
        assert!(!secret_of_variable("PATH").unwrap().is_empty());
    }
}
