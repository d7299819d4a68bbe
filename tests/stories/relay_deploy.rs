//! What `deploy/` and the guide tell users to run works with this binary.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use hookmitt_stories::{Process, Ran, eventually, exchange, hookmitt, lacking, parse_reply, request};
use tempfile::TempDir;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn file(name: &str) -> String {
    fs::read_to_string(repository().join(name)).unwrap()
}

/// Returns the rest of the only line that begins with `begin`.
fn value<'a>(text: &'a str, begin: &str) -> &'a str {
    let mut found = text.lines().filter_map(|line| line.strip_prefix(begin));
    let value = found.next().unwrap_or_else(|| panic!("no {begin} in\n{text}"));
    assert_eq!(found.next(), None, "{begin} is there once");
    value.trim()
}

/// Starts a relay with these arguments, checks its health, and ends it with this signal.
async fn serves(arguments: &[String], dir: &TempDir, signal: &str) {
    let mut command = hookmitt(dir.path());
    command.args(arguments);
    let mut relay = Process::start(command);
    relay.says("  listens  ").await;
    let address = eventually("it says where it listens", async || {
        let said = relay.err();
        let line =
            said.split_inclusive('\n').find(|line| line.contains("  listens  ") && line.ends_with('\n'))?;
        line.split_whitespace().nth(1)?.parse().ok()
    })
    .await;
    let healthy = exchange(address, &request("GET", "/-/healthz", &[], b"")).await;
    assert_eq!(parse_reply(&healthy).status, 200);
    assert!(dir.path().join("relay.db").exists());
    relay.signal(signal.strip_prefix("SIG").unwrap()).await;
    relay.end().await.exits(0);
}

#[tokio::test]
async fn the_system_services_line_runs_a_relay_and_its_signal_ends_it() {
    let unit = file("deploy/hookmitt-relay.service");
    let dir = tempfile::tempdir().unwrap();
    let line = value(&unit, "ExecStart=/usr/local/bin/hookmitt ");
    let given = "--listen 127.0.0.1:0 --public-url https://relay.example.com --trusted-proxy 127.0.0.1";
    let line = line.replace("${STATE_DIRECTORY}", dir.path().to_str().unwrap()).replace("$RELAY_ARGS", given);
    assert!(!line.contains('$'), "{line}");
    let arguments: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
    serves(&arguments, &dir, value(&unit, "KillSignal=")).await;
    let guide = file("docs/relay.md");
    for place in
        [value(&unit, "EnvironmentFile="), &format!("/var/lib/private/{}", value(&unit, "StateDirectory="))]
    {
        assert!(guide.contains(place), "the guide doesn't know {place}");
    }
}

#[tokio::test]
async fn systemd_finds_no_fault_with_the_service() {
    if Command::new("systemd-analyze").arg("--version").output().is_err() {
        return lacking("systemd-analyze", "it comes with systemd");
    }
    let dir = tempfile::tempdir().unwrap();
    let unit = dir.path().join("hookmitt-relay.service");
    let binary = hookmitt(dir.path()).as_std().get_program().to_str().unwrap().to_owned();
    fs::write(&unit, file("deploy/hookmitt-relay.service").replace("/usr/local/bin/hookmitt", &binary))
        .unwrap();
    let found = Command::new("systemd-analyze").arg("verify").arg(&unit).output().unwrap();
    let said = String::from_utf8_lossy(&found.stderr).into_owned();
    // systemd-analyze ignores settings that it doesn't know, but names them.
    assert!(found.status.success() && !said.contains("hookmitt"), "{said}");
}

#[tokio::test]
async fn the_images_line_runs_a_relay_and_its_signal_ends_it() {
    let image = file("deploy/Dockerfile");
    let listen = words(value(&image, "CMD "));
    let port = listen.last().unwrap().rsplit(':').next().unwrap();
    assert!(value(&image, "EXPOSE ").split(' ').any(|exposed| exposed == port));
    let line = [words(value(&image, "ENTRYPOINT ")), listen.clone()].concat();
    let own: Vec<_> = line[1..].iter().map(|word| word.replace("0.0.0.0:4410", "127.0.0.1:0")).collect();
    assert_ne!(own, line[1..], "it listens for others in there, and for nobody here");
    let dir = tempfile::tempdir().unwrap();
    serves(&own, &dir, value(&image, "STOPSIGNAL ")).await;

    let home = value(&image, "VOLUME ");
    assert_eq!(value(&image, "ENV HOOKMITT_DATA_DIR="), home);
    assert!(image.contains(&format!("--home-dir {home} ")) && image.contains(&format!("chmod 0700 {home}")));
    let user = value(&image, "USER ");
    assert!(image.contains(&format!("/usr/sbin/nologin {user} ")), "the user is made");
    assert_eq!(line[0], "hookmitt");
    assert!(image.contains("/src/target/release/hookmitt /usr/local/bin/hookmitt"));
    assert!(
        file("crates/cli/Cargo.toml").contains("name = \"hookmitt\"") && image.contains("-p hookmitt-cli")
    );
    let channel = file("rust-toolchain.toml");
    let channel = value(&channel, "channel = ").trim_matches('"').to_owned();
    assert!(image.contains(&format!("FROM rust:{channel}-bookworm AS build")), "Rust {channel}");
}

/// Returns the words of a JSON list.
fn words(list: &str) -> Vec<String> {
    serde_json::from_str(list).unwrap()
}

#[tokio::test]
async fn every_line_that_the_guide_gives_to_a_relay_is_understood() {
    let dir = tempfile::tempdir().unwrap();
    let guide = file("docs/relay.md").replace("\\\n", " ");
    let args = guide.lines().filter_map(|line| line.split_once("RELAY_ARGS=")?.1.split('\'').next());
    let typed = guide.lines().filter_map(|line| {
        let (before, line) =
            line.split_once("hookmitt relay ").or_else(|| line.split_once("hookmitt-relay   "))?;
        (!before.contains('`')).then(|| line.split('#').next().unwrap_or_default())
    });
    let mut lines = 0;
    for line in args.chain(typed) {
        let mut command = hookmitt(dir.path());
        // The arguments before `--help` are parsed first, so a wrong one would be reported.
        command.arg("relay").args(line.split_whitespace()).arg("--help");
        Ran::of(command).await.exits(0);
        lines += 1;
    }
    assert!(lines >= 6, "{lines} lines were found");
}
