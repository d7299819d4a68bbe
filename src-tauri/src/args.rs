//! The window's command line.

use std::path::PathBuf;

/// Catches every webhook, shows it as it comes, and hands it to your local server.
#[derive(Debug, Default, clap::Parser)]
#[command(name = "hookmitt-desktop", version, max_term_width = 100)]
pub(crate) struct Args {
    /// Where the inbox is; else HOOKMITT_DATA_DIR, else the platform's data directory
    #[arg(long, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// The capture port; 0 takes any that is free [default: the one last chosen, else 4400]
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser as _};

    use super::*;

    #[test]
    fn the_grammar_holds_together() {
        Args::command().debug_assert();
        let args = Args::try_parse_from(["hookmitt-desktop", "--data-dir", "d", "--port", "0"]).unwrap();
        assert_eq!((args.data_dir, args.port), (Some(PathBuf::from("d")), Some(0)));
    }
}
