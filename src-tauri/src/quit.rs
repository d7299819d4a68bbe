//! The end: nothing new is begun, what is in flight is finished.

use std::sync::{Arc, OnceLock};

use hookmitt_cli::{Stop, TOLD_TWICE};
use tauri::{AppHandle, Manager as _};

use crate::{core::Core, window};

/// Whether the end has begun.
#[derive(Debug, Default)]
pub(crate) struct Ending(OnceLock<()>);

/// Ends Hookmitt. The window goes at once, the process when nothing is in flight any more.
pub(crate) fn quit(app: &AppHandle) {
    app.state::<Ending>().0.get_or_init(|| {
        window::hide(app);
        // Who starts Hookmitt again meanwhile wants a window, not this one.
        tauri_plugin_single_instance::destroy(app);
        let (app, core) = (app.clone(), Arc::clone(&app.state::<Arc<Core>>()));
        tauri::async_runtime::spawn(async move {
            core.stop().await;
            app.exit(0);
        });
    });
}

/// Ends as politely when the system or a shell asks; a second signal doesn't wait for what is in flight.
pub(crate) fn on_signals(app: &AppHandle) {
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        let mut stop = match Stop::watch() {
            Ok(stop) => stop,
            Err(error) => return tracing::warn!(%error, "signals can't be waited for"),
        };
        stop.asked().await;
        quit(&app);
        stop.asked().await;
        std::process::exit(TOLD_TWICE);
    });
}
