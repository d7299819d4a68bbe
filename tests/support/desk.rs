//! A desktop of its own: a virtual display, and a session bus.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::Stdio,
};

use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
};

use crate::{Screen, lacking, wait::within};

/// The display and the bus last until standard input is closed. Without `-noreset`, the display would reset whenever
/// its last client leaves, and reject any client that connects at that moment.
const SESSION: &str = r#"
set -eu
mkfifo "$HOME/number"
Xvfb -displayfd 3 -screen 0 1280x800x24 -noreset -nolisten tcp 3>"$HOME/number" >"$HOME/display.log" 2>&1 &
display=$!
trap 'kill "$display"; wait "$display" || true' EXIT
read -r number <"$HOME/number"
echo ":$number"
echo "$DBUS_SESSION_BUS_ADDRESS"
cat >/dev/null
"#;

/// The programs that are needed, each with its Debian package.
const PROGRAMS: [(&str, &str); 3] =
    [("Xvfb", "xvfb"), ("dbus-run-session", "dbus"), ("WebKitWebDriver", "webkit2gtk-driver")];

/// A desktop with its own home folder. It ends when dropped.
pub struct Desk {
    home: TempDir,
    display: String,
    bus: String,
    path: OsString,
    child: Child,
}

impl Desk {
    /// Starts a desktop. If a program is missing, it records a skip and returns `None`; on Debian and in CI it panics.
    pub async fn start() -> Option<Self> {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        for (program, package) in PROGRAMS {
            if !std::env::split_paths(&folders).any(|folder| folder.join(program).exists()) {
                lacking(program, &format!("apt-get install -y {package}"));
                return None;
            }
        }
        let home = tempfile::tempdir().expect("a temporary folder");
        let mut builder = std::fs::DirBuilder::new();
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(home.path().join("run")).expect("a folder");
        let noise = std::fs::File::create(home.path().join("bus.log")).expect("a file");
        let mut command = Command::new("dbus-run-session");
        command.args(["--", "bash", "-c", SESSION]).envs(folders_of(home.path()));
        command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(noise);
        let mut child = command.spawn().expect("dbus-run-session starts");
        let mut lines = BufReader::new(child.stdout.take().expect("stdout is piped")).lines();
        let mut line =
            async || within("the desktop is there", lines.next_line()).await.expect("text").expect("a line");
        let (display, bus) = (line().await, line().await);
        Some(Self { home, display, bus, path: folders, child })
    }

    /// Returns the session bus's address.
    pub fn bus(&self) -> &str {
        &self.bus
    }

    /// Returns the desktop's home folder.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// Puts a folder first in the `PATH` of later commands.
    pub fn finds_programs_first_in(&mut self, folder: &Path) {
        let after: Vec<_> = std::env::split_paths(&self.path).collect();
        let all = std::iter::once(folder.to_owned()).chain(after);
        self.path = std::env::join_paths(all).expect("folders without a colon");
    }

    /// Connects to the display.
    pub fn screen(&self) -> Screen {
        Screen::of(&self.display)
    }

    /// Returns the command that opens the window on this desktop, with a free capture port.
    pub fn window(&self, data_dir: &Path) -> Command {
        let mut command = Command::new(binary());
        command.args(["--port", "0"]);
        self.place(&mut command, data_dir);
        command
    }

    /// Makes a command run on this desktop, and removes what the real desktop has set in its environment.
    pub fn place(&self, command: &mut Command, data_dir: &Path) {
        command.envs(folders_of(self.home.path()));
        command.env("DISPLAY", &self.display).env("DBUS_SESSION_BUS_ADDRESS", &self.bus);
        command.env("PATH", &self.path);
        command.env("HOOKMITT_DATA_DIR", data_dir).env("HOOKMITT_KEYRING", "off");
        command.env_remove("WAYLAND_DISPLAY").env_remove("HOOKMITT_TOKEN");
        // No accessibility bus, portal or graphics card: the stories are not about them.
        command.envs([
            ("NO_AT_BRIDGE", "1"),
            ("GTK_USE_PORTAL", "0"),
            ("WEBKIT_DISABLE_DMABUF_RENDERER", "1"),
        ]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    }

    /// Ends the display and the bus, and waits until they are gone.
    pub async fn end(mut self) {
        drop(self.child.stdin.take());
        within("the desktop has ended", self.child.wait()).await.expect("its own child");
    }
}

fn folders_of(home: &Path) -> impl Iterator<Item = (&'static str, OsString)> {
    [
        ("HOME", home.to_owned()),
        ("XDG_DATA_HOME", home.join("share")),
        ("XDG_CONFIG_HOME", home.join("config")),
        ("XDG_CACHE_HOME", home.join("cache")),
        ("XDG_RUNTIME_DIR", home.join("run")),
    ]
    .map(|(name, path)| (name, path.into_os_string()))
    .into_iter()
}

/// Returns the window's binary: the one that `HOOKMITT_DESKTOP_BIN` names, otherwise the one in the target folder that
/// this test binary is in.
pub fn binary() -> PathBuf {
    if let Some(path) = std::env::var_os("HOOKMITT_DESKTOP_BIN") {
        return path.into();
    }
    let here = std::env::current_exe().expect("this binary's path");
    let folder = here.parent().and_then(Path::parent).expect("a target folder");
    let path = folder.join("hookmitt-desktop");
    assert!(
        path.exists(),
        "{} is missing: run `cargo build -p hookmitt-desktop` or `make test`",
        path.display()
    );
    path
}
