//! The processes that run the SDKs. They read and write lines of JSON.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

/// The language of an SDK.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Node,
    Python,
}

/// What an SDK is asked to sign or verify.
#[derive(Debug, Clone, Default)]
pub(crate) struct Order {
    pub(crate) sdk: &'static str,
    /// The provider's scheme, if the SDK can sign in more than one way.
    pub(crate) scheme: Option<&'static str>,
    pub(crate) secret: String,
    /// The test's own key pair: the PEM, and the public half as the provider would show it.
    pub(crate) pair: Option<(String, String)>,
    pub(crate) url: Option<String>,
    pub(crate) params: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    pub(crate) headers: Vec<(String, String)>,
    /// The time to assume instead of the current one. Only the Node peer supports this.
    pub(crate) now: Option<i64>,
}

impl Order {
    fn asking(&self, op: &str) -> Value {
        let mut asked = json!({
            "op": op, "sdk": self.sdk, "secret": self.secret, "body_base64": STANDARD.encode(&self.body),
            "headers": self.headers, "params": self.params.iter().cloned().collect::<BTreeMap<_, _>>(),
        });
        if let Some((private, public)) = &self.pair {
            asked["private_key"] = json!(private);
            asked["public_key"] = json!(public);
        }
        for (name, value) in
            [("url", json!(self.url)), ("scheme", json!(self.scheme)), ("now_unix", json!(self.now))]
        {
            if !value.is_null() {
                asked[name] = value;
            }
        }
        asked
    }

    /// Returns the request that the SDK made from this order.
    fn answered(mut self, reply: &Value) -> Self {
        self.headers = serde_json::from_value(reply["headers"].clone()).unwrap();
        if let Some(body) = reply["body_base64"].as_str() {
            self.body = STANDARD.decode(body).unwrap();
        }
        if let Some(url) = reply["url"].as_str() {
            self.url = Some(url.to_owned());
        }
        self
    }
}

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

fn folder() -> PathBuf {
    root().join("tests/sdk")
}

fn works(program: &Path) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|run| run.status.success())
}

/// Runs with the Node on the path, or the one that the set-up script installed.
fn node_peer() -> Result<Command, String> {
    let nodes = [PathBuf::from("node"), root().join(".tools/node/bin/node")];
    let Some(node) = nodes.into_iter().find(|node| works(node)) else {
        return Err(
            "Node 20 or later is not there: run `make test`, which brings it, or install nodejs".into()
        );
    };
    if !folder().join("node_modules/.package-lock.json").exists() {
        return Err("the SDKs are not installed: run `npm ci` in tests/sdk (`make test` does)".into());
    }
    let mut command = Command::new(node);
    command.arg("peer.mjs");
    Ok(command)
}

fn python_peer() -> Result<Command, String> {
    if !works(Path::new("python3")) {
        return Err("python3 is not there: install it, with pip".into());
    }
    if !folder().join("python_modules/stripe").exists() {
        return Err(
            "the Python SDKs are not installed: scripts/setup.sh brings them (`make test` runs it)".into()
        );
    }
    let mut command = Command::new("python3");
    command.arg("peer.py").env("PYTHONDONTWRITEBYTECODE", "1");
    Ok(command)
}

/// Prints a line of the run's report to stderr, because the test harness hides the output of passing tests, and appends
/// it to the file where the run collects such lines.
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

/// Fails the run on Debian and in CI if a peer is missing; elsewhere only reports it.
fn missing(why: &str) {
    let strict = std::env::var_os("CI").is_some() || Path::new("/etc/debian_version").exists();
    assert!(!strict, "{why}");
    writeln!(std::io::stderr().lock(), "skipped: {why}").unwrap();
    append("HOOKMITT_SKIPPED", why);
}

impl Peer {
    pub(crate) fn start(language: Language) -> Option<Self> {
        let command = match language {
            Language::Node => node_peer(),
            Language::Python => python_peer(),
        };
        let mut command = command.map_err(|why| missing(&why)).ok()?;
        command.current_dir(folder()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("what printed its version starts");
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut peer = Self { child, input, output, versions: BTreeMap::new(), asked: 0 };
        let versions = peer.ask(json!({ "op": "versions" }));
        peer.versions = serde_json::from_value(versions["versions"].clone()).unwrap();
        Some(peer)
    }

    /// The SDKs by their names in orders, each as `package@version`.
    pub(crate) fn versions(&self) -> &BTreeMap<String, String> {
        &self.versions
    }

    /// Returns the request as the SDK signed it, or why it couldn't.
    pub(crate) fn sign(&mut self, order: Order) -> Result<Order, String> {
        let reply = self.ask(order.asking("sign"));
        if reply["ok"] == true { Ok(order.answered(&reply)) } else { Err(reply["error"].to_string()) }
    }

    /// Verifies with the SDK and returns its error, if any.
    pub(crate) fn verify(&mut self, order: &Order) -> Result<(), String> {
        let reply = self.ask(order.asking("verify"));
        assert_eq!(reply["ok"], true, "{} broke: {reply}", order.sdk);
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
