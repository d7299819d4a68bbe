//! The `hookmitt` command. Most verbs are a few calls of the management API.
//!
//! This is a library, so that the desktop app's program can also serve on a machine without a display.

mod agreed;
mod args;
mod by_search;
mod client;
mod data_dir;
mod destination;
mod edit;
mod event_ref;
mod event_table;
mod event_view;
mod event_words;
mod explanation_view;
mod failure;
mod handles;
mod job;
mod json_layout;
mod line_log;
mod live;
mod local_verdict;
mod log;
mod moment;
mod outcome;
mod part;
mod path_hint;
mod private_file;
mod problem;
mod provider_name;
mod replaced;
mod search;
mod seat;
mod secret_variable;
mod shared_scheme;
mod shown;
mod stop;
mod tail;
mod target_view;
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

use clap::{
    CommandFactory as _, Parser as _,
    error::{ContextKind, ContextValue, ErrorKind},
};

use crate::{
    args::{Cli, Verb},
    client::Client,
    failure::{CliError, Exit},
    terminal::Screen,
};

pub use crate::{
    handles::raise_handle_limit,
    log::log_to_stderr,
    stop::{Stop, TOLD_TWICE},
};

/// Runs a command line. Its first item is the program's name.
pub fn run(typed: impl IntoIterator<Item = OsString>) -> ExitCode {
    let typed: Vec<_> = typed.into_iter().collect();
    let cli = match Cli::try_parse_from(&typed) {
        Ok(cli) => cli,
        Err(error) => return misused(without_secrets(error, &typed), &typed).into(),
    };
    let screen = Screen { json: cli.json };
    match &cli.verb {
        Verb::Relay(args) => verbs::relay::log(args),
        _ => log_to_stderr(),
    }
    raise_handle_limit();
    let ended = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|source| CliError::System { doing: "can't start the runtime", source })
        .and_then(|runtime| runtime.block_on(Box::pin(obey(cli, &screen))));
    ended
        .unwrap_or_else(|error| {
            screen.error(&error);
            error.exit()
        })
        .into()
}

/// Returns the data directory: the given one, else the one in `HOOKMITT_DATA_DIR`, else the platform's.
///
/// # Errors
/// Fails if no directory is named and there is no home directory, or if the path cannot be made absolute.
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
        Verb::Doctor(args) => verbs::doctor::run(&args, &dir()?, screen).await,
        Verb::Restore(args) => verbs::restore::run(&args, &dir()?, screen).await,
        Verb::Completions(args) => verbs::completions::run(&args, Cli::command(), screen),
        Verb::Export(args) if !args.raw => Err(verbs::export::redaction_missing()),
        verb => through_the_door(verb, &dir()?, screen).await,
    }
}

async fn through_the_door(verb: Verb, data_dir: &Path, screen: &Screen) -> Result<Exit, CliError> {
    let client = Client::open(data_dir).await?;
    let ended = Box::pin(ask(verb, data_dir, &client, screen)).await;
    match Stop::watch() {
        // Deliveries in flight are finished, unless Ctrl-C is pressed again.
        Ok(mut stop) if matches!(ended, Ok(Exit::Interrupted)) => stop.finish(client.close()).await,
        _ => client.close().await,
    }
    ended
}

async fn ask(verb: Verb, data_dir: &Path, client: &Client, screen: &Screen) -> Result<Exit, CliError> {
    match verb {
        Verb::Send(args) => verbs::send::run(&args, client, screen).await,
        Verb::Events(args) => verbs::events::run(&args, client, screen).await,
        Verb::Wait(args) => verbs::wait::run(&args, client, screen).await,
        Verb::Show(args) => verbs::show::run(&args, client, screen).await,
        Verb::Verify(args) => verbs::verify::run(&args, client, screen).await,
        Verb::Move(args) => verbs::assign::run(&args, client, screen).await,
        Verb::Delete(args) => verbs::delete::run(&args, client, screen).await,
        Verb::Trash(args) => verbs::trash::run(&args, client, screen).await,
        Verb::Retention(args) => verbs::retention::run(&args, client, screen).await,
        Verb::Prune(args) => verbs::prune::run(&args, client, screen).await,
        Verb::Audit(args) => verbs::audit::run(&args, client, screen).await,
        Verb::Note(args) => verbs::note::run(&args, client, screen).await,
        Verb::Tag(args) => verbs::tag::run(&args, client, screen).await,
        Verb::Pin(args) => verbs::pin::run(&args, client, screen).await,
        Verb::Jobs(args) => verbs::jobs::run(&args, client, screen).await,
        Verb::Backup(args) => verbs::backup::run(&args, data_dir, client, screen).await,
        Verb::Confirm(args) => verbs::confirm::run(&args, client, screen).await,
        Verb::Replay(args) => verbs::replay::run(&args, client, screen).await,
        Verb::Retry(args) => verbs::retry::run(&args, client, screen).await,
        Verb::Export(args) => verbs::export::run(&args, client, screen).await,
        Verb::Import(args) => verbs::import::run(&args, client, screen).await,
        Verb::Source(verb) => verbs::source::run(&verb, client, screen).await,
        Verb::Secret(verb) => verbs::secret::run(&verb, client, screen).await,
        Verb::Target(verb) => verbs::target::run(&verb, client, screen).await,
        Verb::Tunnel(verb) => verbs::tunnel::run(&verb, client, screen).await,
        Verb::Sync(args) => verbs::sync::run(&args, client, screen).await,
        Verb::Stats(args) => verbs::stats::run(&args, client, screen).await,
        Verb::Url(args) => verbs::url::run(&args, client, screen).await,
        Verb::Serve(_)
        | Verb::Listen(_)
        | Verb::Relay(_)
        | Verb::Doctor(_)
        | Verb::Restore(_)
        | Verb::Completions(_) => unreachable!("these don't go through the door"),
    }
}

/// Prints the help or the version if that was asked for, else what is wrong with the command line.
fn misused(error: clap::Error, typed: &[OsString]) -> Exit {
    if !error.use_stderr() {
        let _closed_pipe = error.print();
        return Exit::Success;
    }
    if typed.iter().any(|arg| arg == "--json") {
        let text = error.to_string();
        let message = text.split("\n\n").next().unwrap_or_default();
        let message = message.trim_start_matches("error: ").split_whitespace().collect::<Vec<_>>().join(" ");
        Screen { json: true }.complain("usage", &message, Some("see `hookmitt help`"));
    } else {
        let _nobody_reads = error.print();
    }
    Exit::BadInput
}

const PIPED: &str =
    "secrets, tokens and invitations are read from standard input, where no other program sees them";

/// Removes the wrong argument from an error of `secret`, `tunnel` or `relay`, because it may be a secret. People give
/// secrets as arguments although these verbs don't take them there, and shells and the logs of build servers would keep
/// the error.
fn without_secrets(mut error: clap::Error, typed: &[OsString]) -> clap::Error {
    let mut words = typed.iter().filter_map(|word| word.to_str()).filter(|word| !word.starts_with('-'));
    if !words.any(|word| matches!(word, "secret" | "sync" | "tunnel" | "relay")) {
        return error;
    }
    for kind in [ContextKind::InvalidArg, ContextKind::InvalidValue, ContextKind::InvalidSubcommand] {
        let Some(ContextValue::String(given)) = error.get(kind) else { continue };
        let names_flag =
            kind == ContextKind::InvalidArg && (given.starts_with('-') || given.starts_with('<'));
        if !names_flag {
            error.insert(kind, ContextValue::String("…".to_owned()));
            if error.kind() == ErrorKind::UnknownArgument {
                error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![PIPED.into()]));
            }
        }
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promise_7_a_secret_that_is_given_as_an_argument_is_not_repeated() {
        for typed in [
            "secret set gh hmr_Planted",
            "secret set hmr_Planted+/=",
            "secret set gh --env hmr_Planted=",
            "secret set gh --label x --value=hmr_Planted",
            "secret hmr_Planted",
            "tunnel add https://relay.example hmr_Planted",
            "tunnel join hookmitt-invite:hmr_Planted",
            "relay --store nat://me:hmr_Planted@host",
            "relay --public-url https://me:hmr_Planted@host",
            "relay token list --store hmr_Planted",
        ] {
            let typed: Vec<_> =
                ["hookmitt"].into_iter().chain(typed.split(' ')).map(OsString::from).collect();
            let Err(error) = Cli::try_parse_from(&typed) else { continue };
            let said = without_secrets(error, &typed).to_string();
            assert!(!said.contains("Planted"), "{said}");
        }
        let typed: Vec<_> = ["hookmitt", "secret", "lisst"].map(OsString::from).into();
        let said = without_secrets(Cli::try_parse_from(&typed).unwrap_err(), &typed).to_string();
        assert!(said.contains("list"), "what was meant is still told: {said}");
        let typed: Vec<_> = ["hookmitt", "tunnel", "join", "hookmitt-invite:x"].map(OsString::from).into();
        let said = without_secrets(Cli::try_parse_from(&typed).unwrap_err(), &typed).to_string();
        assert!(said.contains("invitations are read from standard input"), "{said}");
    }
}
