//! The only window. It stays hidden until there is something to see, and shows no page but our own.

use std::{
    path::Path,
    sync::{Arc, OnceLock},
    time::Duration,
};

use tauri::{
    App, AppHandle, Manager as _, Theme, Url, WebviewWindow, WebviewWindowBuilder,
    webview::{Color, NewWindowResponse, PageLoadEvent},
};

use crate::{external, live::Streams, timings};

/// The window's label.
pub(crate) const MAIN: &str = "main";

/// How long the window stays hidden at most. If the page has not loaded by then, it is shown as it is.
const HIDDEN: Duration = Duration::from_millis(1500);

/// The background until the page's own styles are loaded: dark, then light.
const GROUND: (Color, Color) = (Color(0x12, 0x13, 0x16, 0xff), Color(0xff, 0xff, 0xff, 0xff));

/// Makes the window, still hidden. The webview keeps its files in the data directory.
pub(crate) fn make(app: &App, data_dir: &Path) -> tauri::Result<WebviewWindow> {
    let config = app.config().app.windows.iter().find(|window| window.label == MAIN);
    let config = config.ok_or(tauri::Error::WindowNotFound)?;
    // Only UI development sets this URL: the page then comes from Vite.
    let served = app.config().build.dev_url.clone();
    let window = WebviewWindowBuilder::from_config(app, config)?
        .data_directory(data_dir.join("webview"))
        .on_navigation(move |url| is_ours(url, served.as_ref()))
        .on_new_window(|url, _| {
            external::open(&url);
            NewWindowResponse::Deny
        })
        .on_page_load(|window, load| {
            let app = window.app_handle();
            match load.event() {
                PageLoadEvent::Started => app.state::<Arc<Streams>>().end_all(),
                PageLoadEvent::Finished => app.state::<Shown>().once(|| show(app)),
            }
        })
        .build()?;
    let ground = if window.theme().is_ok_and(|theme| theme == Theme::Light) { GROUND.1 } else { GROUND.0 };
    window.set_background_color(Some(ground))?;
    timings::say_when_shown(&window);
    let late = window.app_handle().clone();
    tauri::async_runtime::spawn(async move {
        tokio::time::sleep(HIDDEN).await;
        late.state::<Shown>().once(|| show(&late));
    });
    Ok(window)
}

/// Returns whether the URL belongs to the built-in page, or to Vite's in UI development. Links to other sites ask for a
/// new window, and open in the browser.
fn is_ours(url: &Url, served: Option<&Url>) -> bool {
    let built_in = match url.scheme() {
        "tauri" => url.host_str() == Some("localhost"),
        "http" | "https" => url.host_str() == Some("tauri.localhost"),
        _ => false,
    };
    built_in || served.is_some_and(|served| served.origin() == url.origin())
}

/// Whether the window has been shown for the first time.
#[derive(Debug, Default)]
pub(crate) struct Shown(OnceLock<()>);

impl Shown {
    fn once(&self, show: impl FnOnce()) {
        self.0.get_or_init(show);
    }
}

/// Shows the window and puts it in front of other windows.
pub(crate) fn show(app: &AppHandle) {
    let Some(window) = app.get_webview_window(MAIN) else { return };
    let shown = window.show().and_then(|()| window.unminimize()).and_then(|()| window.set_focus());
    if let Err(error) = shown {
        tracing::warn!(%error, "the window can't be shown");
    }
}

/// Hides the window. The page keeps running.
pub(crate) fn hide(app: &AppHandle) {
    if let Some(Err(error)) = app.get_webview_window(MAIN).map(|window| window.hide()) {
        tracing::warn!(%error, "the window can't be hidden");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_page_is_ever_shown() {
        let goes = |url: &str| is_ours(&Url::parse(url).unwrap(), None);
        assert!(goes("tauri://localhost/#/events") && goes("http://tauri.localhost/"));
        for url in [
            "https://example.com/",
            "http://localhost:4400/",
            "tauri://elsewhere/",
            "file:///etc/passwd",
            "data:text/html,x",
            "javascript:alert(1)",
            "about:blank",
        ] {
            assert!(!goes(url), "{url}");
        }
        let served = Url::parse("http://127.0.0.1:1420").unwrap();
        let goes = |url: &str| is_ours(&Url::parse(url).unwrap(), Some(&served));
        assert!(goes("http://127.0.0.1:1420/src/main.ts") && !goes("http://127.0.0.1:4400/demo"));
    }
}
