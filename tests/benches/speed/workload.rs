//! What is sent: random bodies signed as GitHub does, with a new delivery id for each request.

use bytes::Bytes;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::{HeaderValue, Request};
use http_body_util::Full;
use rand::{Rng as _, RngExt as _, SeedableRng as _, rngs::SmallRng};
use sha2::Sha256;

/// The secret that signs the bodies.
pub(crate) const SECRET: &str = "a benchmark's secret";

/// The bytes of each body that is captured.
pub(crate) const BODY: usize = 3_300;

/// How many different bodies there are. They are signed before the clock starts.
const BODIES: usize = 256;

/// Requests that are complete except for their delivery ids.
pub(crate) struct Workload {
    requests: Vec<Request<Full<Bytes>>>,
}

impl Workload {
    /// Makes and signs bodies of this many bytes.
    pub(crate) fn new(seed: u64, path: &str, size: usize) -> Self {
        let mut random = SmallRng::seed_from_u64(seed);
        let requests = (0..BODIES).map(|_| signed(path, body(&mut random, size))).collect();
        Self { requests }
    }

    /// Returns the request with this number and a random delivery id. The bodies repeat.
    pub(crate) fn request(&self, number: usize, random: &mut SmallRng) -> http::Result<Request<Full<Bytes>>> {
        let mut request = self.requests[number % self.requests.len()].clone();
        let id = uuid::Builder::from_random_bytes(random.random()).into_uuid();
        let id = HeaderValue::from_str(id.hyphenated().encode_lower(&mut uuid::Uuid::encode_buffer()))?;
        request.headers_mut().insert("x-github-delivery", id);
        Ok(request)
    }
}

fn body(random: &mut SmallRng, size: usize) -> String {
    let before =
        r#"{"ref":"refs/heads/main","repository":{"full_name":"octo/hello"},"head_commit":{"message":""#;
    let after = r#""}}"#;
    let mut text = String::with_capacity(size);
    text.push_str(before);
    while text.len() < size - after.len() {
        let letter = char::from(b' ' + (random.next_u32() % 95) as u8);
        if !matches!(letter, '"' | '\\') {
            text.push(letter);
        }
    }
    text.push_str(after);
    text
}

fn signed(path: &str, body: String) -> Request<Full<Bytes>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).expect("any length is a key");
    mac.update(body.as_bytes());
    let signature = hex::encode(mac.finalize().into_bytes());
    Request::post(path)
        .header("host", "127.0.0.1")
        .header("x-github-delivery", "00000000-0000-0000-0000-000000000000")
        .header("x-github-event", "push")
        .header("x-github-hook-id", "292430182")
        .header("user-agent", "GitHub-Hookshot/044aadd")
        .header("accept", "*/*")
        .header("content-type", "application/json")
        .header("x-hub-signature-256", format!("sha256={signature}"))
        .body(Full::new(Bytes::from(body)))
        .expect("well-formed parts")
}
