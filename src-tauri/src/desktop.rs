//! The window's application: its parts, and how it reacts to events.

use std::{path::Path, process::ExitCode, sync::Arc};

use serde::Serialize;
use tauri::{
    App, AppHandle, Builder, Emitter as _, Manager as _, RunEvent, WindowEvent, generate_context,
    generate_handler,
};
use tauri_plugin_window_state::StateFlags;

use crate::{
    args::Args,
    bridge, closing,
    core::Core,
    download,
    live::{self, Streams},
    quit::{self, Ending, quit},
    say::say,
    settings::{OnClose, Settings},
    state::State,
    tray::Tray,
    window,
};

/// The event that carries the core's state to the page.
const STATE: &str = "desktop-state";

/// Opens the window and runs until Hookmitt quits.
pub(crate) fn run(args: &Args, data_dir: &Path) -> ExitCode {
    let built = make_folder(data_dir).map_err(tauri::Error::Io).and_then(|()| build(args, data_dir));
    match built {
        Ok(app) => {
            let code = app.run_return(happened);
            u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from)
        }
        Err(error) => {
            say(format_args!("error: the window can't be opened: {error}"));
            ExitCode::from(3)
        }
    }
}

/// Creates the data directory for its owner only. The webview would create it readable for everybody (Threat 8).
fn make_folder(data_dir: &Path) -> std::io::Result<()> {
    let mut folder = std::fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut folder, 0o700);
    folder.recursive(true).create(data_dir)
}

fn build(args: &Args, data_dir: &Path) -> tauri::Result<App> {
    let (folder, given) = (data_dir.to_owned(), args.port);
    let settings = Settings::read(data_dir);
    Builder::default()
        .plugin(single_instance(data_dir))
        .plugin(window_state(data_dir))
        .manage(Core::new(data_dir.to_owned()))
        .manage(settings)
        .manage(Arc::<Streams>::default())
        .manage(window::Shown::default())
        .manage(closing::Question::default())
        .manage(Ending::default())
        .invoke_handler(generate_handler![
            bridge::api,
            live::live,
            live::live_stop,
            closing::close_answer,
            closing::set_on_close,
            download::save_file,
            desktop_info,
            desktop_state,
            desktop_start,
        ])
        .setup(move |app| {
            set_up(app, &folder, given)?;
            Ok(())
        })
        .build(generate_context!())
}

/// Starts the core while the page loads, and makes the window and the tray icon.
fn set_up(app: &App, data_dir: &Path, port: Option<u16>) -> tauri::Result<()> {
    let handle = app.handle();
    let (core, port) = (Arc::clone(&app.state::<Arc<Core>>()), app.state::<Settings>().port(port));
    tauri::async_runtime::spawn(async move { core.start(Some(port)).await });
    window::make(app, data_dir)?;
    app.manage(Tray::make(handle));
    quit::on_signals(handle);
    let (app, mut state) = (handle.clone(), handle.state::<Arc<Core>>().watch());
    tauri::async_runtime::spawn(async move {
        loop {
            let now = state.borrow_and_update().clone();
            if let State::Running { capture, .. } = &now {
                say(format_args!("  capture  {}", capture.join("  ")));
            }
            app.state::<Tray>().tell(&now);
            if app.emit(STATE, now).is_err() || state.changed().await.is_err() {
                return;
            }
        }
    });
    Ok(())
}

fn happened(app: &AppHandle, event: RunEvent) {
    match event {
        RunEvent::WindowEvent { event: WindowEvent::CloseRequested { api, .. }, .. } => {
            api.prevent_close();
            closing::closed(app);
        }
        // The operating system's own "quit". Ours carries an exit code.
        RunEvent::ExitRequested { code: None, api, .. } => {
            api.prevent_exit();
            quit(app);
        }
        #[cfg(target_os = "macos")]
        RunEvent::Reopen { .. } => window::show(app),
        _ => {}
    }
}

/// Returns the plugin that makes a second start on the same data directory show the first one's window, and exit.
fn single_instance(data_dir: &Path) -> tauri::plugin::TauriPlugin<tauri::Wry> {
    use std::hash::{DefaultHasher, Hash as _, Hasher as _};
    let mut hasher = DefaultHasher::new();
    data_dir.hash(&mut hasher);
    tauri_plugin_single_instance::Builder::new()
        .dbus_id(format!("dev.hookmitt.desktop.at{:016x}", hasher.finish()))
        .callback(|app, _, _| window::show(app))
        .build()
}

/// Returns the plugin that remembers the window's position and size.
fn window_state(data_dir: &Path) -> tauri::plugin::TauriPlugin<tauri::Wry> {
    tauri_plugin_window_state::Builder::new()
        .with_filename(data_dir.join("window-state.json").to_string_lossy())
        .with_state_flags(
            StateFlags::SIZE | StateFlags::POSITION | StateFlags::MAXIMIZED | StateFlags::FULLSCREEN,
        )
        .build()
}

/// What the page wants to know about the window's process.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Info {
    version: &'static str,
    platform: &'static str,
    tray: bool,
    data_dir: String,
    on_close: Option<OnClose>,
}

#[tauri::command]
async fn desktop_info(app: AppHandle, core: tauri::State<'_, Arc<Core>>) -> Result<Info, ()> {
    Ok(Info {
        version: env!("CARGO_PKG_VERSION"),
        platform: std::env::consts::OS,
        tray: app.state::<Tray>().is_seen(),
        data_dir: core.data_dir().to_string_lossy().into_owned(),
        on_close: app.state::<Settings>().now().on_close,
    })
}

#[tauri::command]
fn desktop_state(core: tauri::State<'_, Arc<Core>>) -> State {
    core.state()
}

/// Starts the core again after a failure, on another port if one is given. That port is remembered if the core then
/// runs.
#[tauri::command]
async fn desktop_start(
    port: Option<u16>,
    app: AppHandle,
    core: tauri::State<'_, Arc<Core>>,
) -> Result<(), ()> {
    core.start(port).await;
    if let (Some(_), State::Running { .. }) = (port, core.state()) {
        app.state::<Settings>().change(|now| now.port = port);
    }
    Ok(())
}
