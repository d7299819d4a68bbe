//! Installed programs that make public URLs, played by scripts that print what the real ones print.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test may fail at once")]

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use hookmitt_detour::{DetourError, Quick, QuickTunnel};
use hookmitt_event::Explain as _;

/// Writes a program that runs these lines of shell.
fn program(folder: &Path, lines: &str) -> PathBuf {
    let path = folder.join("program");
    fs::write(&path, format!("#!/bin/sh\n{lines}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[tokio::test]
async fn a_program_names_its_url_and_is_ended() {
    let folder = tempfile::tempdir().unwrap();
    let said = folder.path().join("said");
    let lines = format!(
        r#"echo "$@" > {said}
        trap 'echo ended >> {said}; exit 0' TERM
        echo "INF Requesting new quick Tunnel on trycloudflare.com..." >&2
        echo "INF |  https://two-words.trycloudflare.com  |" >&2
        while :; do read -r _ < {folder}/never & wait $!; done"#,
        said = said.display(),
        folder = folder.path().display(),
    );
    let fifo = std::process::Command::new("mkfifo").arg(folder.path().join("never")).status().unwrap();
    assert!(fifo.success());
    let tunnel =
        QuickTunnel::start_at(Quick::Cloudflared, &program(folder.path(), &lines), 4400).await.unwrap();
    assert_eq!(tunnel.url(), "https://two-words.trycloudflare.com");
    tunnel.stop().await;
    let said = fs::read_to_string(said).unwrap();
    assert_eq!(said, "tunnel --no-autoupdate --url http://127.0.0.1:4400\nended\n");
}

#[tokio::test]
async fn a_program_that_ends_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let lines = r#"echo '{"lvl":"eror","msg":"authentication failed: no authtoken"}'; exit 1"#;
    let error = QuickTunnel::start_at(Quick::Ngrok, &program(folder.path(), lines), 4400).await.unwrap_err();
    assert!(matches!(&error, DetourError::Ended { said, .. } if said.contains("no authtoken")), "{error}");

    let lines =
        r#"echo '{"msg":"started tunnel","url":"https://a.ngrok.app"}'; echo '{"msg":"session closed"}'"#;
    let mut tunnel = QuickTunnel::start_at(Quick::Ngrok, &program(folder.path(), lines), 4400).await.unwrap();
    assert_eq!(tunnel.url(), "https://a.ngrok.app");
    assert!(tunnel.over().await.to_string().contains("session closed"));
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named_with_what_to_do() {
    let error = QuickTunnel::start_at(Quick::Ngrok, Path::new("no/such/program"), 4400).await.unwrap_err();
    assert_eq!((error.code(), error.to_string().as_str()), ("program-missing", "ngrok is not installed"));
    assert!(error.hint().unwrap().contains("PATH"));
}
