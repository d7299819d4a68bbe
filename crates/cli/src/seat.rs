//! Where `serve` and `listen` work: attached to a running hookmitt, or as a host in this process.

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
};

use hookmitt_api::{Host, HostOptions};
use hookmitt_event::Plain;
use serde_json::json;
use url::Url;

use crate::{
    client::Client,
    failure::CliError,
    moment::Span,
    stop::Stop,
    terminal::{FAINT, ODD, STRONG, Screen, Styled},
};

/// Where to serve.
#[derive(Debug, clap::Args)]
pub(crate) struct Flags {
    /// The address of the capture port, for senders outside this machine (containers)
    #[arg(long, value_name = "H")]
    host: Option<String>,
    /// The capture port; 0 picks a free one
    #[arg(long, value_name = "PORT", default_value_t = 4400)]
    port: u16,
    /// The API's port; 0 picks a free one
    #[arg(long, value_name = "PORT", default_value_t = 4401)]
    api_port: u16,
    /// A private address or port for metrics (Prometheus), such as 9464 or 127.0.0.1:9464
    #[arg(long, value_name = "ADDR", value_parser = address)]
    metrics: Option<SocketAddr>,
    /// The file with the API's token, created if missing; HOOKMITT_TOKEN wins, and the default is the data directory's
    #[arg(long, value_name = "F")]
    token_file: Option<PathBuf>,
    /// How long a sender waits for your server's answer if its source has `--respond app`
    #[arg(long, value_name = "D", default_value = "2500ms")]
    hold: Span,
    /// Don't open the browser
    #[arg(long)]
    pub(crate) no_open: bool,
}

/// Reads an address with its port, or a port alone, which means this machine's own address.
fn address(text: &str) -> Result<SocketAddr, String> {
    let port = text.parse().map(|port| SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port));
    port.or_else(|_| text.parse()).map_err(|_| "write a port, or an address like 127.0.0.1:9464".to_owned())
}

/// The hookmitt that serves: another process, or this one.
pub(crate) struct Seat {
    /// The API of the hookmitt that serves.
    pub(crate) client: Client,
    host: Option<Host>,
}

impl Flags {
    /// Returns the options for serving in this process.
    fn host_options(&self, data_dir: &Path) -> HostOptions {
        HostOptions {
            data_dir: PathBuf::from(data_dir),
            host: self.host.clone(),
            port: self.port,
            api_port: Some(self.api_port),
            metrics: self.metrics,
            pages: Some(hookmitt_web::router()),
            token_file: self.token_file.clone(),
            hold: Some(self.hold.0),
            ..HostOptions::default()
        }
    }
}

impl Seat {
    /// Serves in this process.
    pub(crate) async fn host(flags: &Flags, data_dir: &Path) -> Result<Self, CliError> {
        let host = Host::start(flags.host_options(data_dir)).await?;
        Ok(Self { client: Client::of(&host), host: Some(host) })
    }

    /// Attaches to the running hookmitt. If none runs, serves in this process.
    pub(crate) async fn take(flags: &Flags, data_dir: &Path) -> Result<Self, CliError> {
        let client = Client::open(data_dir).await?;
        if client.is_attached() {
            return Ok(Self { client, host: None });
        }
        client.close().await;
        Self::host(flags, data_dir).await
    }

    /// Returns whether another process serves.
    pub(crate) fn is_attached(&self) -> bool {
        self.host.is_none()
    }

    /// Prints the URLs of the capture port, the API and the UI, the data directory, and warnings, to standard error.
    /// Prints nothing if another process serves.
    pub(crate) fn announce(&self, data_dir: &Path, screen: &Screen) {
        let Some(host) = &self.host else { return };
        let line = |name: &str, value: &str| screen.note(format_args!("  {name:<8} {}", Plain(value)));
        screen.note(Styled(STRONG, "hookmitt is listening"));
        line("capture", &host.capture_urls().join("  "));
        line("API", &host.api_urls().join("  "));
        if let Some(url) = host.open_url() {
            line("UI", &url);
        }
        if !host.metrics_urls().is_empty() {
            line("metrics", &host.metrics_urls().join("  "));
        }
        line("data", &data_dir.to_string_lossy());
        for warning in host.warnings() {
            screen.note(format_args!("{} {}", Styled(ODD, "warning:"), Plain(&warning)));
        }
        if host.waits_for_another() {
            let why = "another process delivers from this data directory; this one stores events, and takes over \
                       when that one ends";
            screen.note(format_args!("{} {why}", Styled(ODD, "note:")));
        }
    }

    /// Prints one JSON object with every URL and port to standard output, as soon as events are taken: the message
    /// `ready`, in the form of the live messages that follow. Prints nothing if another process serves.
    pub(crate) fn print_ready(&self, data_dir: &Path, screen: &Screen) -> Result<(), CliError> {
        let Some(host) = &self.host else { return Ok(()) };
        let (capture, api) = (host.capture_urls(), host.api_urls());
        screen.print_json(&json!({ "ready": {
            "capture_port": port_of(&capture),
            "api_port": port_of(&api),
            "capture": capture,
            "api": api,
            "metrics": host.metrics_urls(),
            "ui": host.open_url(),
            "data_dir": data_dir.to_string_lossy(),
            "delivers": !host.waits_for_another(),
            "pid": std::process::id(),
        }}))
    }

    /// Opens the UI in the browser. The browser gets the path of a private file instead of the URL, because every user
    /// of the machine can see a program's arguments. Some browsers (snap, flatpak) can't read the file, so a note
    /// points to the URL that was printed before.
    pub(crate) fn open_page(&self, screen: &Screen) {
        let Some(host) = &self.host else { return };
        let opened = match host.open_page() {
            Ok(None) => return,
            Ok(Some(file)) => open::that_detached(file),
            Err(error) => Err(error),
        };
        let note = match opened {
            Ok(()) => "if no page opens in the browser, open the UI's URL above".to_owned(),
            Err(error) => {
                format!("the browser could not be opened: {error}; open the UI's URL above")
            }
        };
        screen.note(Styled(
            FAINT,
            format!(
                "{note}; it expires after a minute, and `hookmitt url --ui` prints a new \
                                           one"
            ),
        ));
    }

    /// Returns the first URL at which events are taken, or `None` if another process serves.
    pub(crate) fn capture_url(&self) -> Option<String> {
        self.host.as_ref().and_then(|host| host.capture_urls().into_iter().next())
    }

    /// Closes the connection, or stops serving if this process serves. Waits for what is in flight, unless Ctrl-C is
    /// pressed again.
    pub(crate) async fn leave(self, stop: &mut Stop) {
        let ending = async {
            match self.host {
                Some(host) => host.stop().await, // this stops the engine last; `close` would stop the engine first
                None => self.client.close().await,
            }
        };
        stop.finish(Box::pin(ending)).await;
    }
}

/// Returns the port of the first URL. All addresses of one server have the same port.
fn port_of(urls: &[String]) -> Option<u16> {
    urls.first().and_then(|url| Url::parse(url).ok()?.port_or_known_default())
}
