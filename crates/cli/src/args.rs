//! The command line: the verbs, and the options that all verbs have.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::verbs::{
    assign, audit, backup, completions, confirm, delete, doctor, events, export, import, jobs, listen, note,
    pin, prune, relay, replay, restore, retention, retry, secret, send, serve, show, source, stats, sync,
    tag, target, trash, tunnel, url, verify, wait,
};

/// Catches every webhook, never loses one, says whether it is genuine, and hands it to your local server.
#[derive(Debug, Parser)]
#[command(name = "hookmitt", version, propagate_version = true, max_term_width = 100)]
pub(crate) struct Cli {
    /// The directory of the inbox; by default HOOKMITT_DATA_DIR, else the platform's data directory
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Print one JSON object per line, errors included
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// What to do
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Capture, verify and deliver events, without a window
    Serve(serve::Args),
    /// Forward events to a local server and watch them; starts hookmitt if it isn't running
    Listen(listen::Args),
    /// Send a genuinely signed sample event
    Send(send::Args),
    /// List events, newest first
    Events(events::Args),
    /// Wait for events that match a search; exit code 1 if they don't arrive in time
    Wait(wait::Args),
    /// Show one event
    Show(show::Args),
    /// Verify a signature: exit code 0 if valid, 1 if invalid or unsigned
    Verify(verify::Args),
    /// Deliver stored events again, as they were or edited
    Replay(replay::Args),
    /// Retry failed, dead-letter or skipped deliveries
    Retry(retry::Args),
    /// Move events out of `unassigned`, where those are kept whose source wasn't known, into a source
    Move(assign::Args),
    /// Delete events, or restore them with --undo
    Delete(delete::Args),
    /// List what was deleted, restore it, or delete it for good
    Trash(trash::Args),
    /// Show or change how long events are kept, and how large the inbox may become
    Retention(retention::Args),
    /// Delete for good what has been kept for long enough, or list what that is
    Prune(prune::Args),
    /// List who did what: deleted, exported, changed settings
    Audit(audit::Args),
    /// Print, set or remove an event's note
    Note(note::Args),
    /// Give tags to events, take them away, or list them
    Tag(tag::Args),
    /// Pin events, so that retention keeps them
    Pin(pin::Args),
    /// List, show, resume and cancel jobs: what takes long, such as deleting by search
    Jobs(jobs::Args),
    /// Confirm a genuine set-up request, such as Amazon SNS's, by calling the URL it contains
    Confirm(confirm::Args),
    /// Export events to fixture files
    Export(export::Args),
    /// Import fixture files into the inbox
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
    /// Add, join, share, show and remove tunnels: through a relay, a channel or a program
    #[command(subcommand)]
    Tunnel(tunnel::Verb),
    /// Run a relay: receive webhooks on a public server and keep them until the app fetches them
    Relay(Box<relay::Args>),
    /// Fetch what was missed from the provider's own API, and report what that was
    Sync(sync::Args),
    /// Print the URLs for your providers' settings
    Url(url::Args),
    /// Print the inbox in numbers: events by status, failures, lag, latencies, disk
    Stats(stats::Args),
    /// Back up the inbox to a file while hookmitt runs; without secrets and keys
    Backup(backup::Args),
    /// Replace the inbox with a backup
    Restore(restore::Args),
    /// Check the set-up and suggest fixes
    Doctor(doctor::Args),
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
            "wait",
            "wait type:push",
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
            "show last --body --no-body",
            "verify",
            "verify last --request f",
            "retry",
            "retry last --dead-letter",
            "delete",
            "delete last --where x",
            "delete --where",
            "retry last --yes",
            "export --raw",
            "export last --source s --raw",
            "replay last --set a=1",
            "replay last --times 0",
            "note last text --remove",
            "note last --delete",
            "delete --where --yes",
            "tag",
            "tag list --add a",
            "tag last --add a,,b",
            "pin",
            "events --verdict good",
            "wait --count 0",
            "secret set s --label l extra",
        ] {
            let typed = ["hookmitt"].into_iter().chain(typed.split(' '));
            assert!(Cli::try_parse_from(typed.clone()).is_err(), "{typed:?}");
        }
    }
}
