//! Finds out whether there is a display to open a window on.

/// Returns whether there is a display. Tauri would panic without one. Must be called on the main thread.
#[cfg(target_os = "linux")]
pub(crate) fn is_there() -> bool {
    gtk::init().is_ok()
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn is_there() -> bool {
    true
}
