//! `hookmitt completions`: prints a completion script for a shell.

use clap_complete::Shell;

use crate::{
    failure::{CliError, Exit},
    terminal::Screen,
};

/// What `completions` takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

/// Prints the script for this command line.
pub(crate) fn run(args: &Args, mut grammar: clap::Command, screen: &Screen) -> Result<Exit, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut grammar, "hookmitt", &mut script);
    screen.print_bytes(&script)?;
    Ok(Exit::Success)
}
