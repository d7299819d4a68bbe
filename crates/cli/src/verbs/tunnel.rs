//! `hookmitt tunnel`: adds, shares, shows and removes tunnels.

use hookmitt_event::{Plain, Slug, Timestamp};
use http::Method;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    client::{Address, Client},
    failure::{CliError, Exit},
    terminal::{FAINT, ODD, Screen, Styled},
    tunnel_view::{Tunnel, line, lines},
    typed_in,
    verbs::{
        announce::announced,
        tunnel_add::{self, all, one},
        tunnel_devices,
    },
};

/// What is done with tunnels.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Verb {
    /// Open a tunnel at a relay, listen to a channel or start a program; prints the public URL
    ///
    /// A relay's token is read from standard input. A relay of your own keeps what arrives while nobody is connected, and
    /// passes on the signed bytes; a smee channel rewrites JSON, so signatures can't verify, and neither it nor
    /// cloudflared or ngrok keeps anything.
    Add(tunnel_add::Args),
    /// Invite a teammate's device; prints an invitation that works once. Keep it secret
    Invite {
        /// The tunnel
        name: String,
    },
    /// Join a teammate's tunnel; reads the invitation from standard input, prints the public URL
    Join {
        /// Its name here; by default its name at the relay
        #[arg(long, value_name = "L")]
        label: Option<String>,
        /// A source that it serves here; repeatable; by default all
        #[arg(long, value_name = "S")]
        source: Vec<Slug>,
    },
    /// Change the sources that a relay serves, or the tunnel's name
    Edit {
        /// The tunnel
        name: String,
        #[command(flatten)]
        change: Change,
    },
    /// List all tunnels
    List,
    /// Show a tunnel's state; without a name, that of all tunnels
    Status {
        /// The tunnel
        name: Option<String>,
    },
    /// List the devices of a tunnel
    Devices {
        /// The tunnel
        name: String,
    },
    /// Revoke a device of a tunnel that was added here; what arrives from then on is sealed with a new key
    Revoke {
        /// The tunnel
        name: String,
        /// The device's name, or its id as `hookmitt tunnel devices` shows it
        device: String,
    },
    /// Remove a tunnel with its keys; its events stay
    Remove {
        /// The tunnel
        name: String,
    },
}

/// What is changed of a tunnel.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = true)]
pub(crate) struct Change {
    /// A source that it serves; those not named are no longer served; repeatable
    #[arg(long, value_name = "S", conflicts_with = "all_sources")]
    source: Vec<Slug>,
    /// Serve every source, including those you add later
    #[arg(long)]
    all_sources: bool,
    /// Its name here
    #[arg(long, value_name = "L")]
    label: Option<String>,
}

#[derive(Deserialize, Serialize)]
struct Invitation {
    invite: String,
    until: Timestamp,
}

#[derive(Deserialize, Serialize)]
struct Removed {
    relay_told: Option<bool>,
}

/// Runs the command.
pub(crate) async fn run(verb: &Verb, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    match verb {
        Verb::Add(args) => tunnel_add::run(args, client, screen).await?,
        Verb::Join { label, source } => {
            let invite = typed_in::line("the invitation", screen).await?.ok_or_else(|| {
                let hint = "pipe in what `hookmitt tunnel invite` printed";
                CliError::bad_input_with("invite-empty", "there is no invitation on standard input", hint)
            })?;
            let order = json!({ "invite": invite, "label": label, "sources": source });
            let joined = client.send(Method::POST, &all(), &order).await?;
            tunnel_add::added(joined, client, screen).await?;
        }
        Verb::Invite { name } => invite(&find(name, client).await?, client, screen).await?,
        Verb::Edit { name, change } => edit(&find(name, client).await?, change, client, screen).await?,
        Verb::List => list(&client.all(&all()).await?, screen, line)?,
        Verb::Status { name } => status(name.as_deref(), client, screen).await?,
        Verb::Devices { name } => tunnel_devices::list(&find(name, client).await?, client, screen).await?,
        Verb::Revoke { name, device } => {
            tunnel_devices::revoke(&find(name, client).await?, device, client, screen).await?;
        }
        Verb::Remove { name } => {
            let tunnel = find(name, client).await?;
            let removed: Removed = client.send(Method::DELETE, &one(&tunnel), &Value::Null).await?;
            if screen.json {
                screen.print_json(&removed)?;
            }
            let label = Plain(&tunnel.label);
            let keys = if removed.relay_told.is_some() { " with its keys" } else { "" };
            screen.note(Styled(FAINT, format!("removed the tunnel {label}{keys}; its events stay")));
            if removed.relay_told == Some(false) {
                let note = format!(
                    "{} could not be told: it keeps storing and acknowledging events until it forgets this device \
                     in 30 days; remove its URL from your providers' settings",
                    Plain(&tunnel.host)
                );
                screen.note(Styled(ODD, note));
            }
        }
    }
    Ok(Exit::Success)
}

/// Returns the tunnel that a text names: by its name here, its name at the relay, or its number.
async fn find(name: &str, client: &Client) -> Result<Tunnel, CliError> {
    let tunnels: Vec<Tunnel> = client.all(&all()).await?;
    let is_it = |tunnel: &&Tunnel| {
        tunnel.label == name || tunnel.tunnel.as_deref() == Some(name) || tunnel.id.to_string() == name
    };
    let found: Vec<_> = tunnels.iter().filter(is_it).collect();
    match found.as_slice() {
        [tunnel] => Ok((*tunnel).clone()),
        [] => {
            let hint = "`hookmitt tunnel list` shows them";
            Err(CliError::bad_input_with("unknown-tunnel", format!("no tunnel {name:?}"), hint))
        }
        many => {
            let hint = format!(
                "use one of the numbers {}",
                many.iter().map(|tunnel| tunnel.id.to_string()).collect::<Vec<_>>().join(", ")
            );
            Err(CliError::bad_input_with(
                "ambiguous-tunnel",
                format!("several tunnels are called {name:?}"),
                hint,
            ))
        }
    }
}

async fn invite(tunnel: &Tunnel, client: &Client, screen: &Screen) -> Result<(), CliError> {
    let address = Address::new(["tunnels", &tunnel.id.to_string(), "invite"]);
    let invitation: Invitation = client.send(Method::POST, &address, &Value::Null).await?;
    if screen.json {
        return screen.print_json(&invitation);
    }
    screen.print(Plain(&invitation.invite))?;
    let note = format!(
        "it works once, until {}; share it only with people you trust: whoever has it can read what comes through \
         the tunnel",
        invitation.until
    );
    screen.note(Styled(FAINT, note));
    Ok(())
}

async fn edit(tunnel: &Tunnel, change: &Change, client: &Client, screen: &Screen) -> Result<(), CliError> {
    let chosen = (change.all_sources || !change.source.is_empty()).then_some(&change.source);
    let order = json!({ "sources": chosen, "label": change.label });
    let tunnel: Tunnel = client.send(Method::PATCH, &one(tunnel), &order).await?;
    if chosen.is_some() && tunnel.kind == "relay" {
        announced(None, client, screen).await?;
    }
    list(&[tunnel], screen, |tunnel, zone| lines(tunnel, zone).join("\n"))
}

fn list(
    tunnels: &[Tunnel],
    screen: &Screen,
    shown: impl Fn(&Tunnel, &TimeZone) -> String,
) -> Result<(), CliError> {
    let zone = TimeZone::system();
    for tunnel in tunnels {
        if screen.json { screen.print_json(tunnel)? } else { screen.print(shown(tunnel, &zone))? }
    }
    if tunnels.is_empty() && !screen.json {
        screen.note(Styled(FAINT, "no tunnels yet: run `hookmitt tunnel add RELAY_URL`"));
    }
    Ok(())
}

async fn status(name: Option<&str>, client: &Client, screen: &Screen) -> Result<(), CliError> {
    let tunnels = match name {
        Some(name) => vec![find(name, client).await?],
        None => client.all(&all()).await?,
    };
    list(&tunnels, screen, |tunnel, zone| lines(tunnel, zone).join("\n"))?;
    if let Some(step) = next_step(&tunnels, client).await?.filter(|_| !screen.json) {
        screen.note(Styled(FAINT, step));
    }
    Ok(())
}

/// Says what a newcomer does next: until the first event has come through the first relay's tunnel.
async fn next_step(tunnels: &[Tunnel], client: &Client) -> Result<Option<String>, CliError> {
    let relay = tunnels.iter().find(|tunnel| tunnel.kind == "relay" && !tunnel.has_brought_events());
    let Some(tunnel) = relay else { return Ok(None) };
    if !client.is_attached() {
        return Ok(Some(
            "next: `hookmitt serve` connects it; what comes until then waits at the relay".to_owned(),
        ));
    }
    let sources: Vec<Value> = client.all(&Address::new(["sources"])).await?;
    let served = |source: &&Value| {
        let slug = source["slug"].as_str().unwrap_or_default();
        tunnel.sources.is_empty() || tunnel.sources.iter().any(|one| one == slug)
    };
    let Some(source) = sources.iter().find(served) else {
        return Ok(Some("next: `hookmitt source add github`, or whoever calls you".to_owned()));
    };
    let slug = source["slug"].as_str().unwrap_or_default();
    let provider = source["provider"].as_str().unwrap_or("github");
    let url = format!("{}/{slug}", tunnel.public_url.as_deref().unwrap_or_default());
    Ok(Some(format!(
        "next: give {0} to the provider, or try it: `hookmitt send {1} --to {0}`",
        Plain(&url),
        Plain(provider)
    )))
}
