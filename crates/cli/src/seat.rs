//! Where `serve` and `listen` sit: at a hookmitt that runs already, or in this process.

use std::path::Path;

use hookmitt_event::Plain;

use crate::{
    client::{Client, Host, host_options},
    failure::CliError,
    stop::Stop,
    terminal::{FAINT, ODD, STRONG, Screen, Styled},
    verbs::serve::Flags,
};

/// The running hookmitt, or our own.
pub(crate) struct Seat {
    /// Its API.
    pub(crate) client: Client,
    host: Option<Host>,
}

impl Seat {
    /// Serves in this process.
    pub(crate) async fn host(flags: &Flags, data_dir: &Path) -> Result<Self, CliError> {
        let host = Host::start(host_options(flags, data_dir)).await?;
        Ok(Self { client: Client::of(&host), host: Some(host) })
    }

    /// Attaches to the hookmitt that runs; where none does, serves in this process.
    pub(crate) async fn take(flags: &Flags, data_dir: &Path) -> Result<Self, CliError> {
        let client = Client::open(data_dir).await?;
        if client.is_attached() {
            return Ok(Self { client, host: None });
        }
        client.close().await;
        Self::host(flags, data_dir).await
    }

    /// Whether another process serves.
    pub(crate) fn is_attached(&self) -> bool {
        self.host.is_none()
    }

    /// Says where events are taken and the API is, and what deserves a warning. Nothing where another serves.
    pub(crate) fn announce(&self, data_dir: &Path, screen: &Screen) {
        let Some(host) = &self.host else { return };
        let line = |name: &str, value: &str| screen.note(format_args!("  {name:<8} {}", Plain(value)));
        screen.note(Styled(STRONG, "hookmitt is catching"));
        line("capture", &host.capture_urls().join("  "));
        line("API", &host.api_urls().join("  "));
        if let Some(url) = host.open_url() {
            line("UI", &url);
        }
        line("data", &data_dir.to_string_lossy());
        for warning in host.warnings() {
            screen.note(format_args!("{} {}", Styled(ODD, "warning:"), Plain(&warning)));
        }
        if host.waits_for_another() {
            let why = "another process delivers from this data directory; this one stores, and takes over when it ends";
            screen.note(format_args!("{} {why}", Styled(ODD, "note:")));
        }
    }

    /// Shows the page in the browser, which is given a private file instead of the URL: everybody on the machine sees
    /// what a program is given. Some browsers can't read the file (a snap's, a flatpak's): the URL was said, too.
    pub(crate) fn open_page(&self, screen: &Screen) {
        let Some(host) = &self.host else { return };
        let opened = match host.open_page() {
            Ok(None) => return,
            Ok(Some(file)) => open::that_detached(file),
            Err(error) => Err(error),
        };
        let note = match opened {
            Ok(()) => "if the browser shows nothing, open the UI's URL above yourself".to_owned(),
            Err(error) => {
                format!("the browser could not be opened: {error}; open the UI's URL above yourself")
            }
        };
        screen.note(Styled(FAINT, format!("{note}; `hookmitt url --ui` prints a fresh one after a minute")));
    }

    /// The first URL where events are taken; none where another serves.
    pub(crate) fn capture_url(&self) -> Option<String> {
        self.host.as_ref().and_then(|host| host.capture_urls().into_iter().next())
    }

    /// Leaves; where we serve, finishes what is in flight. A second Ctrl-C doesn't wait for that.
    pub(crate) async fn leave(self, stop: &mut Stop) {
        let ending = async {
            match self.host {
                Some(host) => host.stop().await, // ends the engine last; the door would end it first
                None => self.client.close().await,
            }
        };
        stop.finish(Box::pin(ending)).await;
    }
}
