//! The providers' own SDKs in a Node process: as the sender that signs, or as the endpoint that verifies.

use std::{
    collections::BTreeMap,
    io::Write as _,
    path::{Path, PathBuf},
    process::Stdio,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
};

use crate::lacking;

/// The providers whose SDK can sign here, each with a secret of the provider's format. No two secrets are the same,
/// because a match with another source's secret is a cause of its own.
pub const SDKS: [(&str, &str); 13] = [
    ("github", "c2VjcmV0IG9mIHRoZSBob29r"),
    ("stripe", "whsec_dGhpcyBpcyBhIHN0cmlwZSBrZXk"),
    ("slack", "8f742231b10e8888abcd99e0e2285a55"),
    ("shopify", "shpss_0a1b2c3d"),
    ("standardwebhooks", "whsec_c3RhbmRhcmR3ZWJob29rczAxMjM0NTY3"),
    ("svix", "whsec_c3ZpeDAxMjM0NTY3ODlhYmNkZWZnaGlq"),
    ("clerk", "whsec_Y2xlcmswMTIzNDU2Nzg5YWJjZGVmZ2hp"),
    ("resend", "whsec_cmVzZW5kMDEyMzQ1Njc4OWFiY2RlZmdo"),
    ("openai", "whsec_b3BlbmFpMDEyMzQ1Njc4OWFiY2RlZmdo"),
    ("replicate", "whsec_cmVwbGljYXRlMDEyMzQ1Njc4OWFiY2Rl"),
    ("liveblocks", "whsec_bGl2ZWJsb2NrczAxMjM0NTY3ODlhYmNk"),
    ("polar", "polar_whs_2bNq8vQk"),
    ("telegram", "A1_b-2"),
];

/// More providers whose SDK verifies what `send` signs.
pub const MORE_SDKS: [(&str, &str); 10] = [
    ("line", "8c570fa6dd201bb328f1c1eac23a96d8"),
    ("zoom", "4vN0XkZ2TfKq7m"),
    ("paddle", "pdl_ntfset_01h_x+/y"),
    ("razorpay", "a secret of the hook"),
    ("gocardless", "ED7D658C-D8EB-4941-948B-3973214F2D49"),
    ("mux", "k9bGx2mq"),
    ("linear", "lin_wh_0a1b2c"),
    ("notion", "secret_0a1b2c"),
    ("sanity", "of the hook"),
    ("workos", "wh_sec_0a1b2c"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns a command that runs a script of `tests/sdk`. If Node or the SDKs are missing, it records a skip and returns
/// `None`; on Debian and in CI it panics.
fn script(name: &str) -> Option<Command> {
    let works = |node: &PathBuf| {
        let version = std::process::Command::new(node).arg("--version").output();
        version.is_ok_and(|version| version.status.success())
    };
    let node = [PathBuf::from("node"), root().join(".tools/node/bin/node")].into_iter().find(works);
    let folder = root().join("tests/sdk");
    let Some(node) = node.filter(|_| folder.join("node_modules/stripe").exists()) else {
        lacking("Node, or tests/sdk/node_modules,", "scripts/setup.sh brings both");
        return None;
    };
    let mut command = Command::new(node);
    command.arg(folder.join(name)).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    Some(command)
}

/// Reports a line about this run: writes it to stderr past the test harness, and appends it to the file that
/// `HOOKMITT_REPORT` names, if set.
pub fn report(line: &str) {
    let _unread = writeln!(std::io::stderr().lock(), "{line}");
    if let Some(list) = std::env::var_os("HOOKMITT_REPORT") {
        let file = std::fs::OpenOptions::new().append(true).create(true).open(list);
        let _unwritten = file.and_then(|mut file| writeln!(file, "{line}"));
    }
}

/// Has a provider's own SDK list what its API at `url` has sent. Returns the SDK with its version, and the ids. Returns
/// `None` if the SDK is missing.
pub async fn sdk_lists(
    sdk: &str,
    language: Language,
    url: &str,
    key: &str,
    known: &Value,
) -> Option<(String, Vec<String>)> {
    let mut command = match language {
        Language::Node => script("lists.mjs")?,
        Language::Python => python("lists.py")?,
    };
    command.args([sdk, url, key]).arg(known.to_string()).stdin(Stdio::null()).stderr(Stdio::piped());
    let done = command.output().await.expect("it runs");
    let said = String::from_utf8_lossy(&done.stderr);
    let list: Value = serde_json::from_slice(&done.stdout).unwrap_or_else(|_| panic!("{sdk}: {said}"));
    let ids = list["ids"].as_array().expect("a list").iter();
    let ids = ids.map(|id| id.as_str().map_or_else(|| id.to_string(), str::to_owned)).collect();
    Some((list["sdk"].as_str().expect("its name").to_owned(), ids))
}

/// The language of an SDK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// JavaScript.
    Node,
    /// Python.
    Python,
}

/// Returns a command that runs a Python script of `tests/sdk`. If the SDKs are missing, it records a skip and returns
/// `None`; on Debian and in CI it panics.
fn python(name: &str) -> Option<Command> {
    let folder = root().join("tests/sdk");
    if !folder.join("python_modules/stripe").exists() {
        lacking("tests/sdk/python_modules", "scripts/setup.sh brings it");
        return None;
    }
    let mut command = Command::new("python3");
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    command.arg(folder.join(name)).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    Some(command)
}

/// The SDKs as a sender.
pub struct Peer {
    _child: Child,
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    asked: u64,
}

impl Peer {
    /// Starts the Node process. Returns `None` if Node or the SDKs are missing.
    pub async fn start() -> Option<Self> {
        let mut child = script("peer.mjs")?.spawn().expect("node starts");
        let input = child.stdin.take().expect("stdin is piped");
        let lines = BufReader::new(child.stdout.take().expect("stdout is piped")).lines();
        Some(Self { _child: child, input, lines, asked: 0 })
    }

    /// Returns `sdk@version` for each SDK.
    pub async fn versions(&mut self) -> BTreeMap<String, String> {
        let reply = self.ask(json!({ "op": "versions" })).await;
        serde_json::from_value(reply["versions"].clone()).expect("a map")
    }

    /// Returns the header lines with which the SDK signs a body now.
    pub async fn sign(&mut self, sdk: &str, secret: &str, body: &[u8]) -> Vec<(String, String)> {
        let body = STANDARD.encode(body);
        let reply =
            self.ask(json!({ "op": "sign", "sdk": sdk, "secret": secret, "body_base64": body })).await;
        serde_json::from_value(reply["headers"].clone())
            .unwrap_or_else(|_| panic!("{sdk} did not sign: {reply}"))
    }

    async fn ask(&mut self, mut order: Value) -> Value {
        self.asked += 1;
        order["id"] = json!(self.asked);
        self.input.write_all(format!("{order}\n").as_bytes()).await.expect("it reads");
        let line = self.lines.next_line().await.expect("text").expect("an answer");
        let reply: Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!((&reply["id"], &reply["ok"]), (&order["id"], &json!(true)), "{reply}");
        reply
    }
}

/// The SDKs as an application's endpoint: Stripe's SDK verifies requests to `/stripe`, and so on.
pub struct Receiver {
    _child: Child,
    _input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    port: u64,
}

impl Receiver {
    /// Starts the endpoint with the secrets of [`SDKS`] and [`MORE_SDKS`]. Returns `None` if Node or the SDKs are
    /// missing.
    pub async fn start() -> Option<Self> {
        let mut command = script("receiver.mjs")?;
        for (sdk, secret) in SDKS.into_iter().chain(MORE_SDKS) {
            command.env(format!("HOOKMITT_SECRET_{}", sdk.to_uppercase()), secret);
        }
        let mut child = command.env("HOOKMITT_RECEIVER_STDIN", "1").spawn().expect("node starts");
        let input = child.stdin.take().expect("stdin is piped");
        let mut lines = BufReader::new(child.stdout.take().expect("stdout is piped")).lines();
        let first = lines.next_line().await.expect("text").expect("its port");
        let first: Value = serde_json::from_str(&first).expect("JSON");
        let port = first["port"].as_u64().expect("a number");
        Some(Self { _child: child, _input: input, lines, port })
    }

    /// Returns the endpoint's URL for an SDK.
    pub fn url(&self, sdk: &str) -> String {
        format!("http://127.0.0.1:{}/{sdk}", self.port)
    }

    /// Waits for the endpoint's report on the next request.
    pub async fn next(&mut self) -> Value {
        let line = self.lines.next_line().await.expect("text").expect("a line");
        serde_json::from_str(&line).expect("JSON")
    }
}
