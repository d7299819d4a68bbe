//! How a browser gets access: its arguments are in the process list, which every user can read (Threat 1).

use std::{
    collections::BTreeSet,
    fs,
    net::SocketAddr,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, SystemTime},
};

use hookmitt_stories::{App, Process, command_lines, eventually, exchange, hookmitt, lacking, parse_reply};
use serde_json::json;
use tempfile::TempDir;
use tokio::process::Command;

/// Stands in for the program that opens files and URLs. It notes its arguments and the running processes, copies the
/// file, and notes the file's mode.
const OPENER: &str = r#"#!/bin/sh
cp "$1" "$NOTES/page.html"
stat -c %a "$1" "$(dirname "$1")" >"$NOTES/modes"
for process in /proc/[0-9]*/cmdline; do tr '\0' ' ' <"$process"; echo; done >"$NOTES/processes" 2>/dev/null
printf '%s\n' "$@" >"$NOTES/given.new"
mv "$NOTES/given.new" "$NOTES/given"
"#;

/// A user at a desktop who starts `hookmitt serve` in a terminal.
struct Person {
    notes: TempDir,
    serving: Process,
}

impl Person {
    /// Returns `None`, noted as a skip, if no terminal is available; on Debian that is a failure.
    async fn serves(data_dir: &Path) -> Option<Self> {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        if !std::env::split_paths(&folders).any(|folder| folder.join("script").exists()) {
            lacking("script", "apt-get install -y bsdutils");
            return None;
        }
        let notes = tempfile::tempdir().expect("a temporary folder");
        let opener = notes.path().join("xdg-open");
        fs::write(&opener, OPENER).expect("a file");
        fs::set_permissions(&opener, fs::Permissions::from_mode(0o755)).expect("ours");
        let first = std::iter::once(notes.path().to_owned()).chain(std::env::split_paths(&folders));
        let ours = hookmitt(data_dir);
        let mut script = Command::new("script");
        let typed =
            format!("'{}' serve --port 0 --api-port 0", ours.as_std().get_program().to_string_lossy());
        script.args(["--quiet", "--flush", "--return", "--command", &typed, "/dev/null"]);
        script.envs(ours.as_std().get_envs().filter_map(|(name, value)| Some((name, value?))));
        script.env_remove("HOOKMITT_TOKEN").env("PATH", std::env::join_paths(first).expect("folders"));
        script.env("NOTES", notes.path()).env("DISPLAY", ":none").env("HOOKMITT_LOG", "trace");
        script.env("NO_COLOR", "1").stdin(Stdio::piped()).kill_on_drop(true);
        Some(Self { notes, serving: Process::start(script) })
    }

    /// Returns what the opener noted under this name.
    fn noted(&self, name: &str) -> String {
        fs::read_to_string(self.notes.path().join(name)).expect("it was noted")
    }

    /// Waits until the opener was called; returns its arguments.
    async fn is_shown_something(&self) -> String {
        let given = self.notes.path().join("given");
        eventually("the browser is opened", async || fs::read_to_string(&given).ok()).await
    }
}

/// Returns every one-time code in a text.
fn codes(text: &str) -> BTreeSet<String> {
    let ends = |text: &str| text.find(|letter: char| !letter.is_ascii_hexdigit()).unwrap_or(text.len());
    text.split("#code=").skip(1).map(|rest| rest[..ends(rest)].to_owned()).collect()
}

async fn swap(api: SocketAddr, code: &str) -> u16 {
    let body = json!({ "code": code }).to_string();
    let request = format!(
        "POST /api/session HTTP/1.1\r\nHost: {api}\r\nOrigin: http://{api}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    parse_reply(&exchange(api, request.as_bytes()).await).status
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_1_the_one_time_code_stands_in_no_process_list_and_its_file_goes_when_it_was_used() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut person) = Person::serves(folder.path()).await else { return };
    let given = person.is_shown_something().await;
    let file = PathBuf::from(given.strip_suffix('\n').unwrap());
    assert!(file.starts_with(folder.path()) && file.is_absolute(), "one path, and no URL: {given}");
    assert_eq!(person.noted("modes"), "600\n700\n");
    let page = person.noted("page.html");
    let hidden = codes(&page);
    assert_eq!(hidden.len(), 1, "{page}");
    person.serving.says("if no page opens in the browser").await;
    let said = person.serving.out();
    let printed = codes(&said);
    assert_eq!(printed.len(), 1, "the URL is printed for browsers that can't read the file: {said}");
    assert!(printed.is_disjoint(&hidden), "the file's code is nowhere but in the file: {said}");
    let processes = person.noted("processes") + &command_lines().join("\n");
    assert!(processes.contains(file.to_str().unwrap()), "the list is complete: {processes}");
    for code in hidden.iter().chain(&printed) {
        assert!(code.len() >= 32 && !processes.contains(code) && !given.contains(code), "{processes}");
    }

    let address = page.split_once("http://").unwrap().1.split_once('/').unwrap().0;
    let api = address.parse().unwrap();
    assert!(file.exists(), "until a browser has used it");
    for code in hidden.iter().chain(&printed) {
        assert_eq!(swap(api, code).await, 200);
        assert_eq!(swap(api, code).await, 401, "once");
    }
    eventually("the file is gone", async || (!file.exists()).then_some(())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_1_a_code_that_nobody_used_leaves_with_its_process_or_at_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let Some(person) = Person::serves(folder.path()).await else { return };
    let file = PathBuf::from(person.is_shown_something().await.trim());
    let pages = || fs::read_dir(file.parent().unwrap()).unwrap().count();
    assert_eq!(pages(), 1);
    drop(person); // the process ends with the terminal
    // However the process ended, a file that it left is old at the next start.
    let left = file.with_file_name("left.html");
    for path in [&left, &file] {
        let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        fs::File::create(path).unwrap().set_modified(old).unwrap();
    }
    let app = App::start_on(folder).await;
    assert_eq!(pages(), 0);
    app.stop().await;
}
