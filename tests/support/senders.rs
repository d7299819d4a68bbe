//! Providers that sign, and clients that call the API over TCP.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::{App, Reply, exchange, parse_reply, post};

/// Returns the HMAC-SHA256 of a message in hex.
pub fn signature(secret: &str, message: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("any key will do");
    mac.update(message);
    hex::encode(mac.finalize().into_bytes())
}

impl App {
    /// Gives a source a secret; creates the source if it is new.
    pub async fn secret(&self, source: &str, label: &str, value: &str) {
        let body = json!({ "value_base64": STANDARD.encode(value), "create": true });
        self.ask("PUT", &format!("/api/sources/{source}/secrets/{label}"), body).await;
    }

    /// Posts as GitHub does, with this delivery id. The request is signed if there is a secret.
    pub async fn github(&self, source: &str, id: &str, secret: Option<&str>, body: &str) -> Reply {
        let signed = secret.map(|secret| format!("sha256={}", signature(secret, body.as_bytes())));
        let mut headers = vec![("X-GitHub-Event", "push"), ("X-GitHub-Delivery", id)];
        headers.extend(signed.as_deref().map(|signed| ("X-Hub-Signature-256", signed)));
        post(self.capture(), &format!("/{source}"), &headers, body.as_bytes()).await
    }

    /// Posts as Stripe does, signed at this time in Unix seconds.
    pub async fn stripe(&self, source: &str, secret: &str, at: i64, body: &str) -> Reply {
        let signed = format!("t={at},v1={}", signature(secret, format!("{at}.{body}").as_bytes()));
        post(self.capture(), &format!("/{source}"), &[("Stripe-Signature", &signed)], body.as_bytes()).await
    }

    /// Calls the API over TCP with only these header lines, Connection and Content-Length: no Host, no token.
    pub async fn api_raw(&self, method: &str, target: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
        let mut bytes = format!("{method} {target} HTTP/1.1\r\nConnection: close\r\n").into_bytes();
        for (name, value) in headers {
            bytes.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        }
        bytes.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
        bytes.extend_from_slice(body);
        parse_reply(&exchange(self.api(), &bytes).await)
    }

    /// Calls the API over TCP with a correct Host and token.
    pub async fn api_call(&self, method: &str, target: &str, body: &[u8]) -> Reply {
        let (host, token) = (self.api().to_string(), format!("Bearer {}", self.token()));
        self.api_raw(method, target, &[("Host", &host), ("Authorization", &token)], body).await
    }

    /// Returns the latest requests that were refused, newest first.
    pub async fn refused(&self) -> Vec<Value> {
        self.ask("GET", "/api/stats", Value::Null).await["refused"].as_array().expect("a list").clone()
    }
}
