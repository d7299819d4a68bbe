//! `make bench`: the rate of durable captures compared with a bare handler, the answer times, the memory, and the times
//! of verdicts, explanations and claims.
//!
//! `make bench-relay`: the same for a relay and its tunnels, and how fast an app catches up.
//!
//! `make bench-inbox`: lists, searches, memory and disk of inboxes that grow.
//!
//! `make bench-year`: a year of an inbox, week after week.
//!
//! Prints a table and writes `target/bench/speed.json`, `relay.json` or `inbox.json`. Machines are noisy, so only the ratios within
//! one run count.

mod claims;
mod folder;
mod host;
mod inbox;
mod load;
mod measured;
mod relay;
mod report;
mod servers;
mod signatures;
mod workload;
#[cfg(unix)]
mod year;

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let outcome = match (arguments.next().as_deref(), arguments.next()) {
        (Some("--bare-handler"), _) => servers::bare_handler(),
        (Some("--forwarder"), Some(address)) => relay::forwarder(&address),
        // The relay and its tunnels: all parts, or only those that are named.
        (Some("--relay"), first) => relay::run(&first.into_iter().chain(arguments).collect::<Vec<_>>()),
        // Inboxes of growing size: all sizes and parts, or only those that are named.
        (Some("--inbox"), first) => inbox::run(&first.into_iter().chain(arguments).collect::<Vec<_>>()),
        // A year of an inbox; with the number of events a week, if one is given.
        #[cfg(unix)]
        (Some("--year"), first) => year::run(&first.into_iter().chain(arguments).collect::<Vec<_>>()),
        // Only the load, for a server that is being profiled.
        (Some("--load"), Some(address)) => measured::load_only(&address),
        // Only one of the short measurements.
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
