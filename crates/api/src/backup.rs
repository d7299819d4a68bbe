//! Backups of the inbox, for commands alone.
//!
//! A backup is written into a file on this machine. A page or a program that has the token must not choose which: so only
//! a command may ask, which comes in through the private socket, and it names an empty file that it has made. So
//! nobody makes hookmitt write where he couldn't write himself.

use std::{path::PathBuf, sync::Arc};

use axum::{
    extract::State,
    http::{HeaderMap, StatusCode},
};
use hookmitt_engine::{BackupAsked, Engine};
use hookmitt_event::Actor;
use serde::Deserialize;

use crate::{Problem, input::Body, jobs::Begun, origin::ACTOR};

/// Where a backup is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    /// The absolute path of an empty file that only its owner may read.
    file: PathBuf,
    /// The name that the command gives it once it is complete.
    becomes: Option<PathBuf>,
}

/// Begins a backup as a job.
pub(crate) async fn backup(
    State(engine): State<Arc<Engine>>,
    headers: HeaderMap,
    Body(wanted): Body<Wanted>,
) -> Result<Begun, Problem> {
    let who = headers.get(ACTOR).and_then(|who| who.to_str().ok()?.parse().ok());
    if who.unwrap_or(Actor::Cli) != Actor::Cli {
        let hint = "run `hookmitt backup FILE`";
        return Err(Problem::new(StatusCode::FORBIDDEN, "commands-only", "only a command may do that", hint));
    }
    let listed = engine.secrets.list().await?;
    let secrets = listed.into_iter().map(|secret| (secret.source.to_string(), secret.label)).collect();
    engine.deliver_if_alone().await?;
    let asked = BackupAsked { file: wanted.file, becomes: wanted.becomes, secrets };
    Ok(engine.jobs.ask_for_backup(&asked).await?.into())
}
