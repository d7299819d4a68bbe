//! `hookmitt tunnel add`: a tunnel to a relay, or one of the ways without a relay.

use std::time::Duration;

use hookmitt_event::{Plain, Slug};
use hookmitt_tunnel::relay_url;
use http::Method;
use serde_json::{Value, json};

use crate::{
    client::{Address, Client},
    failure::CliError,
    terminal::{FAINT, Screen, Styled},
    tunnel_view::{Tunnel, limits},
    typed_in,
};

/// The environment variable that may hold a relay's token; without it the token is asked for.
const TOKEN: &str = "HOOKMITT_RELAY_TOKEN";

/// How long a program may take to report its public URL, and how often we check.
const NAMED: (Duration, Duration) = (Duration::from_secs(35), Duration::from_millis(200));

/// What `tunnel add` takes.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(crate) struct Args {
    #[command(flatten)]
    way: Way,
    /// A source that it serves: of a relay any number, of a channel or a program one; a relay serves all without
    #[arg(long, value_name = "S")]
    source: Vec<Slug>,
    /// The name that is wanted at the relay; an unguessable one without
    #[arg(long, value_name = "N", requires = "relay")]
    name: Option<String>,
    /// What to call it here; its name at the relay, or what makes it and its source, without
    #[arg(long, value_name = "L")]
    label: Option<String>,
}

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct Way {
    /// The relay's URL
    #[arg(value_name = "RELAY_URL")]
    relay: Option<String>,
    /// Listen to a smee.io-style channel instead: it rewrites JSON, so signatures can't verify, and keeps nothing
    #[arg(long, value_name = "URL", requires = "source")]
    smee: Option<String>,
    /// Start the installed cloudflared instead: another public URL after each start, and nothing is kept meanwhile
    #[arg(long, requires = "source")]
    cloudflared: bool,
    /// Start the installed ngrok instead: it needs an account, and nothing is kept while it does not run
    #[arg(long, requires = "source")]
    ngrok: bool,
}

impl Args {
    async fn order(&self, screen: &Screen) -> Result<Value, CliError> {
        let label = &self.label;
        if let Way { relay: Some(relay), .. } = &self.way {
            let token = token(relay, screen).await?;
            let sources = &self.source;
            return Ok(
                json!({ "relay": relay, "name": self.name, "label": label, "token": token, "sources": sources }),
            );
        }
        let [source] = self.source.as_slice() else {
            let hint = "give --source once; only a relay's tunnel serves several";
            return Err(CliError::bad_input_with(
                "one-source",
                "a channel or a program serves one source",
                hint,
            ));
        };
        Ok(match &self.way {
            Way { smee: Some(url), .. } => {
                json!({ "kind": "smee", "url": url, "source": source, "label": label })
            }
            Way { cloudflared, .. } => {
                let kind = if *cloudflared { "cloudflared" } else { "ngrok" };
                json!({ "kind": kind, "source": source, "label": label })
            }
        })
    }
}

/// Adds a tunnel, and prints the URL to which providers post.
pub(crate) async fn run(args: &Args, client: &Client, screen: &Screen) -> Result<(), CliError> {
    let tunnel = client.send(Method::POST, &all(), &args.order(screen).await?).await?;
    added(tunnel, client, screen).await
}

/// Prints what was added. For a program or channel, first waits for the public URL if a hookmitt runs.
///
/// # Errors
/// Fails if there is no public URL because of an error.
pub(super) async fn added(tunnel: Tunnel, client: &Client, screen: &Screen) -> Result<(), CliError> {
    let limits = limits(&tunnel.kind);
    let tunnel = match limits {
        Some(_) if client.is_attached() => named(tunnel, client).await?,
        _ => tunnel,
    };
    if screen.json {
        return screen.print_json(&tunnel);
    }
    if let Some(url) = &tunnel.public_url {
        screen.print(Plain(url))?;
    }
    match (limits, client.is_attached()) {
        (None, attached) => {
            screen.note(Styled(FAINT, "providers post to that URL, with / and a source's name after it"));
            screen.note(Styled(FAINT, told(&tunnel)));
            if !attached {
                let note = "what comes waits at the relay until a hookmitt runs: `hookmitt serve`";
                screen.note(Styled(FAINT, note));
            }
        }
        (Some(limits), attached) => {
            screen.note(Styled(FAINT, limits));
            if !attached {
                let note = format!("{} begins when a hookmitt runs: `hookmitt serve`", Plain(&tunnel.label));
                screen.note(Styled(FAINT, note));
            }
        }
    }
    match &tunnel.error {
        Some(error) if tunnel.public_url.is_none() => Err(CliError::Unreached {
            code: "no-public-url",
            message: format!("{} is added, but has no public URL yet: {}", tunnel.label, error.message),
            hint: error.hint.clone(),
        }),
        _ => Ok(()),
    }
}

/// Says of which sources the relay is told.
fn told(tunnel: &Tunnel) -> String {
    if tunnel.sources.is_empty() {
        let name = Plain(&tunnel.label);
        return format!(
            "no source was chosen, so the relay is told of all, also of those to come; `hookmitt tunnel edit {name} --source S` narrows that"
        );
    }
    format!("the relay is told of {} alone", Plain(&tunnel.sources.join(", ")))
}

/// Waits until the tunnel's public URL is known, or until it is clear why there is none. After the time in [`NAMED`],
/// returns the tunnel as it was given.
async fn named(tunnel: Tunnel, client: &Client) -> Result<Tunnel, CliError> {
    let address = one(&tunnel);
    let asking = async {
        let mut seen = tunnel.clone();
        while seen.public_url.is_none() && seen.error.is_none() {
            tokio::time::sleep(NAMED.1).await;
            seen = client.get(&address).await?;
        }
        Ok(seen)
    };
    tokio::time::timeout(NAMED.0, asking).await.unwrap_or(Ok(tunnel.clone()))
}

/// Makes sure that a tunnel at the relay is on and serves this source, and returns it. Changes the tunnel that is
/// there; if there is none, opens one with the token from the environment or standard input.
pub(crate) async fn at_relay(
    relay: &str,
    source: Option<&Slug>,
    client: &Client,
    screen: &Screen,
) -> Result<Tunnel, CliError> {
    let wanted = relay_url(relay).map_err(|error| CliError::explained(&error))?;
    let tunnels: Vec<Tunnel> = client.all(&all()).await?;
    let known = tunnels.into_iter().find(|tunnel| tunnel.relay.as_deref() == Some(wanted.as_str()));
    match known {
        Some(tunnel) => {
            let mut sources = tunnel.sources.clone();
            let is_served =
                |slug: &&Slug| sources.is_empty() || sources.iter().any(|one| one == slug.as_str());
            match source.filter(|slug| !is_served(slug)) {
                None if tunnel.state != "off" => Ok(tunnel),
                missing => {
                    sources.extend(missing.map(Slug::to_string));
                    let change = json!({ "enabled": true, "sources": sources });
                    client.send(Method::PATCH, &one(&tunnel), &change).await
                }
            }
        }
        None => {
            let token = token(relay, screen).await?;
            let sources: Vec<_> = source.into_iter().collect();
            let order = json!({ "relay": relay, "token": token, "sources": sources });
            client.send(Method::POST, &all(), &order).await
        }
    }
}

/// Returns a relay's token: from the environment, else the first line of standard input.
async fn token(relay: &str, screen: &Screen) -> Result<String, CliError> {
    let given =
        std::env::var(TOKEN).ok().map(|token| token.trim().to_owned()).filter(|token| !token.is_empty());
    let token = match given {
        Some(token) => Some(token),
        None => typed_in::line(&format!("the token of {}", Plain(relay)), screen).await?,
    };
    token.ok_or_else(|| {
        let hint = format!("pipe it in as `hookmitt relay token create` printed it, or set {TOKEN}");
        CliError::bad_input_with("no-relay-token", "there is no token on standard input", hint)
    })
}

/// Returns the address of tunnels in the API.
pub(super) fn all() -> Address {
    Address::new(["tunnels"])
}

/// Returns the address of a tunnel in the API.
pub(super) fn one(tunnel: &Tunnel) -> Address {
    Address::new(["tunnels", &tunnel.id.to_string()])
}
