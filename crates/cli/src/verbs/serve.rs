//! `hookmitt serve`: catches, stores, judges and delivers, without a window.

use std::path::{Path, PathBuf};

use hookmitt_event::Timestamp;
use http::Method;
use jiff::tz::TimeZone;

use crate::{
    client::Address,
    failure::{CliError, Exit},
    live::{Live, News},
    moment::Span,
    seat::Seat,
    stop::Stop,
    tail::Tail,
    terminal::{FAINT, Screen, Styled},
    verbs::events::newest,
};

/// Where to serve.
#[derive(Debug, clap::Args)]
pub(crate) struct Flags {
    /// The address of the capture port, for senders that are not on this machine (containers)
    #[arg(long, value_name = "H")]
    pub(crate) host: Option<String>,
    /// The capture port; 0 takes any that is free
    #[arg(long, value_name = "PORT", default_value_t = 4400)]
    pub(crate) port: u16,
    /// The API's port; 0 takes any that is free
    #[arg(long, value_name = "PORT", default_value_t = 4401)]
    pub(crate) api_port: u16,
    /// The file with the API's token, made where there is none; else HOOKMITT_TOKEN, else the data directory's
    #[arg(long, value_name = "F")]
    pub(crate) token_file: Option<PathBuf>,
    /// How long a sender waits for your server's answer, where its source has `--respond app`
    #[arg(long, value_name = "D", default_value = "2500ms")]
    pub(crate) hold: Span,
    /// Don't open the browser
    #[arg(long)]
    pub(crate) no_open: bool,
}

/// What `serve` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    flags: Flags,
}

/// Serves until it is told to end; then finishes what is in flight.
pub(crate) async fn run(args: &Args, data_dir: &Path, screen: &Screen) -> Result<Exit, CliError> {
    let mut stop = Stop::watch().map_err(CliError::signals)?;
    let seat = Seat::host(&args.flags, data_dir).await?;
    seat.announce(data_dir, screen);
    if !args.flags.no_open && screen.has_desktop() {
        seat.open_page(screen);
    }
    if let Some(url) = seat.capture_url() {
        screen.note(format_args!("  try      curl -d '{{\"hello\":\"mitt\"}}' {url}/demo"));
    }
    let ended = watch(&seat, &mut stop, screen).await;
    screen.note(Styled(FAINT, "finishing what is in flight; Ctrl-C again ends at once"));
    seat.leave(&mut stop).await;
    match ended {
        Err(CliError::ClosedPipe) | Ok(()) => Ok(Exit::Success),
        Err(error) => Err(error),
    }
}

/// Logs a line for each stored event and each attempt: for people on standard error, as JSON on standard output.
async fn watch(seat: &Seat, stop: &mut Stop, screen: &Screen) -> Result<(), CliError> {
    let seen = newest(&seat.client).await?;
    let address =
        Address::new(["live"]).with("after", Some(seen.to_string())).with("brief", Some("true".to_owned()));
    let mut live = seat.client.stream(Method::GET, &address, None).await?;
    let mut tail = Tail::new(TimeZone::system(), seen);
    loop {
        tokio::select! {
            () = stop.asked() => return Ok(()),
            more = log_next(&mut live, &mut tail, screen) => {
                if !more? {
                    stop.asked().await;
                    return Ok(());
                }
            }
        }
    }
}

async fn log_next(live: &mut Live, tail: &mut Tail, screen: &Screen) -> Result<bool, CliError> {
    let Some(message) = live.next().await else { return Ok(false) };
    if screen.json {
        screen.print_json(&message)?;
    } else if let Some(line) = tail.line(&message.read().unwrap_or(News::Other), Timestamp::now()) {
        screen.note(line);
    }
    Ok(true)
}
