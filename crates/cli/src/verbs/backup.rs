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
pub(crate) async fn run(
    args: &Args,
    data_dir: &Path,
    client: &Client,
    screen: &Screen,
) -> Result<Exit, CliError> {
    let file = std::path::absolute(&args.file).map_err(|error| CliError::file(&args.file, error))?;
    if !args.force && fs::symlink_metadata(&file).is_ok() {
        return Err(there(&file));
    }
    if file.is_dir() || file.file_name().is_none() {
        return Err(CliError::bad_input("backup-folder", format!("{} is a folder", shown(&file))));
    }
    if is_of_inbox(&file, data_dir) {
        let message = format!("{} belongs to the inbox itself", shown(&file));
        let hint = "name a file that isn't in the data directory, best on another disk";
        return Err(CliError::bad_input_with("backup-in-data-dir", message, hint));
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

/// Whether a file is the inbox, or in the data directory, where a backup would replace what hookmitt works with.
fn is_of_inbox(file: &Path, data_dir: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    let is_in = real(data_dir)
        .is_some_and(|dir| file.parent().and_then(real).is_some_and(|folder| folder.starts_with(&dir)));
    // The inbox may be a link to a file elsewhere.
    is_in
        || real(file).is_some_and(|file| real(&data_dir.join("inbox.db")).is_some_and(|inbox| inbox == file))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backup_never_takes_the_place_of_the_inbox() {
        let folder = tempfile::tempdir().unwrap();
        let (dir, out) = (folder.path().join("data"), folder.path().join("out"));
        for made in [&dir, &out] {
            fs::create_dir(made).unwrap();
        }
        let is_refused = |file: PathBuf| is_of_inbox(&file, &dir);
        assert!(!is_refused(out.join("b.db")));
        assert!(!is_refused(folder.path().join("nowhere/b.db")));
        for name in ["inbox.db", "search.db", "b.db", "../data/inbox.db"] {
            assert!(is_refused(dir.join(name)), "{name}");
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::symlink;
            symlink(&dir, out.join("link")).unwrap();
            assert!(is_refused(out.join("link/inbox.db")));
            fs::write(out.join("elsewhere.db"), "the inbox").unwrap();
            symlink(out.join("elsewhere.db"), dir.join("inbox.db")).unwrap();
            assert!(is_refused(out.join("elsewhere.db")));
            assert!(!is_refused(out.join("b.db")));
        }
    }
}
