//! The page in the real window, driven as a user would, through WebKit's own driver.

use std::{
    net::{SocketAddr, TcpListener},
    path::Path,
};

use hookmitt_stories::{Desk, Ran, WebDriver, eventually};
use serde_json::{Value, json};

use super::{
    listen::{command, github, run},
    window::Scene,
};

/// The page in a window.
pub(crate) struct Page(WebDriver);

/// Calls the API as the page does, and decodes the answer.
const CALL: &str = "
    const [head, done] = arguments, text = new TextEncoder().encode(head);
    const frame = new Uint8Array(4 + text.length);
    new DataView(frame.buffer).setUint32(0, text.length);
    frame.set(text, 4);
    window.__TAURI_INTERNALS__.invoke('api', frame).then((answer) => {
        const length = new DataView(answer).getUint32(0);
        done(new TextDecoder().decode(new Uint8Array(answer, 4 + length)));
    }, (why) => done(JSON.stringify(why)));
";

/// Calls a command of the shell; returns `[true, answer]` or `[false, reason]`.
const INVOKE: &str = "
    const [command, given, done] = arguments;
    window.__TAURI_INTERNALS__.invoke(command, given)
        .then((answer) => done([true, answer ?? null]), (why) => done([false, why]));
";

/// Like `INVOKE`, for the command that saves a file.
const SAVE: &str = "
    const [head, done] = arguments, text = new TextEncoder().encode(head);
    const frame = new Uint8Array(4 + text.length);
    new DataView(frame.buffer).setUint32(0, text.length);
    frame.set(text, 4);
    window.__TAURI_INTERNALS__.invoke('save_file', frame)
        .then((answer) => done([true, answer]), (why) => done([false, why]));
";

impl Page {
    /// Opens the window on this desktop, controlled by the driver.
    pub(crate) async fn open(desk: &Desk, data_dir: &Path) -> Self {
        Self(WebDriver::open(desk, data_dir, &["--port", "0"]).await)
    }

    /// Returns the window's capture address.
    pub(crate) async fn capture(&self) -> SocketAddr {
        eventually("it catches", async || {
            let urls = self.call("GET", "/api/urls").await;
            urls["capture"][0].as_str()?.trim_start_matches("http://").parse().ok()
        })
        .await
    }

    /// Calls the API as the page does.
    pub(crate) async fn call(&self, method: &str, path: &str) -> Value {
        let head = json!({ "method": method, "path": path, "headers": [] }).to_string();
        let answer = self.0.execute_async(CALL, json!([head])).await.expect("an answer");
        serde_json::from_str(answer.as_str().expect("text")).expect("JSON")
    }

    /// Calls a command of the shell.
    pub(crate) async fn invoke(&self, command: &str, given: Value) -> Result<Value, String> {
        let mut answer = self.0.execute_async(INVOKE, json!([command, given])).await.expect("an answer");
        if answer[0] == true { Ok(answer[1].take()) } else { Err(answer[1].to_string()) }
    }

    /// Lets the shell save the API's answer as a file.
    pub(crate) async fn save(&self, path: &str, name: &str) -> Result<Value, String> {
        let head =
            json!({ "method": "GET", "path": path, "headers": [["x-hookmitt-save-as", name]] }).to_string();
        let mut answer = self.0.execute_async(SAVE, json!([head])).await.expect("an answer");
        if answer[0] == true { Ok(answer[1].take()) } else { Err(answer[1].to_string()) }
    }

    /// Runs a script, without waiting for its promises.
    pub(crate) async fn run(&self, script: &str) {
        self.0.execute(script, json!([])).await.expect("the page is there");
    }

    /// Returns the value of an expression.
    pub(crate) async fn value(&self, expression: &str) -> Value {
        self.0.execute(&format!("return {expression}"), json!([])).await.expect("the page is there")
    }

    /// Clicks the button with this text, as soon as it exists.
    pub(crate) async fn click(&self, words: &str) {
        let script = "const button = [...document.querySelectorAll('button')].find((one) => one.innerText.trim() === arguments[0]); \
            button?.click(); return button !== undefined";
        eventually(&format!("there is a button {words:?}"), async || {
            let clicked = self.0.execute(script, json!([words])).await.expect("the page is there");
            (clicked == true).then_some(())
        })
        .await;
    }

    /// Clicks a link to a new window.
    pub(crate) async fn follow(&self, url: &str) {
        self.run(&format!(
            "const link = Object.assign(document.createElement('a'), \
               {{ href: '{url}', target: '_blank', rel: 'noopener', id: 'followed', textContent: 'a link' }}); \
             document.getElementById('followed')?.remove(); document.body.prepend(link);"
        ))
        .await;
        self.0.click("#followed").await.expect("the link is there");
    }

    /// Waits until the window has ended by itself.
    pub(crate) async fn gone(self) {
        eventually("the window has ended", async || self.0.execute("return 1", json!([])).await.err()).await;
        self.close().await;
    }

    /// Closes the window.
    pub(crate) async fn close(self) {
        self.0.quit().await;
    }
}

async fn set_secret(data_dir: &Path, source: &str, secret: &str) {
    Ran::with_input(command(data_dir, &["secret", "set", source]), secret.as_bytes()).await.exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_appears_by_itself_with_its_verdict() {
    let Some(scene) = Scene::start().await else { return };
    let data_dir = scene.folder.path();
    let page = Page::open(&scene.desk, data_dir).await;
    let capture = page.capture().await;
    run(data_dir, &["source", "add", "github", "--provider", "github"]).await.exits(0);
    set_secret(data_dir, "github", "mitt").await;
    page.run("window.stayed = true").await;

    for (id, secret) in [("1", "mitt"), ("2", "another")] {
        assert_eq!(github(capture, "github", secret, id, &format!("{{\"n\":{id}}}")).await.status, 200);
    }
    let rows = eventually("both events are in the list", async || {
        let rows =
            page.value("[...document.querySelectorAll('[role=option]')].map((row) => row.outerHTML)").await;
        let rows = rows.as_array()?.clone();
        (rows.len() == 2).then_some(rows)
    })
    .await;
    let says = |row: &Value, words: &str| assert!(row.to_string().contains(words), "{words}: {row}");
    says(&rows[0], "Invalid signature");
    says(&rows[1], "Valid signature");
    assert_eq!(page.value("window.stayed").await, true, "without loading the page again");
    page.close().await;
    scene.desk.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_taken_port_is_said_and_another_can_be_chosen() {
    let Some(scene) = Scene::start().await else { return };
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port().to_string();
    let page = Page(WebDriver::open(&scene.desk, scene.folder.path(), &["--port", &port]).await);
    let state = async || page.invoke("desktop_state", json!({})).await.expect("a state");
    let failed = eventually("it says so", async || {
        let state = state().await;
        (state["state"] == "failed").then_some(state)
    })
    .await;
    let words = format!("port {port} is taken");
    assert_eq!(failed["code"], "port-taken");
    assert!(failed["message"].as_str().is_some_and(|message| message.starts_with(&words)), "{failed}");
    assert!(failed["hint"].is_string());
    assert_eq!(page.call("GET", "/api/stats").await["code"], "port-taken");

    page.click(&format!("Try {port} again")).await;
    assert_eq!(page.call("GET", "/api/stats").await["code"], "port-taken");
    page.click("Use this port").await;
    eventually("it catches", async || (state().await["state"] == "running").then_some(())).await;
    let capture = page.capture().await;
    assert_ne!(capture.port().to_string(), port);
    page.close().await;

    // The port is remembered.
    let page = Page(WebDriver::open(&scene.desk, scene.folder.path(), &[]).await);
    assert_eq!(page.capture().await, capture);
    page.close().await;
    scene.desk.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn threat_2_the_page_can_neither_leave_nor_reach_out() {
    let Some(scene) = Scene::start().await else { return };
    let data_dir = scene.folder.path();
    let page = Page::open(&scene.desk, data_dir).await;
    let capture = page.capture().await;
    let here = page.value("location.href").await;
    page.run(&format!("location.href = 'http://{capture}/left'; window.open('http://{capture}/opened')"))
        .await;
    page.run(&format!(
        "fetch('http://{capture}/fetched').catch((error) => {{ window.refused = String(error) }})"
    ))
    .await;
    eventually("the page may not fetch", async || {
        page.value("window.refused ?? null").await.as_str().map(str::to_owned)
    })
    .await;
    page.run(
        "const script = document.createElement('script'); script.textContent = 'window.ran = 1'; \
              document.body.append(script)",
    )
    .await;
    assert_eq!(page.value("window.ran ?? null").await, Value::Null);
    for command in ["plugin:window|close", "plugin:path|resolve_directory", "plugin:event|emit"] {
        let why = page.invoke(command, json!({})).await.expect_err("it is refused");
        assert!(why.contains("not allowed"), "{command}: {why}");
    }
    assert_eq!(page.value("location.href").await, here);
    assert_eq!(run(data_dir, &["events", "--json"]).await.exits(0).json(), Vec::<Value>::new());
    page.close().await;
    scene.desk.end().await;
}
