//! What happens when the window is closed: the user is asked once, and the answer can be remembered.

use std::sync::atomic::{AtomicBool, Ordering};

use tauri::{AppHandle, Emitter as _, Manager as _};

use crate::{
    quit::quit,
    settings::{OnClose, Settings},
    tray::Tray,
    window,
};

/// The event that makes the page ask whether to keep catching in the tray.
const ASKED: &str = "close-asked";

/// Whether the page has been asked and has not answered yet.
#[derive(Debug, Default)]
pub(crate) struct Question(AtomicBool);

/// What to do when the window is closed.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    Ask,
    Hide,
    Quit,
}

/// Handles the user's wish to close the window.
pub(crate) fn closed(app: &AppHandle) {
    let was_asked = app.state::<Question>().0.swap(true, Ordering::Relaxed);
    let remembered = app.state::<Settings>().now().on_close;
    match next(app.state::<Tray>().is_seen(), remembered, was_asked) {
        Next::Ask => {
            if app.emit_to(window::MAIN, ASKED, ()).is_err() {
                quit(app);
            }
        }
        Next::Hide => {
            app.state::<Question>().0.store(false, Ordering::Relaxed);
            window::hide(app);
        }
        Next::Quit => quit(app),
    }
}

/// Decides what closing does. If no tray icon could show the window again, closing always quits. Closing again while
/// the question is open quits too.
fn next(tray: bool, remembered: Option<OnClose>, was_asked: bool) -> Next {
    match remembered {
        _ if !tray => Next::Quit,
        Some(OnClose::Keep) => Next::Hide,
        Some(OnClose::Quit) => Next::Quit,
        None if was_asked => Next::Quit,
        None => Next::Ask,
    }
}

/// Receives the user's answer. If `keep` is null, the user chose neither and the window stays open.
#[tauri::command]
pub(crate) fn close_answer(keep: Option<bool>, remember: bool, app: AppHandle) {
    app.state::<Question>().0.store(false, Ordering::Relaxed);
    let Some(keep) = keep else { return };
    if remember {
        let answer = if keep { OnClose::Keep } else { OnClose::Quit };
        app.state::<Settings>().change(|now| now.on_close = Some(answer));
    }
    if keep { window::hide(&app) } else { quit(&app) }
}

/// Remembers an answer for later closings. With null, the next closing asks.
#[tauri::command]
pub(crate) fn set_on_close(answer: Option<OnClose>, app: AppHandle) {
    app.state::<Settings>().change(|now| now.on_close = answer);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_asks_once_and_never_hides_what_could_not_be_found_again() {
        assert_eq!(next(true, None, false), Next::Ask);
        assert_eq!(next(true, None, true), Next::Quit);
        assert_eq!(next(true, Some(OnClose::Keep), false), Next::Hide);
        assert_eq!(next(true, Some(OnClose::Quit), false), Next::Quit);
        for remembered in [None, Some(OnClose::Keep), Some(OnClose::Quit)] {
            assert_eq!(next(false, remembered, false), Next::Quit);
        }
    }
}
