//! The window as a process: how it starts, what it shares on a machine, how it ends.

use std::{collections::HashSet, path::Path, sync::Arc};

use hookmitt_stories::{
    Answer, Desk, LocalServer, Process, Ran, Stored, binary, descendants, eventually, hookmitt, post,
};
use serde_json::Value;
use tempfile::TempDir;
use tokio::{process::Command, sync::Notify};

use super::listen::{folder, run};

/// The window's title.
pub(crate) const TITLE: &str = "Hookmitt";

/// The stored state of a delivery that got a 2xx.
const COMPLETED: i64 = 2;

/// A desktop with a data directory, for the duration of a story.
pub(crate) struct Scene {
    pub(crate) desk: Desk,
    pub(crate) folder: TempDir,
}

impl Scene {
    /// Returns `None` if this machine has no display.
    pub(crate) async fn start() -> Option<Self> {
        Some(Self { desk: Desk::start().await?, folder: folder() })
    }

    /// Opens the window and waits until it is visible and captures.
    pub(crate) async fn opened(&self) -> Process {
        let mut process = Process::start(self.desk.window(self.folder.path()));
        process.capture().await;
        self.seen().await;
        process
    }

    /// Waits until the window is visible.
    pub(crate) async fn seen(&self) -> u32 {
        let screen = self.desk.screen();
        eventually("the window is to be seen", async || screen.window(TITLE)).await
    }

    /// Waits until the window is no longer visible.
    pub(crate) async fn unseen(&self) {
        let screen = self.desk.screen();
        eventually("the window is gone", async || screen.window(TITLE).is_none().then_some(())).await;
    }

    /// Closes the window with the button in its frame.
    pub(crate) async fn close(&self) {
        let window = self.seen().await;
        self.desk.screen().close(window);
    }

    /// Waits until other processes can attach to the running one.
    async fn attachable(&self) {
        eventually("commands attach", async || {
            self.hookmitt(&["doctor"]).await.text().contains("a running hookmitt").then_some(())
        })
        .await;
    }

    /// Runs a command on the same data directory.
    pub(crate) async fn hookmitt(&self, arguments: &[&str]) -> Ran {
        run(self.folder.path(), arguments).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_window_opens_and_nothing_listens_but_the_capture_port() {
    let Some(scene) = Scene::start().await else { return };
    let mut window = scene.opened().await;
    let capture = window.capture().await;
    assert_eq!(listening(window.id()), HashSet::from([capture.port()]));
    assert!(!scene.folder.path().join("token").exists(), "there is no API port to guard");

    // The command attaches through the socket.
    assert_eq!(post(capture, "/demo", &[], b"{}").await.status, 202);
    assert_eq!(scene.hookmitt(&["events", "--json"]).await.exits(0).json().len(), 1);
    let said = scene.hookmitt(&["doctor"]).await.text();
    assert!(said.contains("a running hookmitt"), "{said}");
    assert_eq!(window.stop().await.code, 0);
    scene.unseen().await;
    scene.desk.end().await;
}

/// The process that shows the page starts after the window has cleared the variable, and inherits the rest.
#[tokio::test(flavor = "multi_thread")]
async fn threat_10_the_variable_that_would_let_others_drive_the_window_is_cleared_at_its_start() {
    for (flag, is_kept) in [("0", false), ("1", true)] {
        let Some(scene) = Scene::start().await else { return };
        let mut command = scene.desk.window(scene.folder.path());
        command.env("TAURI_WEBVIEW_AUTOMATION", "true").env("HOOKMITT_TEST_AUTOMATION", flag);
        let mut window = Process::start(command);
        window.capture().await;
        scene.seen().await;
        let environment = eventually("something shows the page", async || {
            descendants(window.id()).into_iter().find_map(|pid| {
                let program = std::fs::read_link(format!("/proc/{pid}/exe")).ok()?;
                let shows = program.to_string_lossy().contains("WebKitWebProcess");
                shows.then(|| std::fs::read(format!("/proc/{pid}/environ")).ok()).flatten()
            })
        })
        .await;
        let is_there = String::from_utf8_lossy(&environment).contains("TAURI_WEBVIEW_AUTOMATION=");
        assert_eq!(is_there, is_kept, "HOOKMITT_TEST_AUTOMATION={flag}");
        window.stop().await;
        scene.desk.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_start_brings_the_first_ones_window_to_the_front_and_ends() {
    let Some(scene) = Scene::start().await else { return };
    let first = scene.opened().await;
    let (screen, window) = (scene.desk.screen(), scene.seen().await);
    let other = screen.look_elsewhere();
    assert!(screen.has_focus(other) && !screen.has_focus(window));

    let second = Ran::of(scene.desk.window(scene.folder.path())).await;
    assert_eq!(second.code, 0, "{}", second.err);
    eventually("the first one's window has the focus", async || screen.has_focus(window).then_some(())).await;
    assert_eq!(first.stop().await.code, 0);

    // Another data directory means another Hookmitt.
    let (mut first, elsewhere) = (scene.opened().await, folder());
    let mut second = Process::start(scene.desk.window(elsewhere.path()));
    assert_ne!(first.capture().await, second.capture().await);
    for window in [first, second] {
        assert_eq!(window.stop().await.code, 0);
    }
    scene.desk.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_ends_it_when_what_is_in_flight_is_finished() {
    for signal in ["TERM", "INT"] {
        let Some(scene) = Scene::start().await else { return };
        let (mut window, server, answer) =
            (scene.opened().await, LocalServer::start().await, Arc::new(Notify::new()));
        server.will([Answer::When(Arc::clone(&answer))]);
        let capture = window.capture().await;
        post(capture, "/demo", &[], b"first").await;
        scene.hookmitt(&["target", "add", "demo", &server.url()]).await.exits(0);
        post(capture, "/demo", &[], b"second").await;
        server.wait_for(1).await;

        window.signal(signal).await;
        scene.unseen().await;
        // A start in the meantime opens a window.
        let again = scene.opened().await;
        answer.notify_one();
        let ran = window.end().await;
        assert_eq!(ran.code, 0, "{signal}: {}", ran.err);
        let deliveries = Stored::open(scene.folder.path()).deliveries();
        assert_eq!(deliveries.into_values().collect::<Vec<_>>(), [[COMPLETED]], "{signal}");
        assert_eq!(again.stop().await.code, 0);
        scene.desk.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_without_a_tray_finishes_and_ends() {
    let Some(scene) = Scene::start().await else { return };
    let window = scene.opened().await;
    scene.close().await;
    assert_eq!(window.end().await.code, 0);
    scene.desk.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn it_starts_without_a_bus_and_then_joins_the_hookmitt_that_runs() {
    let Some(scene) = Scene::start().await else { return };
    let without = || {
        let mut command = scene.desk.window(scene.folder.path());
        command.env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent");
        Process::start(command)
    };
    let mut first = without();
    let capture = first.capture().await;
    scene.seen().await;
    scene.attachable().await;
    // The two processes know of each other only through the socket in their folder.
    let mut second = without();
    assert_eq!(second.capture().await, capture);
    assert_eq!(listening(second.id()), HashSet::new());
    assert_eq!(first.stop().await.code, 0);

    // The remaining process takes over.
    let port = eventually("the second one catches", async || listening(second.id()).into_iter().next()).await;
    second.says(&format!(":{port}")).await;
    let capture = second.capture().await;
    assert_eq!(post(capture, "/demo", &[], b"{}").await.status, 202);
    scene.close().await;
    assert_eq!(second.end().await.code, 0);
    scene.desk.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_display_it_serves() {
    for display in [None, Some(":4711")] {
        let folder = folder();
        let mut command = Command::new(binary());
        command.args(["--port", "0", "--data-dir"]).arg(folder.path()).env("HOOKMITT_KEYRING", "off");
        command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").env_remove("HOOKMITT_TOKEN");
        command.envs(display.map(|display| ("DISPLAY", display)));
        let mut process = Process::start(command);
        let capture = process.capture().await;
        assert_eq!(post(capture, "/demo", &[], b"{}").await.status, 202);
        assert!(process.err().contains("no display found"), "{}", process.err());
        assert_eq!(run(folder.path(), &["events", "--json"]).await.exits(0).json().len(), 1);
        process.signal("TERM").await;
        assert_eq!(process.end().await.code, 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_windows_size_is_remembered_and_its_files_are_the_persons_own() {
    let Some(scene) = Scene::start().await else { return };
    let (screen, size) = (scene.desk.screen(), (1000, 700));
    let window = scene.opened().await;
    screen.resize(scene.seen().await, size.0.into(), size.1.into());
    eventually("it has that size", async || {
        let now = screen.window(TITLE).map(|window| screen.size(window));
        (now == Some(size)).then_some(())
    })
    .await;
    assert_eq!(window.stop().await.code, 0);

    let window = scene.opened().await;
    assert_eq!(screen.size(scene.seen().await), size);
    assert_eq!(window.stop().await.code, 0);
    assert_eq!(mode(scene.folder.path()), 0o700);
    scene.desk.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_data_directory_that_is_served_is_joined_and_taken_over() {
    let Some(scene) = Scene::start().await else { return };
    let mut serve = hookmitt(scene.folder.path());
    serve.args(["serve", "--no-open", "--port", "0", "--api-port", "0"]);
    let mut serve = Process::start(serve);
    let capture = serve.capture().await;
    scene.attachable().await;
    let mut window = scene.opened().await;
    assert_eq!(window.capture().await, capture);
    assert_eq!(serve.stop().await.code, 0);
    eventually("the window catches", async || (listening(window.id()).len() == 1).then_some(())).await;
    let found: Vec<Value> = scene.hookmitt(&["events", "--json"]).await.exits(0).json();
    assert_eq!(found, Vec::<Value>::new());
    assert_eq!(window.stop().await.code, 0);
    scene.desk.end().await;
}

/// The TCP ports that a process and its children listen on.
fn listening(pid: u32) -> HashSet<u16> {
    let of_us: HashSet<_> = family(pid).iter().flat_map(|pid| sockets(*pid)).collect();
    let tables =
        ["/proc/net/tcp", "/proc/net/tcp6"].map(|table| std::fs::read_to_string(table).unwrap_or_default());
    let port = |line: &str| {
        let fields: Vec<_> = line.split_whitespace().collect();
        let (address, state, inode) = (fields.get(1)?, fields.get(3)?, fields.get(9)?);
        let ours = *state == "0A" && of_us.contains(&format!("socket:[{inode}]"));
        ours.then(|| u16::from_str_radix(address.rsplit(':').next()?, 16).ok()).flatten()
    };
    tables.iter().flat_map(|table| table.lines()).filter_map(port).collect()
}

fn sockets(pid: u32) -> Vec<String> {
    let entries = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let links = entries.filter_map(|entry| std::fs::read_link(entry.path()).ok());
    links.map(|link| link.to_string_lossy().into_owned()).filter(|link| link.starts_with("socket:")).collect()
}

fn family(pid: u32) -> Vec<u32> {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let below = children.split_whitespace().filter_map(|child| child.parse().ok()).flat_map(family);
    std::iter::once(pid).chain(below).collect()
}

fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().expect("it is there").permissions().mode() & 0o777
}
