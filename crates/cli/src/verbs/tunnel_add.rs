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
    verbs::announce::announced,
};

/// The environment variable that may hold a relay's token; without it the token is asked for.
const TOKEN: &str = "HOOKMITT_RELAY_TOKEN";

/// How long a program may take to report its public URL, and how often we check.
const NAMED: (Duration, Duration) = (Duration::from_secs(35), Duration::from_millis(200));

/// How long a relay on this machine may take to start, and how often we try.
const STARTING: (Duration, Duration) = (Duration::from_secs(3), Duration::from_millis(100));

/// What `tunnel add` takes.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(crate) struct Args {
    #[command(flatten)]
    way: Way,
    /// A source that it serves: exactly one for a channel or a program; for a relay repeatable, by default all
    #[arg(long, value_name = "S")]
    source: Vec<Slug>,
    /// Its name at the relay; by default an unguessable one
    #[arg(long, value_name = "N", requires = "relay")]
    name: Option<String>,
    /// Its name here; by default its name at the relay, or the program and the source
    #[arg(long, value_name = "L")]
    label: Option<String>,
}

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct Way {
    /// The relay's URL
    #[arg(value_name = "RELAY_URL")]
    relay: Option<String>,
    /// Listen to a smee.io-style channel instead: it rewrites JSON, so signatures can't verify, and stores nothing
    #[arg(long, value_name = "URL", requires = "source")]
    smee: Option<String>,
    /// Start the installed cloudflared instead: the URL changes on every start, and it stores nothing
    #[arg(long, requires = "source")]
    cloudflared: bool,
    /// Start the installed ngrok instead: it needs an account, and stores nothing
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
            let hint = "use --source once; only a relay's tunnel serves several";
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
    let order = args.order(screen).await?;
    let tunnel = match &args.way.relay {
        Some(relay) if is_local(relay) => opened_soon(&order, client).await?,
        _ => client.send(Method::POST, &all(), &order).await?,
    };
    added(tunnel, client, screen).await
}

/// Whether a relay's URL names this machine.
fn is_local(relay: &str) -> bool {
    let url = relay_url(relay).ok();
    match url.as_ref().and_then(url::Url::host) {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Opens a tunnel at a relay on this machine. One that was started just before may need a moment until it listens.
async fn opened_soon(order: &Value, client: &Client) -> Result<Tunnel, CliError> {
    let patience = tokio::time::Instant::now() + STARTING.0;
    loop {
        match client.send(Method::POST, &all(), order).await {
            Err(CliError::Problem(problem))
                if problem.code == "relay-unreachable" && tokio::time::Instant::now() < patience =>
            {
                tokio::time::sleep(STARTING.1).await;
            }
            opened => return opened,
        }
    }
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
        screen.print_json(&tunnel)?;
        return if limits.is_none() { announced(None, client, screen).await } else { Ok(()) };
    }
    if let Some(url) = &tunnel.public_url {
        screen.print(Plain(url))?;
    }
    match (limits, client.is_attached()) {
        (None, attached) => {
            screen.note(Styled(FAINT, "providers post to that URL, with / and a source's name after it"));
            screen.note(Styled(FAINT, told(&tunnel)));
            announced(None, client, screen).await?;
            if !attached {
                let note = "events wait at the relay until you start hookmitt: `hookmitt serve`";
                screen.note(Styled(FAINT, note));
            }
        }
        (Some(limits), attached) => {
            screen.note(Styled(FAINT, limits));
            if !attached {
                let note = format!("{} starts when hookmitt runs: `hookmitt serve`", Plain(&tunnel.label));
                screen.note(Styled(FAINT, note));
            }
        }
    }
    match &tunnel.error {
        Some(_) if tunnel.public_url.is_none() => Err(no_public_url(&tunnel)),
        _ => Ok(()),
    }
}

/// Returns the error for a tunnel that has no public URL.
pub(super) fn no_public_url(tunnel: &Tunnel) -> CliError {
    let error = tunnel.error.as_ref();
    let why = error.map_or("it didn't answer in time", |error| error.message.as_str());
    CliError::Unreached {
        code: "no-public-url",
        message: format!("{} is added, but has no public URL yet: {why}", tunnel.label),
        hint: error.and_then(|error| error.hint.clone()),
    }
}

/// Says of which sources the relay is told.
fn told(tunnel: &Tunnel) -> String {
    if tunnel.sources.is_empty() {
        let name = Plain(&tunnel.label);
        return format!(
            "the relay serves every source, including those you add later; `hookmitt tunnel edit {name} --source S` \
             limits it to one"
        );
    }
    format!("the relay serves only {}", Plain(&tunnel.sources.join(", ")))
}

/// Waits until the tunnel's public URL is known, or until it is clear why there is none. After the time in [`NAMED`],
/// returns the tunnel as it was given.
pub(super) async fn named(tunnel: Tunnel, client: &Client) -> Result<Tunnel, CliError> {
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
        let hint = format!("pipe in what `hookmitt relay token create` printed, or set {TOKEN}");
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
