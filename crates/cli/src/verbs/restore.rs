//! `hookmitt restore`: replaces the inbox with a backup. It works on the files themselves, so nothing else may use them.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use hookmitt_api::{Checked, Paused, Restoring, StartError};
use hookmitt_clock::{Clock, MachineClock};
use hookmitt_event::{Plain, Timestamp, counted};
use serde_json::json;

use super::doctor;
use crate::{
    agreed::is_sure,
    failure::{CliError, Exit},
    shown,
    terminal::{ODD, Screen, Styled},
};

/// What `restore` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The backup
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Don't ask before an inbox with events is replaced
    #[arg(long)]
    yes: bool,
}

/// Checks the backup, takes it as the inbox, and says what is needed afterwards.
pub(crate) async fn run(args: &Args, data_dir: &Path, screen: &Screen) -> Result<Exit, CliError> {
    let (directory, file) = (data_dir.to_owned(), args.file.clone());
    screen.progress("checking the backup");
    let begun = tokio::task::spawn_blocking(move || {
        let clock: Arc<dyn Clock> = Arc::new(MachineClock);
        Restoring::begin(&directory, &file, &clock)
    });
    let restoring = begun.await.map_err(|error| CliError::Answer(error.to_string()))?;
    screen.progress("");
    let restoring = restoring.map_err(StartError::from)?;
    if !(args.yes || restoring.present == Some(0)) {
        let sure = is_replaceable(restoring.present, screen).await;
        if !matches!(sure, Ok(true)) {
            restoring.leave().map_err(StartError::from)?;
            return sure.map(|_| Exit::No);
        }
    }
    let (checked, paused) = (restoring.checked, restoring.paused.clone());
    let made_at = restoring.note.as_ref().map(|note| note.made_at);
    let kept = restoring.take().map_err(StartError::from)?;
    Restored { checked, paused, made_at, kept }.tell(screen)?;
    doctor::needs(data_dir, screen).await
}

/// Asks whether the inbox with so many events may be replaced; `None` if it is damaged.
async fn is_replaceable(present: Option<u64>, screen: &Screen) -> Result<bool, CliError> {
    let there = present.map_or_else(
        || "the inbox that is there is damaged".to_owned(),
        |events| format!("the inbox that is there has {}", counted(events, "event")),
    );
    let hint = "--yes replaces it; it is kept beside the new one";
    is_sure(&there, "Replace it? It is kept beside the new one.", hint, screen).await
}

/// What was restored.
struct Restored {
    checked: Checked,
    paused: Vec<Paused>,
    made_at: Option<Timestamp>,
    kept: Option<PathBuf>,
}

impl Restored {
    fn tell(&self, screen: &Screen) -> Result<(), CliError> {
        let Self { checked, paused, made_at, kept } = self;
        if screen.json {
            let paused = paused.iter().map(
                |Paused { target, url, waiting }| json!({ "target": target, "url": url, "waiting": waiting }),
            );
            return screen.print_json(&json!({
                "events": checked.events,
                "without_body": checked.without_body,
                "bytes": checked.bytes,
                "made_at": made_at,
                "kept": kept,
                "paused": paused.collect::<Vec<_>>(),
            }));
        }
        let when = made_at.map_or_else(String::new, |at| format!(", backed up at {at}"));
        let size = shown::size(checked.bytes);
        screen.note(format_args!("restored {}, {size}{when}", counted(checked.events, "event")));
        if checked.without_body > 0 {
            let lost = counted(checked.without_body, "event");
            let note = Styled(ODD, "note:");
            screen.note(format_args!(
                "{note} the inbox was damaged before the backup: {lost} have lost their body"
            ));
        }
        if let Some(kept) = kept {
            screen.note(format_args!("the inbox before it is kept: {}", Plain(&kept.to_string_lossy())));
        }
        for Paused { target, url, waiting } in paused {
            let url = Plain(url);
            screen.note(format_args!(
                "{} target {target} ({url}) is paused: what waited in the backup ({waiting}) may have been sent since; \
                 `hookmitt target resume {target}` sends it",
                Styled(ODD, "note:"),
            ));
        }
        Ok(())
    }
}
