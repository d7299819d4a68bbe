//! The README's shell blocks as a newcomer pastes them: as they stand, in one shell, in order.

use std::{
    path::Path,
    process::{Output, Stdio},
    time::Duration,
};

use hookmitt_stories::{hookmitt, lacking};
use tokio::{net::TcpListener, process::Command};

const README: &str = include_str!("../../README.md");

/// Lines that need the internet, a public name, a display or that nothing runs, and make's own targets. Only these are
/// left out.
const LEFT_OUT: &[&str] = &[
    "git clone <this repository> hookmitt && cd hookmitt",
    "make run",
    "hookmitt relay --listen [::]:443 --public-url https://relay.example.com --acme",
    "hookmitt tunnel add --cloudflared --source github",
    "hookmitt tunnel add --smee https://smee.io/AbC123 --source github",
    "hookmitt listen 3000 --public",
    "hookmitt restore inbox.backup",
    "hookmitt sync key stripe",
    "hookmitt sync",
    "make help",
    "make test",
    "make lint",
    "make bench",
    "make bench-relay",
    "make bench-inbox",
    "make bench-year",
    "make bench-ui",
    "make bundle",
    "make screenshots",
    "make fuzz",
];

/// The ports that the README names.
const PORTS: &[u16] = &[3000, 4400, 4401, 4410, 9000];

/// The newcomer's own server, on the port that the README forwards to.
const SERVER: &str = r"
import http.server
class Server(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers.get('Content-Length', 0)))
        self.send_response(200)
        self.end_headers()
    def log_message(self, *args):
        pass
http.server.ThreadingHTTPServer(('localhost', 3000), Server).serve_forever()
";

/// What comes before the blocks: the newcomer's server, and a note of every line that fails.
const BEFORE: &str = r#"set -o pipefail
shopt -s expand_aliases
python3 server.py &
trap 'echo "$BASH_COMMAND: exit $?" >> failed' ERR
"#;

/// What comes after them: what there is by then, and the end of what was started.
const AFTER: &str = r"
hookmitt events --json > events
kill $(jobs -p)
wait
";

/// Returns a line without the comment behind it.
fn command(line: &str) -> &str {
    line.split("  #").next().unwrap_or_default().trim_end()
}

/// Returns the lines of all shell blocks.
fn lines() -> Vec<&'static str> {
    let blocks = README.split("```sh\n").skip(1);
    blocks.flat_map(|block| block.split("```").next().unwrap_or_default().lines()).collect()
}

#[test]
fn every_line_that_is_left_out_is_in_the_readme() {
    for line in LEFT_OUT {
        assert!(lines().iter().any(|found| command(found) == *line), "{line}");
    }
}

/// Runs the script in a network of its own, where every port is free. Where the system allows none, runs it here if the
/// ports are free; returns `None` if they aren't.
async fn run(dir: &Path) -> Option<Output> {
    let bare = ["--user", "--map-root-user", "--net"];
    let own = Command::new("unshare").args(bare).args(["ip", "link", "set", "lo", "up"]).output().await;
    let mut shell = if own.is_ok_and(|tried| tried.status.success()) {
        let mut shell = Command::new("unshare");
        shell.args(bare).args(["bash", "-c", "ip link set lo up && exec bash script"]);
        shell
    } else {
        for port in PORTS {
            TcpListener::bind(("127.0.0.1", *port)).await.ok()?;
        }
        let mut shell = Command::new("bash");
        shell.arg("script");
        shell
    };
    shell.current_dir(dir).env_clear().env("HOME", dir).env("HOOKMITT_KEYRING", "off");
    shell.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
    shell.stdin(Stdio::null()).kill_on_drop(true);
    let ran = tokio::time::timeout(Duration::from_secs(120), shell.output()).await;
    Some(ran.expect("the blocks end").expect("bash starts"))
}

#[tokio::test(flavor = "multi_thread")]
async fn its_shell_blocks_run_as_they_stand() {
    let dir = tempfile::tempdir().unwrap();
    let built = dir.path().join("target/release");
    std::fs::create_dir_all(&built).unwrap();
    std::os::unix::fs::symlink(hookmitt(dir.path()).as_std().get_program(), built.join("hookmitt")).unwrap();
    let kept: Vec<_> = lines().into_iter().filter(|line| !LEFT_OUT.contains(&command(line))).collect();
    std::fs::write(dir.path().join("server.py"), SERVER).unwrap();
    std::fs::write(dir.path().join("script"), format!("{BEFORE}{}\n{AFTER}", kept.join("\n"))).unwrap();
    let Some(ran) = run(dir.path()).await else {
        return lacking(
            "a network of its own for the README's blocks",
            "free the ports 3000, 4400, 4401, 4410 and 9000",
        );
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let said = format!("{}\n{}", text(&ran.stdout), text(&ran.stderr));
    let failed = std::fs::read_to_string(dir.path().join("failed")).unwrap_or_default();
    assert_eq!(failed, "", "{said}");
    assert!(!said.contains("error:") && !said.contains("panicked"), "{said}");

    let events = std::fs::read_to_string(dir.path().join("events")).unwrap();
    let events: Vec<serde_json::Value> =
        events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let has = |source: &str, verdict: &str, via: &str| {
        events
            .iter()
            .any(|event| event["source"] == source && event["verdict"] == verdict && event["via"] == via)
    };
    assert!(has("demo", "unsigned", "direct"), "the first event: {said}");
    assert!(has("github", "valid", "direct"), "a sample that is signed with the secret that was set: {said}");
    assert!(said.contains("\"received\":true"), "curl's answer: {said}");
}
