//! Quitting: nothing new starts, and work in flight is finished.

use std::sync::{Arc, OnceLock};

use hookmitt_cli::{Stop, TOLD_TWICE};
use tauri::{AppHandle, Manager as _};

use crate::{core::Core, window};

/// Whether quitting has begun.
#[derive(Debug, Default)]
pub(crate) struct Ending(OnceLock<()>);

/// Quits Hookmitt. The window disappears at once; the process ends when no work is in flight any more.
pub(crate) fn quit(app: &AppHandle) {
    app.state::<Ending>().0.get_or_init(|| {
        window::hide(app);
        // If the user starts Hookmitt again meanwhile, a new window opens instead of this hidden one.
        tauri_plugin_single_instance::destroy(app);
        let (app, core) = (app.clone(), Arc::clone(&app.state::<Arc<Core>>()));
        tauri::async_runtime::spawn(async move {
            core.stop().await;
            app.exit(0);
        });
    });
}

/// Quits in the same way at a signal from the system or a shell. A second signal ends the process at once.
pub(crate) fn on_signals(app: &AppHandle) {
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        let mut stop = match Stop::watch() {
            Ok(stop) => stop,
            Err(error) => return tracing::warn!(%error, "can't listen for signals"),
        };
        stop.asked().await;
        quit(&app);
        stop.asked().await;
        std::process::exit(TOLD_TWICE);
    });
}
