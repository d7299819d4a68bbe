//! `hookmitt send`: a genuinely signed sample event.

use std::path::PathBuf;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hookmitt_api::looks_like_variable;
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
        let message = "that can't name an environment variable".to_owned();
        return Err(wrong(message, "give its name, not its value"));
    }
    match std::env::var_os(name) {
        None if !looks_like_variable(name) => {
            let message = "there is no environment variable of that name".to_owned();
            Err(wrong(message, "give its name, such as STRIPE_SECRET, and not its value"))
        }
        None => {
            let message = format!("the environment variable {} is not set", Plain(name));
            Err(wrong(message, "set it to the secret and export it"))
        }
        Some(value) if value.is_empty() => {
            let message = format!("the environment variable {} is empty", Plain(name));
            Err(wrong(message, "set it to the secret"))
        }
        Some(value) => Ok(bytes_of(value)),
    }
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

    #[test]
    fn promise_7_a_secret_given_instead_of_its_variable_is_not_repeated() {
        for secret in
            ["whsec_Planted", "planted", "8f14e45fceea167a5a36dedd4bea2543planted", "sk=planted", "PLANTED+"]
        {
            let error = secret_of_variable(secret).unwrap_err();
            let said = format!("{error} {:?}", error.hint()).to_lowercase();
            assert!(!said.contains("planted") && said.contains("name, "), "{said}");
        }
        let named = secret_of_variable("HOOKMITT_TEST_NOT_SET").unwrap_err();
        assert!(named.to_string().contains("HOOKMITT_TEST_NOT_SET"));
    }
}
