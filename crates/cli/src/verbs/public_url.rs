//! `listen --public`: a public URL by whatever there is, shown so that it is found at a glance.

use std::path::Path;

use hookmitt_event::{Plain, Slug};
use http::Method;
use qrcode::{QrCode, render::unicode::Dense1x2};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{
    agreed::agreed,
    client::{Address, Client},
    failure::CliError,
    terminal::{FAINT, ODD, STRONG, Screen, Styled},
    tunnel_view::{Tunnel, limits},
    verbs::{announce::announced, tunnel_add},
};

/// The source that gets the public URL unless one is named.
const SOURCE: &str = "hooks";

/// How a public URL is wanted.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
pub(crate) struct Flags {
    /// Get a public URL: from the relay that is set up, else cloudflared or ngrok if installed, else a smee channel
    #[arg(long)]
    pub(crate) public: bool,
    /// Accept a smee channel if there is nothing better: anyone who knows its URL can read what is sent there, signatures can't verify, and what is sent while hookmitt isn't listening is lost
    #[arg(long, requires = "public")]
    channel: bool,
    /// The server that creates the channel
    #[arg(long, value_name = "URL", requires = "public", default_value = "https://smee.io")]
    channel_server: String,
    /// Also print the public URL as a QR code
    #[arg(long, requires = "public")]
    qr: bool,
}

/// The tunnel that this command switched on, if it did, to be switched off at its end.
#[derive(Default)]
pub(crate) struct Opened(Option<Tunnel>);

impl Opened {
    /// Switches the tunnel off. The next `--public` uses it again.
    pub(crate) async fn close(&mut self, client: &Client, screen: &Screen) {
        let Some(tunnel) = self.0.take() else { return };
        let change = json!({ "enabled": false });
        let closed: Result<Value, _> = client.send(Method::PATCH, &tunnel_add::one(&tunnel), &change).await;
        if let Err(error) = closed {
            let (label, why) = (Plain(&tunnel.label), error.to_string());
            screen.note(Styled(ODD, format!("{label} could not be switched off: {}", Plain(&why))));
        }
    }

    /// Switches the tunnel off where the hookmitt that was asked to open it has ended.
    pub(crate) async fn close_later(&mut self, data_dir: &Path, screen: &Screen) {
        if self.0.is_none() {
            return;
        }
        match Client::open(data_dir).await {
            Ok(client) => {
                self.close(&client, screen).await;
                client.close().await;
            }
            Err(error) => screen.note(Styled(ODD, Plain(&error.to_string()).to_string())),
        }
    }
}

impl Flags {
    /// Gets the public URL and prints it. What it switches on stands in `opened` from the moment on at which it is on,
    /// whatever becomes of the rest. Once `ending` is cancelled, it waits for nothing but an answer that is under way.
    pub(crate) async fn open(
        &self,
        source: Option<&Slug>,
        (client, screen): (&Client, &Screen),
        ending: &CancellationToken,
        opened: &mut Opened,
    ) -> Result<(), CliError> {
        let source = match source {
            Some(source) => source.to_string(),
            None => made(client).await?,
        };
        let before: Vec<Tunnel> = client.all(&tunnel_add::all()).await?;
        let Some(tunnel) = self.ask(&source, client, screen, ending).await? else { return Ok(()) };
        if !before.iter().any(|one| one.id == tunnel.id && one.state != "off") {
            opened.0 = Some(tunnel.clone());
        }
        let is_relay = limits(&tunnel.kind).is_none();
        let tunnel = tokio::select! {
            () = ending.cancelled() => return Ok(()),
            tunnel = async { if is_relay { Ok(tunnel) } else { tunnel_add::named(tunnel, client).await } } => tunnel?,
        };
        let url = tunnel.public_url.as_ref().ok_or_else(|| tunnel_add::no_public_url(&tunnel))?;
        let url = if is_relay { format!("{}/{source}", url.trim_end_matches('/')) } else { url.clone() };
        if is_relay {
            announced(None, client, screen).await?;
        }
        self.show(&url, limits(&tunnel.kind), screen);
        Ok(())
    }

    /// Asks for the URL; if only a channel is left, asks the user once whether it will do. Returns `None` if the command
    /// ends meanwhile.
    async fn ask(
        &self,
        source: &str,
        client: &Client,
        screen: &Screen,
        ending: &CancellationToken,
    ) -> Result<Option<Tunnel>, CliError> {
        let address = Address::new(["tunnels", "public"]);
        let order = |channel: bool| json!({ "source": source, "channel": channel, "channel_server": self.channel_server });
        match client.send(Method::POST, &address, &order(self.channel)).await {
            Err(CliError::Problem(problem)) if problem.code == "only-a-channel" => {
                let question = format!("{}.\nUse it?", Plain(&problem.detail));
                let agreed = tokio::select! {
                    () = ending.cancelled() => return Ok(None),
                    agreed = agreed(&question, screen) => agreed?,
                };
                if agreed {
                    return client.send(Method::POST, &address, &order(true)).await.map(Some);
                }
                let hint = "set up a relay (docs/relay.md), install cloudflared, or accept the channel with \
                            --channel";
                Err(CliError::Unreached {
                    code: "only-a-channel",
                    message: problem.detail,
                    hint: Some(hint.to_owned()),
                })
            }
            asked => asked.map(Some),
        }
    }

    fn show(&self, url: &str, limits: Option<&str>, screen: &Screen) {
        screen.note(format_args!("\n  {}\n", Styled(STRONG, Plain(url))));
        if let Some(limits) = limits {
            screen.note(Styled(FAINT, format!("  {limits}")));
        }
        if self.qr {
            screen.note(qr(url));
        }
    }
}

/// Makes the usual source, if there is none yet, and returns its name.
async fn made(client: &Client) -> Result<String, CliError> {
    let order = json!({ "slug": SOURCE });
    let made: Result<Value, _> = client.send(Method::POST, &Address::new(["sources"]), &order).await;
    match made {
        Err(error) if error.code() != "source-exists" => Err(error),
        _ => Ok(SOURCE.to_owned()),
    }
}

/// Returns the code in half blocks, dark on light, so that a phone reads it on any terminal.
fn qr(url: &str) -> String {
    match QrCode::new(url) {
        Ok(code) => code.render::<Dense1x2>().dark_color(Dense1x2::Dark).light_color(Dense1x2::Light).build(),
        Err(_) => format!("the URL is too long for a QR code: {}", Plain(url)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_fits_into_a_code_of_square_form() {
        let code = qr("https://abc-def-ghi.trycloudflare.com/hooks");
        let widths: Vec<_> = code.lines().map(|line| line.chars().count()).collect();
        assert!(
            widths.len() > 10 && widths.iter().all(|width| width.abs_diff(2 * widths.len()) <= 1),
            "{code}"
        );
        assert!(qr(&"x".repeat(9_000)).starts_with("the URL is too long"));
    }
}
