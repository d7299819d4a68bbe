//! `hookmitt completions`: a completion script for a shell.

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::{
    args::Cli,
    failure::{CliError, Exit},
    terminal::Screen,
};

/// What `completions` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// For which shell
    shell: Shell,
}

/// Prints the script.
pub(crate) fn run(args: &Args, screen: &Screen) -> Result<Exit, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "hookmitt", &mut script);
    screen.print_bytes(&script)?;
    Ok(Exit::Success)
}
