//! `hookmitt tunnel devices` and `revoke`: the devices that take part in a tunnel.

use hookmitt_event::{Plain, Timestamp};
use http::Method;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    client::{Address, Client},
    failure::CliError,
    terminal::{FAINT, ODD, Screen, Styled},
    tunnel_view::{Tunnel, moment},
};

/// How many characters of an id are shown, which is enough to tell devices apart.
const SHOWN: usize = 16;

#[derive(Deserialize, Serialize)]
struct Device {
    id: String,
    name: String,
    since: Timestamp,
    last_seen_at: Timestamp,
    connected: bool,
    owner: bool,
    this: bool,
}

#[derive(Deserialize, Serialize)]
struct Revoked {
    revoked: Device,
    without_key: Vec<Device>,
}

/// Lists the devices, oldest first.
pub(super) async fn list(tunnel: &Tunnel, client: &Client, screen: &Screen) -> Result<(), CliError> {
    let address = Address::new(["tunnels", &tunnel.id.to_string(), "devices"]);
    let devices: Vec<Device> = client.all(&address).await?;
    let zone = TimeZone::system();
    for device in &devices {
        if screen.json { screen.print_json(device)? } else { screen.print(line(device, &zone))? }
    }
    Ok(())
}

/// Revokes a device.
pub(super) async fn revoke(
    tunnel: &Tunnel,
    device: &str,
    client: &Client,
    screen: &Screen,
) -> Result<(), CliError> {
    let address = Address::new(["tunnels", &tunnel.id.to_string(), "devices", device]);
    let revoked: Revoked = client.send(Method::DELETE, &address, &Value::Null).await?;
    if screen.json {
        screen.print_json(&revoked)?;
    }
    let (label, name) = (Plain(&tunnel.label), Plain(&revoked.revoked.name));
    let note = format!(
        "{name} is permanently removed from {label}; events from now on are sealed with a new key. It keeps what it \
         already has: replace any provider secrets that it knew"
    );
    screen.note(Styled(FAINT, note));
    for device in &revoked.without_key {
        let note = format!(
            "{} could not get the new key, because nothing proves that it was invited (it runs an older hookmitt): \
             update hookmitt there, remove the tunnel there, and invite it again",
            Plain(&device.name)
        );
        screen.note(Styled(ODD, note));
    }
    Ok(())
}

fn line(device: &Device, zone: &TimeZone) -> String {
    let seen = if device.connected {
        "connected".to_owned()
    } else {
        format!("last seen {}", moment(device.last_seen_at, zone))
    };
    let id = device.id.get(..SHOWN).unwrap_or(&device.id);
    let mut line = format!("{id}  {}  since {}, {seen}", Plain(&device.name), moment(device.since, zone));
    if device.owner {
        line.push_str(", opened the tunnel");
    }
    if device.this {
        line.push_str(", this device");
    }
    line
}
