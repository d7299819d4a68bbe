//! Tests of a real keychain: gnome-keyring on a separate D-Bus. Each test runs this binary again inside such a session.

use std::{env, fs, process::Command};

use hookmitt_event::Explain as _;
use hookmitt_vault::{Location, StoreChoice, Vault};
use secret_service::{EncryptionType, blocking::SecretService};
use tempfile::TempDir;

use crate::file::{read, slug, vault};

/// The variable that tells this process which test to run inside the session.
const STORY: &str = "HOOKMITT_TEST_STORY";

/// Starts a session whose keychain is unlocked. The line end is its (empty) password.
const UNLOCKED: &str =
    r#"eval "$(printf '\n' | gnome-keyring-daemon --unlock --components=secrets 2>/dev/null)""#;

/// Starts a session that has the service, but no keychain in it.
const EMPTY: &str = "gnome-keyring-daemon --start --components=secrets >/dev/null 2>&1";

/// Runs `story` inside a separate session.
fn inside(name: &str, session: &str, story: fn()) {
    if env::var(STORY).is_ok_and(|told| told == name) {
        return story();
    }
    for (program, package) in [("dbus-run-session", "dbus"), ("gnome-keyring-daemon", "gnome-keyring")] {
        let there = Command::new(program).arg("--version").output().is_ok();
        assert!(there, "{program} is missing: apt-get install -y {package}");
    }
    let home = TempDir::new().expect("a temporary directory");
    let binary = env::current_exe().expect("a test has a binary");
    let script = format!(
        // The daemon ends with the bus, and the bus ends with this shell.
        r#"mkdir -m 700 "$HOME/run"; {session}
        "$0" --exact keychain::{name} --nocapture"#
    );
    let mut command = Command::new("dbus-run-session");
    command.args(["--", "bash", "-c", &script]).arg(&binary).env(STORY, name).env("HOME", home.path());
    command.env("XDG_DATA_HOME", home.path().join("share")).env("XDG_RUNTIME_DIR", home.path().join("run"));
    // With a display, a locked keychain would open a window and wait for somebody.
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").env_remove("GNOME_KEYRING_CONTROL");
    let output = command.output().expect("dbus-run-session starts");
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{name} inside its session: {said}");
}

fn lock_keychain() {
    let service = SecretService::connect(EncryptionType::Plain).expect("the service runs");
    let collection = service.get_default_collection().expect("it has a keychain");
    collection.lock().expect("which can be locked");
}

#[test]
fn a_keychain_keeps_the_values_and_the_directory_none() {
    inside("a_keychain_keeps_the_values_and_the_directory_none", UNLOCKED, || {
        let directory = TempDir::new().unwrap();
        let first = vault(&directory, StoreChoice::Auto);
        let source = slug("github");
        assert_eq!(first.set(&source, "raw", b"\x00\xff\nhush").unwrap(), Location::Keychain);
        assert_eq!(first.set(&source, "text", b"hush one").unwrap(), Location::Keychain);
        assert_eq!(first.set(&source, "text", b"hush two").unwrap(), Location::Keychain);
        drop(first);

        let second = vault(&directory, StoreChoice::Keychain);
        let (secrets, problems) = read(&second);
        assert_eq!((&secrets["github/raw"][..], problems.len()), (&b"\x00\xff\nhush"[..], 0));
        assert_eq!(secrets["github/text"], b"hush two");
        assert_eq!(second.unencrypted(), None);
        for file in fs::read_dir(directory.path().join("data")).unwrap() {
            let path = file.unwrap().path();
            let content = fs::read(&path).unwrap();
            assert!(!content.windows(4).any(|four| four == b"hush"), "{}", path.display());
        }

        // Another data directory has other secrets in the same keychain.
        let other = TempDir::new().unwrap();
        let third = vault(&other, StoreChoice::Keychain);
        third.set(&source, "text", b"another").unwrap();
        assert_eq!(read(&second).0["github/text"], b"hush two");
        assert_eq!(read(&third).0["github/text"], b"another");

        second.remove(&source, "raw").unwrap();
        second.remove(&source, "text").unwrap();
        assert!(second.list().unwrap().is_empty());
        // An index that still lists a removed value finds nothing.
        second.set_env(&source, "text", "PATH").unwrap();
        let index = directory.path().join("data/secrets.index.json");
        let listed = fs::read_to_string(&index)
            .unwrap()
            .replace("{\n        \"env\": \"PATH\"\n      }", "\"keychain\"");
        fs::write(&index, listed).unwrap();
        assert_eq!(read(&second).1, ["secret-gone"]);
    });
}

#[test]
fn a_locked_keychain_is_a_problem_and_not_a_wait() {
    inside("a_locked_keychain_is_a_problem_and_not_a_wait", UNLOCKED, || {
        let directory = TempDir::new().unwrap();
        let vault = vault(&directory, StoreChoice::Auto);
        for label in ["a", "b"] {
            assert_eq!(vault.set(&slug("github"), label, b"value").unwrap(), Location::Keychain);
        }
        vault.set_env(&slug("github"), "c", "PATH").unwrap();
        lock_keychain();

        let (secrets, problems) = read(&vault);
        assert_eq!(secrets.keys().collect::<Vec<_>>(), ["github/c"]);
        assert_eq!(problems, ["keychain-locked"; 2]);
        assert!(vault.read_all().1[0].hint().unwrap().contains("unlock"));

        assert_eq!(vault.list().unwrap().len(), 3);
        assert_eq!(vault.set(&slug("stripe"), "a", b"value").unwrap_err().code(), "keychain-locked");
        assert_eq!(vault.remove(&slug("github"), "a").unwrap_err().code(), "keychain-locked");
        assert_eq!(vault.list().unwrap().len(), 3);
        assert!(!directory.path().join("data/secrets.json").exists(), "the file took its place silently");
    });
}

/// Checks what must hold where there is no keychain.
fn falls_back_to_the_file() {
    let directory = TempDir::new().expect("a temporary directory");
    let auto = vault(&directory, StoreChoice::Auto);
    assert_eq!(auto.set(&slug("github"), "a", b"value").expect("the file takes it"), Location::File);
    assert!(auto.unencrypted().expect("a file").1.ends_with("secrets.json"));
    assert_eq!(read(&auto).0["github/a"], b"value");
    let required = vault(&directory, StoreChoice::Keychain);
    assert_eq!(required.set(&slug("github"), "b", b"value").expect_err("refused").code(), "no-keychain");
    assert_eq!(read(&required).1, ["secret-out-of-reach"]);
}

#[test]
fn a_service_without_a_keychain_leaves_the_file() {
    inside("a_service_without_a_keychain_leaves_the_file", EMPTY, falls_back_to_the_file);
}

#[test]
fn a_machine_without_a_service_has_the_file() {
    let session = "export DBUS_SESSION_BUS_ADDRESS=unix:path=/nonexistent";
    inside("a_machine_without_a_service_has_the_file", session, falls_back_to_the_file);
}

#[test]
fn a_secret_moves_out_of_the_file_when_it_is_set_again() {
    inside("a_secret_moves_out_of_the_file_when_it_is_set_again", UNLOCKED, || {
        let directory = TempDir::new().unwrap();
        let source = slug("github");
        vault(&directory, StoreChoice::File).set(&source, "a", b"value").unwrap();
        let auto: Vault = vault(&directory, StoreChoice::Auto);
        assert_eq!(auto.set(&source, "a", b"other").unwrap(), Location::Keychain);
        assert_eq!(auto.unencrypted(), None);
        assert_eq!(fs::read_to_string(directory.path().join("data/secrets.json")).unwrap(), "[]\n");
        let off = vault(&directory, StoreChoice::File);
        assert_eq!(read(&off).1, ["secret-out-of-reach"]);
        assert_eq!(off.remove(&source, "a").unwrap_err().code(), "secret-out-of-reach");
    });
}
