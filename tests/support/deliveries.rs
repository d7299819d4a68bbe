//! What the stories about deliveries do with an [`App`].

use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpSocket};

use crate::{App, LocalServer, eventually, post};

impl App {
    /// Adds a source.
    pub async fn source(&self, slug: &str, settings: Value) {
        let mut source = json!({ "slug": slug });
        merge(&mut source, &settings);
        self.ask("POST", "/api/sources", source).await;
    }

    /// Adds a target of a source, or of every source; creates the source if it is new. Returns the target's id.
    pub async fn target(&self, source: Option<&str>, url: &str, settings: Value) -> i64 {
        let mut target = json!({ "source": source, "url": url, "create": true });
        merge(&mut target, &settings);
        self.ask("POST", "/api/targets", target).await["id"].as_i64().expect("a number")
    }

    /// Posts a body to a source as its provider does. Returns the event's id.
    pub async fn catch(&self, source: &str, headers: &[(&str, &str)], body: &str) -> String {
        let reply = post(self.capture(), &format!("/{source}"), headers, body.as_bytes()).await;
        reply.json()["id"].as_str().unwrap_or_else(|| panic!("not stored: {reply:?}")).to_owned()
    }

    /// Waits until `wanted` is true of an event, and returns the event.
    pub async fn until(&self, event: &str, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        eventually(what, async || Some(self.event(event).await).filter(&wanted)).await
    }

    /// Asks for something that becomes a job, and waits until that has ended. Returns the job.
    pub async fn job(&self, path: &str, body: Value) -> Value {
        let (status, begun) = self.call("POST", path, body).await;
        assert_eq!(status, 202, "{path}: {begun}");
        let path = format!("/api/jobs/{}", begun["job"]["id"]);
        let ended =
            async || Some(self.ask("GET", &path, Value::Null).await).filter(|job| !job["ended_at"].is_null());
        eventually("the job ends", ended).await
    }

    /// Waits until an event has this status, and returns the event.
    pub async fn status(&self, event: &str, status: &str) -> Value {
        self.until(event, &format!("{event} is {status}"), |event| event["status"] == status).await
    }
}

fn merge(object: &mut Value, more: &Value) {
    for (name, value) in more.as_object().into_iter().flatten() {
        object[name] = value.clone();
    }
}

/// A port that refuses connections. It stays bound, so no other process can take it meanwhile.
pub struct Down(TcpSocket);

impl Down {
    /// Binds a free port.
    pub fn somewhere() -> Self {
        Self::at("127.0.0.1:0")
    }

    fn at(address: &str) -> Self {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.set_reuseaddr(true).expect("an option of sockets");
        socket.bind(address.parse().expect("an address")).expect("the port is free");
        Self(socket)
    }

    /// Returns the URL that refuses connections.
    pub fn url(&self) -> String {
        format!("http://{}", self.0.local_addr().expect("an address"))
    }

    /// Starts a server on this port.
    pub fn up(self) -> LocalServer {
        let listener: TcpListener = self.0.listen(128).expect("nobody else listens there");
        LocalServer::of(listener)
    }
}

impl LocalServer {
    /// Stops the server. Its port stays bound and refuses connections from then on.
    pub async fn down(self) -> Down {
        let address = self.address.to_string();
        self.stop().await;
        Down::at(&address)
    }
}
