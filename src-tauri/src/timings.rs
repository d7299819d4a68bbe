//! Measures how long the window takes to appear, for the benchmark.

use std::{sync::OnceLock, time::Instant};

use tauri::WebviewWindow;

use crate::say::say;

static BEGUN: OnceLock<Instant> = OnceLock::new();

/// Starts the clock. Must be called before anything else.
pub(crate) fn begin() {
    BEGUN.get_or_init(Instant::now);
}

/// Prints how long it took until the display shows the window, if `HOOKMITT_TIMINGS=1` is set. Only on Linux.
pub(crate) fn say_when_shown(window: &WebviewWindow) {
    if std::env::var_os("HOOKMITT_TIMINGS").is_none_or(|asked| asked != "1") {
        return;
    }
    #[cfg(target_os = "linux")]
    if let Ok(window) = window.gtk_window() {
        use gtk::{glib, prelude::WidgetExtManual as _};
        let told = std::cell::Cell::new(false);
        window.connect_map_event(move |_, _| {
            if !told.replace(true) {
                since_begin("window shown");
            }
            glib::Propagation::Proceed
        });
    }
    #[cfg(not(target_os = "linux"))]
    let _unmeasured = window;
}

fn since_begin(what: &str) {
    if let Some(begun) = BEGUN.get() {
        say(format_args!("timing: {what} {} ms", begun.elapsed().as_millis()));
    }
}
