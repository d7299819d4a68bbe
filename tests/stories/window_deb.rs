//! The package: installed, started and removed; nothing is left.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use hookmitt_stories::{Process, lacking, post, say};
use tempfile::TempDir;

use super::{listen::folder, window::Scene};

/// The package's name.
const NAME: &str = "hookmitt";

/// Where the package is installed: in the system or, without the rights for that, in a folder.
enum Place {
    System(Vec<PathBuf>),
    Folder(TempDir),
}

impl Place {
    /// Installs the package, but never over one that a user has installed.
    fn install(package: &Path) -> Self {
        let folder = folder();
        if rustix::process::geteuid().is_root() && !is_installed() {
            dpkg(&[Path::new("-i"), package]);
            return Self::System(files());
        }
        say("dpkg -x instead of dpkg -i: not root, or hookmitt is installed already");
        dpkg(&[Path::new("-x"), package, folder.path()]);
        Self::Folder(folder)
    }

    fn path(&self, of: &str) -> PathBuf {
        match self {
            Self::System(_) => Path::new("/").join(of),
            Self::Folder(folder) => folder.path().join(of),
        }
    }

    /// Removes the package; returns the files that are left.
    fn remove(mut self) -> Vec<PathBuf> {
        let Self::System(files) = &mut self else { return Vec::new() };
        let files = std::mem::take(files);
        drop(self);
        files.into_iter().filter(|file| file.exists()).collect()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if matches!(self, Self::System(_)) {
            dpkg(&["--purge", NAME].map(Path::new));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_package_installs_a_window_that_starts_and_leaves_nothing_behind() {
    let Some(package) = package() else { return };
    let Some(scene) = Scene::start().await else { return };
    let place = tokio::task::spawn_blocking(move || Place::install(&package)).await.expect("it is installed");
    let entry =
        std::fs::read_to_string(place.path("usr/share/applications/Hookmitt.desktop")).expect("an entry");
    assert!(entry.contains("Exec=hookmitt-desktop") && entry.contains("Icon=hookmitt-desktop"), "{entry}");

    let mut command = tokio::process::Command::new(place.path("usr/bin/hookmitt-desktop"));
    command.args(["--port", "0"]);
    scene.desk.place(&mut command, scene.folder.path());
    let mut window = Process::start(command);
    let capture = window.capture().await;
    scene.seen().await;
    assert_eq!(post(capture, "/demo", &[], b"{}").await.status, 202);
    assert_eq!(window.stop().await.code, 0);

    let stayed = tokio::task::spawn_blocking(|| place.remove()).await.expect("it is removed");
    assert_eq!(stayed, Vec::<PathBuf>::new());
    scene.desk.end().await;
}

/// Returns the package built from these sources: `HOOKMITT_DEB`, else the newest one near this binary.
fn package() -> Option<PathBuf> {
    if let Some(path) = std::env::var_os("HOOKMITT_DEB") {
        return Some(path.into());
    }
    let here = std::env::current_exe().expect("this binary's path");
    let folder = here.parent().and_then(Path::parent).expect("a target folder").join("bundle/deb");
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let packages = files.filter(|path| path.extension().is_some_and(|ending| ending == "deb"));
    let newest = packages.max_by_key(|path| path.metadata().and_then(|data| data.modified()).ok());
    if newest.is_none() {
        lacking("the package of the window", "make test builds it");
    }
    newest
}

fn is_installed() -> bool {
    Command::new("dpkg").args(["-s", NAME]).output().expect("dpkg is there").status.success()
}

/// Returns the package's own files. Folders are left out, because they may belong to other packages too.
fn files() -> Vec<PathBuf> {
    let listed = Command::new("dpkg").args(["-L", NAME]).output().expect("dpkg is there");
    let text = String::from_utf8(listed.stdout).expect("text");
    text.lines().map(PathBuf::from).filter(|path| path.is_file()).collect()
}

fn dpkg(arguments: &[&Path]) {
    let done = Command::new("dpkg").args(arguments).output().expect("dpkg is there");
    assert!(done.status.success(), "dpkg {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
}
