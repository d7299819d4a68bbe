//! The `hookmitt` command: every verb is a few calls to the management API.
//!
//! A library, so that the window's binary can serve by it where there is no display.

mod args;
mod client;
mod data_dir;
mod destination;
mod edit;
mod event_ref;
mod event_table;
mod event_view;
mod explanation_view;
mod failure;
mod json_layout;
mod live;
mod local_verdict;
mod moment;
mod outcome;
mod provider_name;
mod seat;
mod shared_scheme;
mod shown;
mod stop;
mod tail;
mod terminal;
mod tunnel_view;
mod typed_in;
mod verbs;
mod verdict_report;

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Parser as _;
use tracing_subscriber::EnvFilter;

use crate::{
    args::{Cli, Verb},
    client::Client,
    failure::{CliError, Exit},
    terminal::Screen,
};

pub use crate::stop::{Stop, TOLD_TWICE};

/// Runs the command as it was typed, its own name first.
pub fn run(typed: impl IntoIterator<Item = OsString>) -> ExitCode {
    let typed: Vec<_> = typed.into_iter().collect();
    let cli = match Cli::try_parse_from(&typed) {
        Ok(cli) => cli,
        Err(error) => return misused(&error, typed.iter().any(|arg| arg == "--json")).into(),
    };
    let screen = Screen { json: cli.json };
    match &cli.verb {
        Verb::Relay(args) => verbs::relay::log(args),
        _ => log_to_stderr(),
    }
    let ended = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|source| CliError::System { doing: "the runtime can't be started", source })
        .and_then(|runtime| runtime.block_on(Box::pin(obey(cli, &screen))));
    ended
        .unwrap_or_else(|error| {
            screen.error(&error);
            error.exit()
        })
        .into()
}

/// The data directory: the given one, else that of `HOOKMITT_DATA_DIR`, else the platform's.
///
/// # Errors
/// There is no home directory.
pub fn data_dir(given: Option<PathBuf>) -> Result<PathBuf, impl std::error::Error + use<>> {
    data_dir::locate(given, std::env::var_os(data_dir::VARIABLE))
}

async fn obey(cli: Cli, screen: &Screen) -> Result<Exit, CliError> {
    let dir = || data_dir::locate(cli.data_dir, std::env::var_os(data_dir::VARIABLE));
    match cli.verb {
        Verb::Serve(args) => verbs::serve::run(&args, &dir()?, screen).await,
        Verb::Listen(args) => verbs::listen::run(&args, &dir()?, screen).await,
        Verb::Verify(args) if args.is_for_file() => verbs::verify::run_on_file(&args, screen).await,
        Verb::Relay(args) => verbs::relay::run(&args, &dir()?, screen).await,
        Verb::Doctor => verbs::doctor::run(&dir()?, screen).await,
        Verb::Completions(args) => verbs::completions::run(&args, screen),
        Verb::Export(args) if !args.raw => Err(verbs::export::redaction_missing()),
        verb => through_the_door(verb, &dir()?, screen).await,
    }
}

async fn through_the_door(verb: Verb, data_dir: &Path, screen: &Screen) -> Result<Exit, CliError> {
    let client = Client::open(data_dir).await?;
    let ended = Box::pin(ask(verb, &client, screen)).await;
    client.close().await;
    ended
}

async fn ask(verb: Verb, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    match verb {
        Verb::Send(args) => verbs::send::run(&args, client, screen).await,
        Verb::Events(args) => verbs::events::run(&args, client, screen).await,
        Verb::Show(args) => verbs::show::run(&args, client, screen).await,
        Verb::Verify(args) => verbs::verify::run(&args, client, screen).await,
        Verb::Confirm(args) => verbs::confirm::run(&args, client, screen).await,
        Verb::Replay(args) => verbs::replay::run(&args, client, screen).await,
        Verb::Retry(args) => verbs::retry::run(&args, client, screen).await,
        Verb::Export(args) => verbs::export::run(&args, client, screen).await,
        Verb::Import(args) => verbs::import::run(&args, client, screen).await,
        Verb::Source(verb) => verbs::source::run(&verb, client, screen).await,
        Verb::Secret(verb) => verbs::secret::run(&verb, client, screen).await,
        Verb::Target(verb) => verbs::target::run(&verb, client, screen).await,
        Verb::Tunnel(verb) => verbs::tunnel::run(&verb, client, screen).await,
        Verb::Url(args) => verbs::url::run(&args, client, screen).await,
        Verb::Serve(_) | Verb::Listen(_) | Verb::Relay(_) | Verb::Doctor | Verb::Completions(_) => {
            unreachable!("these don't go through the door")
        }
    }
}

/// Sends messages of the layers below to standard error. What a live view shows itself is left out.
pub fn log_to_stderr() {
    let filter = EnvFilter::try_from_env("HOOKMITT_LOG");
    let filter = filter.unwrap_or_else(|_| EnvFilter::new("warn,hookmitt_engine::refusals=error"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(anstream::stderr).with_target(false).init();
}

/// Help and version where they were asked for; else what is wrong with what was typed.
fn misused(error: &clap::Error, as_json: bool) -> Exit {
    if !error.use_stderr() {
        let _closed_pipe = error.print();
        return Exit::Success;
    }
    if as_json {
        let text = error.to_string();
        let message = text.split("\n\n").next().unwrap_or_default();
        let message = message.trim_start_matches("error: ").split_whitespace().collect::<Vec<_>>().join(" ");
        Screen { json: true }.complain("usage", &message, Some("see `hookmitt help`"));
    } else {
        let _nobody_reads = error.print();
    }
    Exit::BadInput
}
