//! The tray icon, if the system can show one.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Mutex, PoisonError},
};

use tauri::{
    AppHandle, Manager as _, Wry,
    image::Image,
    include_image,
    menu::{MenuBuilder, MenuEvent, MenuItem, MenuItemBuilder},
    tray::{TrayIcon, TrayIconBuilder},
};

use crate::{quit::quit, state::State, window};

/// Hookmitt's mark without a background, in a colour that is visible on every panel.
const ICON: Image<'_> = include_image!("src-tauri/icons/tray.png");

/// The menu items that change.
struct Items {
    line: MenuItem<Wry>,
    copy: MenuItem<Wry>,
}

/// The tray icon. `items` is `None` if the icon could not be made.
#[derive(Default)]
pub(crate) struct Tray {
    items: Option<Items>,
    url: Mutex<Option<String>>,
    /// The clipboard with the copied URL. On some systems the text is lost when this value is dropped.
    clipboard: Mutex<Option<arboard::Clipboard>>,
}

impl Tray {
    /// Makes the icon. If the system's tray library is missing, making it panics; the panic is caught here.
    pub(crate) fn make(app: &AppHandle) -> Self {
        let made = catch_unwind(AssertUnwindSafe(|| make(app)));
        let items = match made {
            Ok(Ok(items)) => Some(items),
            Ok(Err(error)) => {
                tracing::warn!(%error, "there is no tray icon");
                None
            }
            Err(_panic) => {
                tracing::warn!(
                    "there is no tray icon: the library for it is missing (libayatana-appindicator3)"
                );
                None
            }
        };
        Self { items, ..Self::default() }
    }

    /// Returns whether the tray can show a hidden window again, at this moment.
    pub(crate) fn is_seen(&self) -> bool {
        self.items.is_some() && has_host()
    }

    /// Shows the core's state in the menu.
    pub(crate) fn tell(&self, state: &State) {
        let Some(items) = &self.items else { return };
        let url = state.capture_url().map(str::to_owned);
        let told = items.line.set_text(state.line()).and_then(|()| items.copy.set_enabled(url.is_some()));
        *self.url.lock().unwrap_or_else(PoisonError::into_inner) = url;
        if let Err(error) = told {
            tracing::warn!(%error, "the tray's menu can't be changed");
        }
    }

    fn copy(&self) {
        let Some(url) = self.url.lock().unwrap_or_else(PoisonError::into_inner).clone() else { return };
        let mut kept = self.clipboard.lock().unwrap_or_else(PoisonError::into_inner);
        let copied = arboard::Clipboard::new().and_then(|clipboard| kept.insert(clipboard).set_text(url));
        if let Err(error) = copied {
            tracing::warn!(%error, "the URL can't be copied");
        }
    }
}

fn make(app: &AppHandle) -> tauri::Result<Items> {
    let open = MenuItemBuilder::with_id("open", "Open Hookmitt").build(app)?;
    let line = MenuItemBuilder::with_id("line", State::Starting.line()).enabled(false).build(app)?;
    let copy = MenuItemBuilder::with_id("copy", "Copy capture URL").enabled(false).build(app)?;
    let end = MenuItemBuilder::with_id("quit", "Quit").build(app)?;
    let menu = MenuBuilder::new(app).items(&[&open, &line, &copy]).separator().item(&end).build()?;
    let _kept_by_tauri: TrayIcon = TrayIconBuilder::with_id("tray")
        .icon(ICON)
        .tooltip("Hookmitt")
        .menu(&menu)
        .on_menu_event(chosen)
        .build(app)?;
    Ok(Items { line, copy })
}

fn chosen(app: &AppHandle, event: MenuEvent) {
    match event.id().as_ref() {
        "open" => window::show(app),
        "copy" => app.state::<Tray>().copy(),
        "quit" => quit(app),
        _ => {}
    }
}

/// Returns whether the desktop has a place for tray icons. On Linux its owner is registered on the session bus.
#[cfg(target_os = "linux")]
fn has_host() -> bool {
    use gtk::{gio, glib::variant::ToVariant as _};
    const PATIENCE_MS: i32 = 500;
    let Ok(bus) = gio::bus_get_sync(gio::BusType::Session, gio::Cancellable::NONE) else { return false };
    let answer = bus.call_sync(
        Some("org.freedesktop.DBus"),
        "/org/freedesktop/DBus",
        "org.freedesktop.DBus",
        "NameHasOwner",
        Some(&("org.kde.StatusNotifierWatcher",).to_variant()),
        None,
        gio::DBusCallFlags::NONE,
        PATIENCE_MS,
        gio::Cancellable::NONE,
    );
    answer.is_ok_and(|answer| answer.get::<(bool,)>() == Some((true,)))
}

#[cfg(not(target_os = "linux"))]
fn has_host() -> bool {
    true
}
