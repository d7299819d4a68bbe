//! The command line: the verbs, and the options that all verbs have.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::verbs::{
    completions, confirm, events, export, import, listen, relay, replay, retry, secret, send, serve, show,
    source, target, tunnel, url, verify,
};

/// Catches every webhook, never loses one, says whether it is genuine, and hands it to your local server.
#[derive(Debug, Parser)]
#[command(name = "hookmitt", version, propagate_version = true, max_term_width = 100)]
pub(crate) struct Cli {
    /// Where the inbox is; else HOOKMITT_DATA_DIR, else the platform's data directory
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Print one JSON object a line; errors too
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// What to do
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Catch, store, judge and deliver, without a window
    Serve(serve::Args),
    /// Forward events to a local server and watch them; serves too where nothing does yet
    Listen(listen::Args),
    /// Send a genuinely signed sample event
    Send(send::Args),
    /// List events, newest first
    Events(events::Args),
    /// Show one event
    Show(show::Args),
    /// Judge a signature: exit 0 valid, 1 invalid or unsigned
    Verify(verify::Args),
    /// Deliver stored events again, as they were or edited
    Replay(replay::Args),
    /// Take up failed, dead or skipped deliveries again
    Retry(retry::Args),
    /// Call the URL that a genuine set-up request asks for, such as Amazon SNS's
    Confirm(confirm::Args),
    /// Write events to fixture files
    Export(export::Args),
    /// Read fixture files into the inbox
    Import(import::Args),
    /// Add, list, show, change and remove sources
    #[command(subcommand)]
    Source(source::Verb),
    /// Set, list and remove signing secrets
    #[command(subcommand)]
    Secret(secret::Verb),
    /// Add, list, change, remove, pause and resume targets
    #[command(subcommand)]
    Target(target::Verb),
    /// Open, join, share, show and remove tunnels: to a relay, a channel, or by a program
    #[command(subcommand)]
    Tunnel(tunnel::Verb),
    /// Serve as a relay: take webhooks on a public server, and keep them until the app is there
    Relay(Box<relay::Args>),
    /// Print the URLs to give to providers
    Url(url::Args),
    /// Check that everything is in order
    Doctor,
    /// Print a completion script for a shell
    Completions(completions::Args),
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_grammar_holds_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_verb_takes_the_data_directory_and_json() {
        let tail = ["--data-dir", "d", "--json"];
        for verb in [
            "serve",
            "events",
            "source list",
            "target pause 1",
            "doctor",
            "url",
            "replay last",
            "relay",
            "relay token list",
        ] {
            let typed = ["hookmitt"].into_iter().chain(verb.split(' ')).chain(tail);
            let cli = Cli::try_parse_from(typed).unwrap();
            assert!(cli.json && cli.data_dir == Some(PathBuf::from("d")), "{verb}");
        }
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        for typed in [
            "show last --body --json",
            "show last --body --headers",
            "verify",
            "verify last --request f",
            "retry",
            "retry last --dead-letter",
            "export --raw",
            "export last --source s --raw",
            "replay last --set a=1",
            "replay last --times 0",
            "events --verdict good",
            "secret set s --label l extra",
        ] {
            let typed = ["hookmitt"].into_iter().chain(typed.split(' '));
            assert!(Cli::try_parse_from(typed.clone()).is_err(), "{typed:?}");
        }
    }
}
