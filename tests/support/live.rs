//! The API's live stream, read over TCP.

use serde_json::Value;

use crate::{App, Connection};

/// An open live stream.
pub struct Live(Connection);

impl Live {
    /// Opens a live stream. `query` is empty or begins with `?`.
    pub async fn open(app: &App, query: &str) -> Self {
        let mut connection = Connection::open(app.api()).await;
        // HTTP/1.0, so that the frames come without chunked encoding.
        let head = format!(
            "GET /api/live{query} HTTP/1.0\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
            app.api(),
            app.token()
        );
        assert!(connection.send(head.as_bytes()).await);
        let head = connection.head().await.to_ascii_lowercase();
        assert!(head.contains(" 200 ") && head.contains("content-type: text/event-stream"), "{head}");
        Self(connection)
    }

    /// Waits for the next named frame, and returns its name and data.
    pub async fn next(&mut self) -> (String, Value) {
        let (mut name, mut data) = (String::new(), Value::Null);
        loop {
            let line = self.0.line().await;
            if let Some(text) = line.strip_prefix("event: ") {
                text.clone_into(&mut name);
            } else if let Some(text) = line.strip_prefix("data: ") {
                data = serde_json::from_str(text).expect("JSON");
            } else if line.is_empty() && !name.is_empty() {
                return (name, data);
            }
        }
    }

    /// Waits for the next frame with this name, and returns its data.
    pub async fn next_of(&mut self, wanted: &str) -> Value {
        loop {
            let (name, data) = self.next().await;
            if name == wanted {
                return data;
            }
        }
    }

    /// Waits for the next event for which `wanted` is true.
    pub async fn event(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let event = self.next_of("event").await;
            if wanted(&event) {
                return event;
            }
        }
    }

    /// Reads until the stream ends.
    pub async fn ends(self) {
        self.0.rest().await;
    }
}
