//! Whether there is a display to open a window on.

/// Asks before Tauri does, which would panic without one. To be called on the main thread.
#[cfg(target_os = "linux")]
pub(crate) fn is_there() -> bool {
    gtk::init().is_ok()
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn is_there() -> bool {
    true
}
