//! The icon in the tray, where there is one.

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

/// The mark alone, in a colour that any panel shows.
const ICON: Image<'_> = include_image!("src-tauri/icons/tray.png");

/// What changes in the menu.
struct Items {
    line: MenuItem<Wry>,
    copy: MenuItem<Wry>,
}

/// The tray icon; none where the system can't show any.
#[derive(Default)]
pub(crate) struct Tray {
    items: Option<Items>,
    url: Mutex<Option<String>>,
    /// What was copied: on some systems it lasts as long as this.
    clipboard: Mutex<Option<arboard::Clipboard>>,
}

impl Tray {
    /// Makes the icon. Where the system's library for that is missing, it says so by a panic, which ends here.
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

    /// Whether a hidden window can be called back from the tray, now.
    pub(crate) fn is_seen(&self) -> bool {
        self.items.is_some() && has_host()
    }

    /// Shows how far the core is.
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

/// Whether anything on the desktop shows tray icons: on Linux it says so on the session bus.
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
