//! The small part of WebDriver that driving one window needs (<https://www.w3.org/TR/webdriver2/>).

use std::{
    net::{SocketAddr, TcpListener},
    path::Path,
    time::Duration,
};

use serde_json::{Value, json};
use tokio::process::Command;

use crate::{Desk, Process, desk::binary, eventually, exchange, parse_reply, request, within};

/// How long a window may take to end before it gets a signal.
const PATIENCE: Duration = Duration::from_secs(10);

/// How often the window's processes are checked.
const PACE: Duration = Duration::from_millis(10);

/// A window that WebDriver drives.
pub struct WebDriver {
    driver: SocketAddr,
    session: String,
    process: Process,
}

impl WebDriver {
    /// Opens the window with these arguments, and waits until its page has loaded.
    pub async fn open(desk: &Desk, data_dir: &Path, arguments: &[&str]) -> Self {
        let driver = free_address();
        let mut command = Command::new("WebKitWebDriver");
        command.args([format!("--port={}", driver.port()), "--host=127.0.0.1".to_owned()]);
        desk.place(&mut command, data_dir);
        command.env("TAURI_WEBVIEW_AUTOMATION", "true").env("HOOKMITT_TEST_AUTOMATION", "1");
        let process = Process::start(command);
        eventually("the driver listens", async || tokio::net::TcpStream::connect(driver).await.ok()).await;
        let options = json!({ "binary": binary(), "args": arguments });
        // With another strategy, the driver would wait for a page that the window refuses to open.
        let wanted = json!({ "pageLoadStrategy": "none", "webkitgtk:browserOptions": options });
        let wanted = json!({ "capabilities": { "alwaysMatch": wanted } });
        // If the window ends before it is driven, the driver waits forever.
        let opened = tokio::time::timeout(crate::wait::LONG, ask(driver, "POST", "/session", &wanted)).await;
        let opened =
            opened.unwrap_or_else(|_| panic!("the window never comes:\n{}{}", process.out(), process.err()));
        let opened = opened.expect("the window opens");
        let session = opened["sessionId"].as_str().expect("an id").to_owned();
        let opened = Self { driver, session, process };
        eventually("the page is there", async || {
            let state = opened.execute("return location.protocol + document.readyState", json!([])).await;
            (state.ok()? == "tauri:complete").then_some(())
        })
        .await;
        opened
    }

    /// Runs a script as the body of a function, and returns the function's result.
    pub async fn execute(&self, script: &str, arguments: Value) -> Result<Value, Value> {
        self.ask("POST", "/execute/sync", &json!({ "script": script, "args": arguments })).await
    }

    /// Runs a script as the body of a function whose last argument is a callback for the result.
    pub async fn execute_async(&self, script: &str, arguments: Value) -> Result<Value, Value> {
        self.ask("POST", "/execute/async", &json!({ "script": script, "args": arguments })).await
    }

    /// Clicks the element that a selector finds, as a hand does. Pages may do some things only after a real click.
    pub async fn click(&self, selector: &str) -> Result<(), Value> {
        let found =
            self.ask("POST", "/element", &json!({ "using": "css selector", "value": selector })).await?;
        let id = found.as_object().and_then(|found| found.values().next()?.as_str()).expect("an id");
        self.ask("POST", &format!("/element/{id}/click"), &json!({})).await.map(drop)
    }

    /// Ends the window, if it has not ended yet, and the driver.
    pub async fn quit(self) {
        let started = descendants(self.process.id());
        let _ended_before = self.ask("DELETE", "", &Value::Null).await;
        // The driver waits neither for the window nor for the processes that show its page. A page that a hostile link
        // stopped halfway may never learn of the end. Each of these processes would hold the driver's output open. A
        // process that has ended has no `exe` link any more.
        let left = || started.iter().filter(|pid| std::fs::read_link(format!("/proc/{pid}/exe")).is_ok());
        for signal in ["-TERM", "-KILL"] {
            let ended = async {
                while left().next().is_some() {
                    tokio::time::sleep(PACE).await
                }
            };
            if tokio::time::timeout(PATIENCE, ended).await.is_ok() {
                break;
            }
            for pid in left() {
                let _ended_meanwhile = Command::new("kill").args([signal, &pid.to_string()]).status().await;
            }
        }
        self.process.signal("TERM").await;
        self.process.end().await;
    }

    async fn ask(&self, method: &str, path: &str, body: &Value) -> Result<Value, Value> {
        let path = format!("/session/{}{path}", self.session);
        within(&format!("the driver answers to {path}"), ask(self.driver, method, &path, body)).await
    }
}

/// Returns the value of the driver's answer; `Err` if WebDriver reports an error.
async fn ask(driver: SocketAddr, method: &str, path: &str, body: &Value) -> Result<Value, Value> {
    let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
    let headers = [("Content-Type", "application/json")];
    let reply = parse_reply(&exchange(driver, &request(method, path, &headers, &body)).await);
    let value = reply.json()["value"].take();
    if reply.status == 200 { Ok(value) } else { Err(value) }
}

/// Returns the processes that a process has started, and their descendants.
pub fn descendants(pid: u32) -> Vec<u32> {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let children = children.split_whitespace().filter_map(|child| child.parse().ok());
    children.flat_map(|child| std::iter::once(child).chain(descendants(child))).collect()
}

/// Returns a free address, because the driver can't choose a port by itself.
fn free_address() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address")
}
