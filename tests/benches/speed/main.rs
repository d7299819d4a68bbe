//! `make bench`: how fast a durable capture is beside a bare handler, how soon it answers, how much memory it takes, and how
//! long verdicts and their explanations take.
//!
//! `make bench-relay`: the same of a relay, its tunnels, and how soon an app has caught up.
//!
//! Prints a table and writes `target/bench/speed.json` or `relay.json`. Machines are noisy: what counts is the ratio within one run.

mod claims;
mod folder;
mod host;
mod load;
mod measured;
mod relay;
mod report;
mod servers;
mod signatures;
mod workload;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let outcome = match (arguments.next().as_deref(), arguments.next()) {
        (Some("--bare-handler"), _) => servers::bare_handler(),
        (Some("--forwarder"), Some(address)) => relay::forwarder(&address),
        // The relay and the tunnel; all of it, or the parts that are named.
        (Some("--relay"), first) => relay::run(&first.into_iter().chain(arguments).collect::<Vec<_>>()),
        // Only the load, on a server that is being profiled.
        (Some("--load"), Some(address)) => measured::load_only(&address),
        // Only what takes seconds.
        (Some("--signatures"), _) => report::signatures(),
        (Some("--claims"), _) => measured::claims_only(),
        _ => measured::run(),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            #[expect(clippy::print_stderr, reason = "a benchmark reports to its caller")]
            {
                eprintln!("error: {error:#}");
            }
            ExitCode::FAILURE
        }
    }
}
