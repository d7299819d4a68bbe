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
        tunnel_add::{self, all, one},
        tunnel_devices,
    },
};

/// What is done with tunnels.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Verb {
    /// Open a tunnel at a relay, listen to a channel, or start a program; prints the public URL
    ///
    /// A relay's token is read from standard input. A relay of your own keeps what comes while nobody is connected, and
    /// passes on what was signed; a smee channel rewrites JSON, so signatures can't verify, and neither it nor
    /// cloudflared or ngrok keeps anything.
    Add(tunnel_add::Args),
    /// Let a teammate's device take part; prints an invitation that works once. It is a secret
    Invite {
        /// The tunnel
        name: String,
    },
    /// Take part in a teammate's tunnel; reads the invitation from standard input, prints the public URL
    Join {
        /// What to call it here; its name at the relay without
        #[arg(long, value_name = "L")]
        label: Option<String>,
        /// A source that it serves here; may be given several times; all without
        #[arg(long, value_name = "S")]
        source: Vec<Slug>,
    },
    /// Choose the sources that a relay is told of, or what the tunnel is called
    Edit {
        /// The tunnel
        name: String,
        #[command(flatten)]
        change: Change,
    },
    /// List all tunnels
    List,
    /// Say how a tunnel is; all of them without a name
    Status {
        /// The tunnel
        name: Option<String>,
    },
    /// List the devices that take part in a tunnel
    Devices {
        /// The tunnel
        name: String,
    },
    /// Turn a device out of a tunnel that was added here; what comes from then on is sealed by a new key
    Revoke {
        /// The tunnel
        name: String,
        /// The device: what it is called, or its id as `hookmitt tunnel devices` shows it
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
    /// A source that it serves, and no others that aren't named; may be given several times
    #[arg(long, value_name = "S", conflicts_with = "all_sources")]
    source: Vec<Slug>,
    /// It serves every source, also those to come
    #[arg(long)]
    all_sources: bool,
    /// What to call it here
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
                let hint = "pipe it in as `hookmitt tunnel invite` printed it";
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
            screen.note(Styled(FAINT, format!("the tunnel {label} is removed{keys}; its events stay")));
            if removed.relay_told == Some(false) {
                let note = format!(
                    "{} could not be told: it stores what comes and thanks for it until it forgets this device, in 30 days; \
                     take its URL out of your providers' settings",
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
                "give one of the numbers {}",
                many.iter().map(|tunnel| tunnel.id.to_string()).collect::<Vec<_>>().join(", ")
            );
            Err(CliError::bad_input_with("ambiguous-tunnel", format!("{name:?} are several tunnels"), hint))
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
        "it works once, until {}; whoever has it can read what comes through the tunnel",
        invitation.until
    );
    screen.note(Styled(FAINT, note));
    Ok(())
}

async fn edit(tunnel: &Tunnel, change: &Change, client: &Client, screen: &Screen) -> Result<(), CliError> {
    let chosen = (change.all_sources || !change.source.is_empty()).then_some(&change.source);
    let order = json!({ "sources": chosen, "label": change.label });
    let tunnel: Tunnel = client.send(Method::PATCH, &one(tunnel), &order).await?;
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
        screen.note(Styled(FAINT, "no tunnels yet: `hookmitt tunnel add RELAY_URL`"));
    }
    Ok(())
}

async fn status(name: Option<&str>, client: &Client, screen: &Screen) -> Result<(), CliError> {
    let tunnels = match name {
        Some(name) => vec![find(name, client).await?],
        None => client.all(&all()).await?,
    };
    list(&tunnels, screen, |tunnel, zone| lines(tunnel, zone).join("\n"))
}
