//! The Node process that holds the SDKs, over lines of JSON.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

pub(crate) struct Peer {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    versions: BTreeMap<String, String>,
    asked: u64,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The Node on the path, or the one that the set-up script brought.
fn node() -> Option<PathBuf> {
    let works =
        |node: &PathBuf| Command::new(node).arg("--version").output().is_ok_and(|run| run.status.success());
    [PathBuf::from("node"), root().join(".tools/node/bin/node")].into_iter().find(works)
}

/// A line of the run's report: shown (past the test harness, which hides what a passing test prints), and kept where
/// the run collects them.
pub(crate) fn report(line: &str) {
    writeln!(std::io::stderr().lock(), "{line}").unwrap();
    append("HOOKMITT_REPORT", line);
}

fn append(variable: &str, line: &str) {
    if let Some(path) = std::env::var_os(variable) {
        let file = fs::OpenOptions::new().create(true).append(true).open(path);
        writeln!(file.unwrap(), "{line}").unwrap();
    }
}

/// On Debian and in CI a missing peer fails the run; elsewhere it is noted.
fn missing(why: &str) -> Option<Peer> {
    let strict = std::env::var_os("CI").is_some() || Path::new("/etc/debian_version").exists();
    assert!(!strict, "{why}");
    writeln!(std::io::stderr().lock(), "skipped: {why}").unwrap();
    append("HOOKMITT_SKIPPED", why);
    None
}

impl Peer {
    pub(crate) fn start() -> Option<Self> {
        let folder = root().join("tests/sdk");
        let Some(node) = node() else {
            return missing(
                "Node 20 or later is not there: run `make test`, which brings it, or install nodejs",
            );
        };
        if !folder.join("node_modules/.package-lock.json").exists() {
            return missing("the SDKs are not installed: run `npm ci` in tests/sdk (`make test` does)");
        }
        let mut command = Command::new(node);
        command.arg("peer.mjs").current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the Node that printed its version starts");
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut peer = Self { child, input, output, versions: BTreeMap::new(), asked: 0 };
        let versions = peer.ask(json!({ "op": "versions" }));
        peer.versions = serde_json::from_value(versions["versions"].clone()).unwrap();
        Some(peer)
    }

    pub(crate) fn version(&self, sdk: &str) -> &str {
        &self.versions[sdk]
    }

    /// The header lines that the SDK signs this body with.
    pub(crate) fn sign(&mut self, sdk: &str, secret: &str, body: &[u8], now: i64) -> Vec<(String, String)> {
        let body = STANDARD.encode(body);
        let reply = self
            .ask(json!({ "op": "sign", "sdk": sdk, "secret": secret, "body_base64": body, "now_unix": now }));
        assert_eq!(reply["ok"], true, "{sdk} could not sign: {reply}");
        serde_json::from_value(reply["headers"].clone()).unwrap()
    }

    /// What the SDK's verifier says, with its error.
    pub(crate) fn verify(
        &mut self,
        sdk: &str,
        secret: &str,
        body: &[u8],
        headers: &[(String, String)],
        now: i64,
    ) -> Result<(), String> {
        let body = STANDARD.encode(body);
        let order = json!({
            "op": "verify", "sdk": sdk, "secret": secret, "body_base64": body, "headers": headers, "now_unix": now,
        });
        let reply = self.ask(order);
        assert_eq!(reply["ok"], true, "{sdk} broke: {reply}");
        if reply["verified"] == true { Ok(()) } else { Err(reply["error"].to_string()) }
    }

    fn ask(&mut self, mut order: Value) -> Value {
        self.asked += 1;
        order["id"] = json!(self.asked);
        writeln!(self.input, "{order}").expect("the peer reads");
        let mut line = String::new();
        self.output.read_line(&mut line).expect("the peer answers");
        let reply: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("the peer said {line:?}"));
        assert_eq!(reply["id"], self.asked, "an answer to another question");
        reply
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
