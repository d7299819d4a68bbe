//! `hookmitt backup`: writes a copy of the inbox to a file, while hookmitt runs.

use std::{
    fs,
    io::{self, Read as _},
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
    stop::Stop,
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
    ensure_replaceable(&file)?;
    if is_of_inbox(&file, data_dir) {
        let message = format!("{} belongs to the inbox itself", shown(&file));
        let hint = "choose another name, best on another disk";
        return Err(CliError::bad_input_with("backup-over-inbox", message, hint));
    }
    let part = begun(&file, client).await?;
    let mut stop = Stop::watch().map_err(CliError::signals)?;
    let ask = json!({ "file": part.path(), "becomes": file });
    let Begun { job } = client.send(Method::POST, &Address::new(["backup"]), &ask).await?;
    let ended = job::follow_until(&mut stop, job, client, screen).await?;
    if ended != Exit::Success {
        return Ok(ended);
    }
    let replaced = part.becomes(args.force).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => there(&file),
        _ => CliError::file(&file, error),
    })?;
    screen.note(format_args!("written to {}", shown(&file)));
    screen.note("secrets and tunnels' keys are not in it: keep those elsewhere");
    replaced.give_back_until(&mut stop).await;
    Ok(Exit::Success)
}

/// Fails for what can't be a backup's name: a folder, a device, a pipe, or a path that can't be told to the inbox.
fn ensure_replaceable(file: &Path) -> Result<(), CliError> {
    let bad = |code, what: &str| Err(CliError::bad_input(code, format!("{} {what}", shown(file))));
    if file.is_dir() || file.file_name().is_none() {
        return bad("backup-folder", "is a folder");
    }
    if fs::symlink_metadata(file).is_ok_and(|there| !there.is_file() && !there.is_symlink()) {
        return bad("backup-special", "is a device or a pipe, not a file");
    }
    match file.to_str() {
        None => bad("backup-name", "isn't valid UTF-8: choose another name"),
        Some(_) => Ok(()),
    }
}

/// Whether a file is one that hookmitt works with, or kept, in the data directory. Only backups may be replaced there.
fn is_of_inbox(file: &Path, data_dir: &Path) -> bool {
    const OURS: [&str; 2] = ["inbox.", "search."];
    let real = |path: &Path| path.canonicalize().ok();
    let (Some(folder), Some(data_dir)) = (file.parent().and_then(real), real(data_dir)) else { return false };
    // They may be links to files elsewhere.
    let is_linked = real(file).is_some_and(|file| {
        ["inbox.db", "search.db"].iter().any(|name| real(&data_dir.join(name)) == Some(file.clone()))
    });
    let name = file.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let is_ours = OURS.iter().any(|ours| name.starts_with(ours)) || (file.exists() && !is_sqlite(file));
    is_linked || (folder.starts_with(data_dir) && is_ours)
}

fn is_sqlite(file: &Path) -> bool {
    let mut head = [0; 16];
    let read = fs::File::open(file).and_then(|mut file| file.read_exact(&mut head));
    read.is_ok() && head == *b"SQLite format 3\0"
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
        fs::write(dir.join("token"), "secret").unwrap();
        fs::write(dir.join("old.db"), b"SQLite format 3\0").unwrap();
        for name in ["inbox.db", "search.db-wal", "Inbox.db", "token", "../data/inbox.db"] {
            assert!(is_refused(dir.join(name)), "{name}");
        }
        for name in ["new.db", "old.db"] {
            assert!(!is_refused(dir.join(name)), "{name}");
        }
        #[cfg(unix)]
        {
            use std::{
                ffi::OsStr,
                os::unix::{ffi::OsStrExt as _, fs::symlink},
            };
            symlink(&dir, out.join("link")).unwrap();
            assert!(is_refused(out.join("link/inbox.db")));
            fs::write(out.join("elsewhere.db"), "the inbox").unwrap();
            symlink(out.join("elsewhere.db"), dir.join("inbox.db")).unwrap();
            assert!(is_refused(out.join("elsewhere.db")));
            assert!(!is_refused(out.join("b.db")));
            let (device, odd) = (Path::new("/dev/null"), OsStr::from_bytes(b"/tmp/\xff"));
            assert!(ensure_replaceable(device).is_err() && ensure_replaceable(Path::new(odd)).is_err());
        }
    }
}
