//! `hookmitt serve`: catches, stores, judges and delivers, without a window.

use std::path::Path;

use hookmitt_event::Timestamp;
use http::Method;
use jiff::tz::TimeZone;

use crate::{
    client::Address,
    failure::{CliError, Exit},
    line_log::LineLog,
    live::News,
    seat::{Flags, Seat},
    stop::Stop,
    tail::Tail,
    target_view,
    terminal::{BAD, FAINT, Screen, Styled},
    verbs::events::newest,
};

/// What `serve` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    flags: Flags,
}

/// Serves until the command is told to end, and then finishes what is in flight.
pub(crate) async fn run(args: &Args, data_dir: &Path, screen: &Screen) -> Result<Exit, CliError> {
    let mut stop = Stop::watch().map_err(CliError::signals)?;
    let seat = Seat::host(&args.flags, data_dir).await?;
    seat.announce(data_dir, screen);
    if screen.json {
        seat.print_ready(data_dir, screen)?;
    }
    if !args.flags.no_open && screen.has_desktop() {
        seat.open_page(screen);
    }
    if let Some(url) = seat.capture_url() {
        screen.note(format_args!("  try      curl -d '{{\"hello\":\"mitt\"}}' {url}/demo"));
    }
    // Without them everything else is said all the same.
    let _unread = target_view::note_silent(None, &seat.client, screen).await;
    tokio::select! {
        () = stop.asked() => {}
        ended = watch(&seat, screen) => {
            if let Err(why) = ended && !matches!(why, CliError::ClosedPipe) {
                screen.note(Styled(BAD, format_args!("the log ends here, capturing goes on: {why}")));
            }
            stop.asked().await;
        }
    }
    screen.note(Styled(FAINT, "finishing deliveries in flight; press Ctrl-C again to stop at once"));
    seat.leave(&mut stop).await;
    Ok(Exit::Success)
}

/// Logs a line for each stored event and each attempt: as text to standard error, as JSON to standard output. A script
/// may read the first line only. It returns only if the log can't go on.
async fn watch(seat: &Seat, screen: &Screen) -> Result<(), CliError> {
    let seen = newest(&seat.client).await?;
    let address =
        Address::new(["live"]).with("after", Some(seen.to_string())).with("brief", Some("true".to_owned()));
    let mut live = seat.client.stream(Method::GET, &address, None).await?;
    let (mut tail, mut log) = (Tail::new(TimeZone::system(), seen), LineLog::default());
    while let Some(message) = live.next().await {
        if screen.json {
            log.add(screen, || screen.print_json(&message))?;
        } else if let Some(line) = tail.line(&message.read().unwrap_or(News::Other), Timestamp::now()) {
            screen.note(line);
        }
    }
    Ok(())
}
