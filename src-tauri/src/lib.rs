//! The window: a Tauri shell over the same core as the `hookmitt` command.
//!
//! The core runs in this process (see `core`), or in the hookmitt that already uses the data directory. The page calls
//! it through the commands `api` and `live`, so with a window this process opens no TCP port but the capture port.
//! Without a display it runs `hookmitt serve` instead (see `headless`).

mod args;
mod automation;
mod bridge;
mod closing;
mod core;
mod desktop;
mod display;
mod download;
mod external;
mod frames;
mod headless;
mod live;
mod quit;
mod say;
mod settings;
mod state;
mod timings;
mod tray;
mod window;

use std::process::ExitCode;

use clap::Parser as _;

use crate::{args::Args, say::say};

/// Runs until the user quits: in a window, or without one if there is no display.
pub fn run() -> ExitCode {
    timings::begin();
    automation::clear();
    let args = Args::parse();
    if !display::is_there() {
        return headless::run(&args);
    }
    hookmitt_cli::log_to_stderr();
    hookmitt_cli::raise_handle_limit();
    match hookmitt_cli::data_dir(args.data_dir.clone()) {
        Ok(data_dir) => desktop::run(&args, &data_dir),
        Err(error) => {
            say(format_args!("error: {error}"));
            ExitCode::from(2)
        }
    }
}
