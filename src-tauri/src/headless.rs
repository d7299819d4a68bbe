//! Without a display: runs `hookmitt serve` in this process.

use std::{ffi::OsString, process::ExitCode};

use crate::{args::Args, say::say};

/// Serves until the user stops it.
pub(crate) fn run(args: &Args) -> ExitCode {
    say(format_args!("no display found: serving without a window"));
    hookmitt_cli::run(command(args))
}

fn command(args: &Args) -> Vec<OsString> {
    let mut command: Vec<OsString> = ["hookmitt", "serve", "--no-open"].map(OsString::from).into();
    if let Some(data_dir) = &args.data_dir {
        command.extend(["--data-dir".into(), data_dir.into()]);
    }
    if let Some(port) = args.port {
        command.extend(["--port".into(), port.to_string().into()]);
        // A user who wants any free capture port wants any free API port too.
        if port == 0 {
            command.extend(["--api-port".into(), "0".into()]);
        }
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_serves_where_the_window_would_have_caught() {
        let args = Args { data_dir: Some("d".into()), port: Some(0) };
        let expected =
            ["hookmitt", "serve", "--no-open", "--data-dir", "d", "--port", "0", "--api-port", "0"];
        assert_eq!(command(&args), expected);
        assert_eq!(command(&Args::default()), ["hookmitt", "serve", "--no-open"]);
    }
}
