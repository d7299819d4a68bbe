//! Secrets in a real keychain: gnome-keyring, on a D-Bus of its own.
#![cfg(unix)]

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    process::Stdio,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hookmitt_stories::{Process, Ran, eventually, hookmitt, lacking, post};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
};

use super::listen::{folder, github};

/// The password is empty: only its line end is written. The daemon logs to a file, because it would keep our pipe open.
const SESSION: &str = r#"
set -eu
printf '\n' | gnome-keyring-daemon --unlock --foreground --components=secrets >"$HOME/daemon.log" 2>&1 &
daemon=$!
trap 'kill "$daemon"; wait "$daemon" || true' EXIT
until dbus-send --session --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.NameHasOwner \
    string:org.freedesktop.secrets | grep -q 'boolean true'; do kill -0 "$daemon"; done
echo "$DBUS_SESSION_BUS_ADDRESS"
cat >/dev/null
"#;

/// A session with an unlocked keychain; the session ends when this is dropped.
struct Session {
    home: TempDir,
    address: String,
    child: Child,
}

impl Session {
    /// Returns `None`, noted as a skip, if the machine has no such keychain; on Debian that is a failure.
    async fn start() -> Option<Self> {
        for (program, package) in
            [("dbus-run-session", "dbus"), ("dbus-send", "dbus"), ("gnome-keyring-daemon", "gnome-keyring")]
        {
            let there =
                Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
            if there.await.is_err() {
                lacking(program, &format!("apt-get install -y {package}"));
                return None;
            }
        }
        let home = folder();
        let mut builder = std::fs::DirBuilder::new();
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(home.path().join("run")).expect("a folder");
        let noise = std::fs::File::create(home.path().join("bus.log")).expect("a file");
        let mut command = Command::new("dbus-run-session");
        command.args(["--", "bash", "-c", SESSION]).envs(variables(home.path()));
        command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").env_remove("GNOME_KEYRING_CONTROL");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(noise);
        let mut child = command.spawn().expect("dbus-run-session starts");
        let mut lines = BufReader::new(child.stdout.take().expect("stdout is piped")).lines();
        let first = tokio::time::timeout(std::time::Duration::from_secs(60), lines.next_line()).await;
        let address =
            first.expect("the keychain is there within a minute").expect("text").expect("an address");
        Some(Self { home, address, child })
    }

    /// Returns a `hookmitt` command that runs in this session with its keychain.
    fn command(&self, data_dir: &Path, arguments: &[&str]) -> Command {
        let mut command = hookmitt(data_dir);
        command.args(arguments).env_remove("HOOKMITT_KEYRING").envs(variables(self.home.path()));
        command
            .env_remove("DISPLAY")
            .env_remove("WAYLAND_DISPLAY")
            .env("DBUS_SESSION_BUS_ADDRESS", &self.address);
        command.env("HOOKMITT_LOG", "trace"); // even a log of everything contains no secret
        command
    }

    fn serve(&self, data_dir: &Path) -> Process {
        Process::start(self.command(data_dir, &["serve", "--no-open", "--port", "0", "--api-port", "0"]))
    }

    async fn set_secret(&self, data_dir: &Path, source: &str, secret: &str) -> Ran {
        Ran::with_input(self.command(data_dir, &["secret", "set", source, "--create"]), secret.as_bytes())
            .await
            .exits(0)
    }

    /// Locks the keychain.
    async fn lock(&self) {
        let mut send = Command::new("dbus-send");
        send.args([
            "--session",
            "--print-reply",
            "--dest=org.freedesktop.secrets",
            "/org/freedesktop/secrets",
        ]);
        send.args([
            "org.freedesktop.Secret.Service.Lock",
            "array:objpath:/org/freedesktop/secrets/aliases/default",
        ]);
        let ran = Ran::of({
            send.env("DBUS_SESSION_BUS_ADDRESS", &self.address);
            send
        });
        let said = ran.await.exits(0).text();
        assert!(said.contains("/org/freedesktop/secrets/"), "nothing was locked: {said}");
    }

    /// Ends the daemon and the bus, and waits until they are gone.
    async fn end(mut self) {
        drop(self.child.stdin.take());
        self.child.wait().await.expect("its own child");
    }
}

fn variables(home: &Path) -> HashMap<&'static str, PathBuf> {
    [("HOME", home.to_owned()), ("XDG_DATA_HOME", home.join("share")), ("XDG_RUNTIME_DIR", home.join("run"))]
        .into()
}

/// The files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// Returns the forms in which a secret could be left behind.
fn forms(secret: &str) -> Vec<Vec<u8>> {
    vec![secret.as_bytes().to_vec(), STANDARD.encode(secret).into_bytes(), hex::encode(secret).into_bytes()]
}

#[track_caller]
fn nowhere(secret: &str, place: &str, bytes: &[u8]) {
    for form in forms(secret) {
        let found = bytes.windows(form.len()).any(|window| window == form);
        assert!(!found, "{place} holds the secret");
    }
}

/// Searches every file except the socket.
fn search(secret: &str, folder: &Path) {
    let names: Vec<_> = files(folder).into_iter().filter(|path| path.is_file()).collect();
    assert!(names.iter().any(|path| path.ends_with("inbox.db")), "{names:?}");
    for path in names {
        nowhere(secret, &path.display().to_string(), &std::fs::read(&path).expect("a file"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_secret_lands_in_the_keychain_and_nowhere_else() {
    let Some(session) = Session::start().await else { return };
    let (folder, secret) = (folder(), "hush-a-very-secret-value");
    let mut serve = session.serve(folder.path());
    let capture = serve.capture().await;
    let set = session.set_secret(folder.path(), "gh", secret).await;
    assert!(set.err.contains("stored in the keychain"), "{}", set.err);
    nowhere(secret, "what `secret set` says", set.err.as_bytes());
    assert_eq!(github(capture, "gh", secret, "d1", "{}").await.status, 200);
    search(secret, folder.path()); // includes the write-ahead log while serving
    let ran = serve.stop().await.exits(0);
    nowhere(secret, "the log", &[ran.err.as_bytes(), &ran.out].concat());

    let mut serve = session.serve(folder.path());
    let capture = serve.capture().await;
    github(capture, "gh", secret, "d2", "{}").await;
    // Nothing waits for a slow keychain: events that came earlier are verified again.
    eventually("both are valid", async || {
        let events = Ran::of(session.command(folder.path(), &["events", "--json"])).await.exits(0).json();
        let verdicts: Vec<_> = events.iter().map(|event| &event["verdict"]).collect();
        (verdicts == ["valid", "valid"]).then_some(())
    })
    .await;
    let list = Ran::of(session.command(folder.path(), &["secret", "list", "--json"])).await.exits(0).json();
    assert_eq!((&list[0]["kind"], &list[0]["readable"]), (&"keychain".into(), &true.into()));
    let ran = serve.stop().await.exits(0);
    nowhere(secret, "the log", &[ran.err.as_bytes(), &ran.out].concat());
    search(secret, folder.path());
    assert!(!folder.path().join("secrets.json").exists());
    session.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn capture_goes_on_while_the_keychain_is_locked() {
    let Some(session) = Session::start().await else { return };
    let folder = folder();
    session.set_secret(folder.path(), "gh", "hush").await;
    session.lock().await;
    let mut serve = session.serve(folder.path());
    let capture = serve.capture().await;
    assert_eq!(github(capture, "gh", "hush", "d1", "{}").await.status, 200);
    assert_eq!(post(capture, "/demo", &[], b"x").await.status, 202);
    let events = Ran::of(session.command(folder.path(), &["events", "--json"])).await.exits(0).json();
    assert_eq!((events.len(), &events[1]["verdict"]), (2, &"no_secret".into()));
    eventually("the doctor knows", async || {
        let doctor = Ran::of(session.command(folder.path(), &["doctor"])).await;
        (doctor.text().contains("locked") && doctor.code == 1).then_some(())
    })
    .await;
    serve.says("warning:").await;
    serve.says("locked").await;
    serve.stop().await.exits(0);
    session.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_keychain_a_private_file_holds_secrets_and_says_so() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = folder();
    let command = |arguments: &[&str]| {
        let mut command = hookmitt(folder.path());
        command.args(arguments).env("GH_SECRET", "from-the-environment");
        command
    };
    let set = Ran::with_input(command(&["secret", "set", "file", "--create"]), b"in-a-file").await.exits(0);
    assert!(set.err.contains("file") && !set.err.contains("in-a-file"), "{}", set.err);
    let file = folder.path().join("secrets.json");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    Ran::of(command(&["secret", "set", "env", "--env", "GH_SECRET", "--create"])).await.exits(0);
    let mut serve = Process::start(command(&["serve", "--no-open", "--port", "0", "--api-port", "0"]));
    let capture = serve.capture().await;
    serve.says("warning:").await;
    serve.says("secrets.json").await;
    for (source, secret) in [("file", "in-a-file"), ("env", "from-the-environment")] {
        github(capture, source, secret, source, "{}").await;
        eventually(&format!("what came to {source} is valid"), async || {
            let show = Ran::of(command(&["show", "last", "--json"])).await.exits(0).json().remove(0);
            (show["verdict"] == "valid").then_some(())
        })
        .await;
    }
    search("from-the-environment", folder.path());
    serve.stop().await.exits(0);
}

#[cfg(target_os = "linux")] // elsewhere there is always a keychain
#[tokio::test(flavor = "multi_thread")]
async fn where_there_is_no_keychain_one_sentence_says_so() {
    let folder = folder();
    let command = |arguments: &[&str]| {
        let mut command = hookmitt(folder.path());
        command.args(arguments).env_remove("HOOKMITT_KEYRING");
        command.env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere/bus");
        command
    };
    for source in ["one", "other"] {
        let set = Ran::with_input(command(&["secret", "set", source, "--create"]), b"hush").await.exits(0);
        assert_eq!(set.err.lines().count(), 1, "{}", set.err);
        assert!(set.err.contains("no keychain is available"), "{}", set.err);
    }
    let mut serve = Process::start(command(&["serve", "--no-open", "--port", "0", "--api-port", "0"]));
    serve.says("try ").await;
    let said = serve.stop().await.exits(0).err;
    let about: Vec<_> = said.lines().filter(|line| line.contains("keychain")).collect();
    assert!(matches!(*about, [one] if one.contains("holds 2 unencrypted secrets")), "{said}");
    assert!(!said.contains("WARN"), "{said}");
}
