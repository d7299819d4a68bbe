//! A provider's API on this machine, over TLS and, for the provider's SDK, without.

use std::{
    collections::VecDeque,
    io::{BufRead as _, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, UNIX_EPOCH},
};

use hookmitt_engine::Network;
use hookmitt_event::Timestamp;
use rustls::{RootCertStore, ServerConfig, ServerConnection, StreamOwned, crypto::ring};
use serde_json::Value;

use crate::wait::LONG;

/// A request to the API.
#[derive(Clone, Debug)]
pub struct ApiCall {
    /// GET or another.
    pub method: String,
    /// The path without its query.
    pub path: String,
    /// The query's names and values, decoded.
    pub query: Vec<(String, String)>,
    /// The header lines, their names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// The URL of the API as this caller sees it.
    pub base: String,
}

impl ApiCall {
    /// Returns a value of the query.
    pub fn asks(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// Returns a number of the query.
    pub fn number(&self, name: &str) -> Option<i64> {
        self.asks(name)?.parse().ok()
    }

    /// Returns a header line's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// Returns the JSON of the body.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }
}

/// What the API answers.
#[derive(Clone, Debug)]
pub struct ApiAnswer {
    /// The status.
    pub status: u16,
    /// More header lines.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
}

impl ApiAnswer {
    /// Answers 200 with JSON.
    pub fn json(body: &Value) -> Self {
        Self { status: 200, headers: Vec::new(), body: body.to_string() }
    }

    /// Answers with a status and an error's message.
    pub fn error(status: u16, message: &str) -> Self {
        let body = serde_json::json!({ "error": { "message": message } });
        Self { status, headers: Vec::new(), body: body.to_string() }
    }

    /// Adds a header line.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }
}

/// What happens to a call instead of its usual answer.
#[derive(Clone, Debug)]
pub enum Trouble {
    /// It is answered so.
    Answer(ApiAnswer),
    /// Half of its usual answer comes.
    Cut,
    /// Its usual answer comes so late.
    Late(Duration),
}

type Says = dyn Fn(&ApiCall) -> ApiAnswer + Send + Sync;

struct Shared {
    says: Box<Says>,
    troubles: Mutex<VecDeque<Option<Trouble>>>,
    calls: Mutex<Vec<ApiCall>>,
    /// How many seconds its clock is ahead.
    ahead: Mutex<i64>,
}

/// A provider's API.
#[derive(Clone)]
pub struct ProviderApi {
    shared: Arc<Shared>,
    secure: SocketAddr,
    plain: SocketAddr,
    roots: RootCertStore,
}

impl ProviderApi {
    /// Starts an API with these host names that answers what `says` says.
    pub fn start(names: &[&str], says: impl Fn(&ApiCall) -> ApiAnswer + Send + Sync + 'static) -> Self {
        let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
        let host = names.first().expect("a name").clone();
        let made = rcgen::generate_simple_self_signed(names).expect("a certificate");
        let mut roots = RootCertStore::empty();
        roots.add(made.cert.der().clone()).expect("a root");
        let key = made.signing_key.serialize_der().try_into().expect("a PKCS #8 key");
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("ring supports the default versions")
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .expect("the key fits the certificate");
        let shared = Arc::new(Shared {
            says: Box::new(says),
            troubles: Mutex::default(),
            calls: Mutex::default(),
            ahead: Mutex::default(),
        });
        let config = Arc::new(config);
        let (served, base) = (Arc::clone(&shared), format!("https://{host}"));
        let secure = listen(move |stream| {
            let connection = ServerConnection::new(Arc::clone(&config)).expect("a complete configuration");
            serve(&served, StreamOwned::new(connection, stream), &base);
        });
        let served = Arc::clone(&shared);
        let plain = listen(move |stream| {
            let base = format!("http://{}", stream.local_addr().expect("an address"));
            serve(&served, stream, &base);
        });
        Self { shared, secure, plain, roots }
    }

    /// Returns a network in which every host name leads to this API, and only its certificate is trusted.
    pub fn network(&self) -> Network {
        Network::of_test(self.secure, self.roots.clone()).patient(LONG)
    }

    /// Returns the API's URL without TLS.
    pub fn url(&self) -> String {
        format!("http://{}", self.plain)
    }

    /// Has these things happen to the next calls, one after the other; `None` stands for the usual answer.
    pub fn will(&self, troubles: impl IntoIterator<Item = Option<Trouble>>) {
        locked(&self.shared.troubles).extend(troubles);
    }

    /// Sets its clock so many seconds ahead.
    pub fn is_ahead(&self, seconds: i64) {
        *locked(&self.shared.ahead) = seconds;
    }

    /// Returns the calls so far.
    pub fn calls(&self) -> Vec<ApiCall> {
        locked(&self.shared.calls).clone()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Serves each connection on a thread of its own. These end with the test's process.
fn listen(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let serve = Arc::new(serve);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let serve = Arc::clone(&serve);
            std::thread::spawn(move || serve(stream));
        }
    });
    address
}

/// Answers the requests of a connection until it ends.
fn serve(shared: &Shared, stream: impl Read + Write, base: &str) {
    let mut reader = BufReader::new(stream);
    while let Some(call) = read(&mut reader, base) {
        locked(&shared.calls).push(call.clone());
        let trouble = locked(&shared.troubles).pop_front().flatten();
        let (answer, cut) = match trouble {
            Some(Trouble::Answer(answer)) => (answer, false),
            Some(Trouble::Cut) => ((shared.says)(&call), true),
            Some(Trouble::Late(by)) => {
                std::thread::sleep(by);
                ((shared.says)(&call), false)
            }
            None => ((shared.says)(&call), false),
        };
        let ahead = *locked(&shared.ahead);
        if write(reader.get_mut(), &answer, ahead, cut).is_err() || cut {
            return;
        }
    }
}

fn read(reader: &mut BufReader<impl Read>, base: &str) -> Option<ApiCall> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let mut words = line.split_ascii_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let query = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decoded(name), decoded(value))
    });
    let query = query.collect();
    Some(ApiCall { method, path: decoded(path), query, headers, body, base: base.to_owned() })
}

fn decoded(text: &str) -> String {
    let bytes = text.replace('+', " ").into_bytes();
    let (mut out, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let digits = bytes.get(at + 1..at + 3).and_then(|two| std::str::from_utf8(two).ok());
        match digits.filter(|_| bytes[at] == b'%').and_then(|two| u8::from_str_radix(two, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn write(out: &mut impl Write, answer: &ApiAnswer, ahead: i64, cut: bool) -> std::io::Result<()> {
    let now = u64::try_from(Timestamp::now().as_seconds() + ahead).unwrap_or(0);
    let date = UNIX_EPOCH + Duration::from_secs(now);
    let mut head = format!(
        "HTTP/1.1 {} As told\r\nContent-Length: {}\r\nDate: {}\r\n",
        answer.status,
        answer.body.len(),
        httpdate::fmt_http_date(date)
    );
    if !answer.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
        head.push_str("Content-Type: application/json\r\n");
    }
    for (name, value) in &answer.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    let body = answer.body.as_bytes();
    let body = if cut { &body[..body.len() / 2] } else { body };
    out.write_all(&[head.as_bytes(), b"\r\n", body].concat())?;
    out.flush()
}
