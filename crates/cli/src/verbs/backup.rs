//! `hookmitt backup`: writes a copy of the inbox to a file, while hookmitt runs.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use hookmitt_event::Plain;
use http::Method;
use serde_json::json;

use crate::{
    client::{Address, Client},
    failure::{CliError, Exit},
    job::{self, Begun, Job},
    part::{Part, Turn},
    terminal::Screen,
};

/// What `backup` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The file to write
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
}

/// Makes the backup beside FILE, and gives it that name once it is complete and checked.
pub(crate) async fn run(args: &Args, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    let file = std::path::absolute(&args.file).map_err(|error| CliError::file(&args.file, error))?;
    if !args.force && fs::symlink_metadata(&file).is_ok() {
        return Err(there(&file));
    }
    if file.is_dir() || file.file_name().is_none() {
        return Err(CliError::bad_input("backup-folder", format!("{} is a folder", shown(&file))));
    }
    let part = begun(&file, client).await?;
    let ask = json!({ "file": part.path() });
    let Begun { job } = client.send(Method::POST, &Address::new(["backup"]), &ask).await?;
    let ended = job::follow(job, client, screen).await?;
    if ended != Exit::Success {
        return Ok(ended);
    }
    part.becomes(args.force).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => there(&file),
        _ => CliError::file(&file, error),
    })?;
    screen.note(format_args!("written to {}", shown(&file)));
    screen.note("secrets and tunnels' keys are not in it: keep those elsewhere");
    Ok(Exit::Success)
}

fn there(file: &Path) -> CliError {
    let message = format!("{} exists already", shown(file));
    CliError::bad_input_with("backup-exists", message, "name another file, or replace it with --force")
}

fn shown(path: &Path) -> String {
    Plain(&path.to_string_lossy()).to_string()
}

/// Makes the file that the backup is written into. What killed commands left behind is removed.
async fn begun(file: &Path, client: &Client) -> Result<Part, CliError> {
    let failed = |error| CliError::file(file, error);
    let runs = || CliError::bad_input("backup-runs", format!("a backup to {} is being made", shown(file)));
    let turn = Turn::take(file).map_err(failed)?.ok_or_else(runs)?;
    for left in turn.left().map_err(failed)? {
        // If no other hookmitt runs, a job that is still open belongs to one that was killed.
        if client.is_attached() && is_wanted(&left, client).await? {
            return Err(runs());
        }
        fs::remove_file(&left).map_err(|error| CliError::file(&left, error))?;
    }
    turn.part().map_err(failed)
}

/// Whether a backup is being written into a file.
async fn is_wanted(part: &Path, client: &Client) -> Result<bool, CliError> {
    for state in ["waiting", "running"] {
        let jobs: Vec<Job> = client.all(&Address::new(["jobs"]).with("state", Some(state))).await?;
        if jobs.iter().any(|job| job.asked.file.as_deref() == part.to_str()) {
            return Ok(true);
        }
    }
    Ok(false)
}
