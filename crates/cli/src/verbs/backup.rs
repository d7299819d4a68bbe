//! `hookmitt backup`: writes a copy of the inbox to a file, while hookmitt runs.

use std::{
    fs::{self, OpenOptions},
    io,
    path::{Path, PathBuf},
};

use hookmitt_event::Plain;
use http::Method;
use serde_json::json;

use crate::{
    client::{Address, Client},
    failure::{CliError, Exit},
    job::{self, Begun, Job},
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
    let part = Part::make(&file, client).await?;
    let ask = json!({ "file": part.0 });
    let Begun { job } = client.send(Method::POST, &Address::new(["backup"]), &ask).await?;
    let ended = job::follow(job, client, screen).await?;
    if ended != Exit::Success {
        return Ok(ended);
    }
    part.becomes(&file, args.force)?;
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

/// The file that the backup is written into. It is removed unless it becomes the backup.
struct Part(PathBuf);

impl Part {
    /// Makes the file, which is empty and private. One that a killed command left behind is replaced.
    async fn make(file: &Path, client: &Client) -> Result<Self, CliError> {
        let mut name = file.as_os_str().to_owned();
        name.push(".part");
        let path = PathBuf::from(name);
        if fs::symlink_metadata(&path).is_ok_and(|left| left.is_file()) {
            // If no other hookmitt runs, a job that is still open belongs to one that was killed.
            if client.is_attached() && is_wanted(&path, client).await? {
                let message = format!("a backup to {} is being made", shown(file));
                return Err(CliError::bad_input("backup-runs", message));
            }
            fs::remove_file(&path).map_err(|error| CliError::file(&path, error))?;
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&path).map_err(|error| CliError::file(&path, error))?;
        Ok(Self(path))
    }

    fn becomes(&self, file: &Path, force: bool) -> Result<(), CliError> {
        let named = if force { fs::rename(&self.0, file) } else { self.rename_if_free(file) };
        match named.and_then(|()| synced(file)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(there(file)),
            named => named.map_err(|error| CliError::file(file, error)),
        }
    }

    /// Gives the file its name unless something has that name by now.
    fn rename_if_free(&self, file: &Path) -> io::Result<()> {
        match fs::hard_link(&self.0, file) {
            Ok(()) => fs::remove_file(&self.0),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
            Err(_) if fs::symlink_metadata(file).is_ok() => Err(io::ErrorKind::AlreadyExists.into()),
            Err(_) => fs::rename(&self.0, file), // a file system without second names
        }
    }
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

impl Drop for Part {
    fn drop(&mut self) {
        let _renamed = fs::remove_file(&self.0);
    }
}

/// Has the system write down the name of a file.
fn synced(file: &Path) -> io::Result<()> {
    match file.parent() {
        Some(folder) if cfg!(unix) => fs::File::open(folder)?.sync_all(),
        _ => Ok(()),
    }
}
