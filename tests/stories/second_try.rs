//! A failed story's second try in CI: it passes with a visible notice, or fails for good.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, process::Command};

const FAILED_ONCE: &str = "\
     Running stories.rs (target/debug/deps/stories-1)

running 2 tests
test sound ... ok
test stories::window::shaky ... FAILED

failures:

---- stories::window::shaky stdout ----

thread 'shaky' panicked at tests/stories.rs:1:1:
no window at first


failures:
    stories::window::shaky

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.1s
   Doc-tests hookmitt

test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.0s
";

/// Whether the second try passed, what it asked cargo to run, and what it reported.
struct Tried {
    passed: bool,
    asked: String,
    told: String,
}

/// Retries what a log names. A stand-in for cargo notes its arguments and exits with `code`.
fn tried(log: &str, code: u8) -> Tried {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("log"), log).unwrap();
    fs::write(at("told"), "").unwrap();
    fs::write(at("cargo"), format!("#!/bin/sh\necho \"$@\" >\"$(dirname \"$0\")/asked\"\nexit {code}\n"))
        .unwrap();
    fs::set_permissions(at("cargo"), fs::Permissions::from_mode(0o700)).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/second-try.sh");
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let ran = Command::new(script)
        .arg(at("log"))
        .env("PATH", path)
        .env("HOOKMITT_FLAKY", at("told"))
        .output()
        .unwrap();
    Tried {
        passed: ran.status.success(),
        asked: fs::read_to_string(at("asked")).unwrap_or_default(),
        told: fs::read_to_string(at("told")).unwrap(),
    }
}

#[test]
fn what_fails_once_is_told_with_its_first_failure() {
    let Tried { passed, asked, told } = tried(FAILED_ONCE, 0);
    assert!(passed);
    assert_eq!(
        asked,
        "test -p hookmitt-stories --test stories -- --exact --test-threads=1 stories::window::shaky\n"
    );
    let first = "  thread 'shaky' panicked at tests/stories.rs:1:1:\n  no window at first\n";
    assert_eq!(
        told,
        format!("flaky: stories::window::shaky passed at its second try, its first failure was:\n{first}")
    );
}

#[test]
fn of_a_long_failure_the_beginning_is_told() {
    let long = FAILED_ONCE.replace("no window at first", &"no window at first\n".repeat(100_000));
    let Tried { passed, told, .. } = tried(&long, 0);
    assert_eq!((passed, told.lines().count()), (true, 41));
}

#[test]
fn what_fails_twice_has_failed() {
    let Tried { passed, told, .. } = tried(FAILED_ONCE, 101);
    assert_eq!((passed, told.as_str()), (false, ""));
}

#[test]
fn what_is_promised_or_no_story_gets_no_second_try() {
    let promised = [
        "durability",
        "threats_api",
        "tunnel_chaos",
        "golden",
        "delivery",
        "delivery_one",
        "replay",
        "fixtures",
        "respond",
        "respond_relay",
        "targets",
        "tunnel_owner",
        "tunnel_order",
        "clocks",
        "clocks_relay",
        "faults",
        "foreign_lock",
        "handles",
    ];
    let stories = promised.map(|subject| format!("stories::{subject}::shaky"));
    for name in stories.iter().map(String::as_str).chain(["shaky"]) {
        let Tried { passed, asked, .. } = tried(&FAILED_ONCE.replace("stories::window::shaky", name), 0);
        assert_eq!((passed, asked.as_str()), (false, ""), "{name}");
    }
}

#[test]
fn what_fell_over_or_fails_in_many_places_gets_no_second_try() {
    let fell_over = format!("{FAILED_ONCE}     Running other.rs (target/debug/deps/other-1)\n");
    let many = FAILED_ONCE.repeat(4);
    let nothing = FAILED_ONCE.replace("FAILED", "ok").replace("1 failed", "0 failed");
    for log in [fell_over, many, nothing] {
        let Tried { passed, asked, .. } = tried(&log, 0);
        assert_eq!((passed, asked.as_str()), (false, ""), "{log}");
    }
}
