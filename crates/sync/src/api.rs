//! Sends a connector's requests, with its API key, over https and within limits. Nothing else sees the key.

use std::{
    fmt,
    sync::{Arc, PoisonError},
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hookmitt_call::Network;
use hookmitt_event::Timestamp;
use reqwest::{
    Client, Method, Response,
    header::{HeaderMap, HeaderName, HeaderValue},
    redirect::Policy,
};
use serde_json::value::RawValue;
use tokio::{sync::Mutex, time::Instant};
use url::Url;
use zeroize::Zeroizing;

use crate::{
    address::{Guarded, may_call},
    asked::Asked,
    call_error::CallError,
    connector::{Connector, KeyPlace},
    rate_limit::{RateLimit, date_of},
    raw,
};

/// The maximum size of an answer's body in bytes.
pub const LARGEST: usize = 10 * 1024 * 1024;

/// The maximum time of a call, from the name lookup to the last byte.
pub const TIME_LIMIT: Duration = Duration::from_secs(30);

/// Calls the API of one connector.
pub struct Api {
    connector: Arc<Connector>,
    key: Zeroizing<String>,
    client: Client,
    /// The access token that the key got, if it gets one, and how long it is good.
    token: Mutex<Option<(Zeroizing<String>, Instant)>>,
    /// The access tokens, to be left out of what is shown.
    tokens: std::sync::Mutex<Vec<Zeroizing<String>>>,
}

/// An answer.
#[derive(Debug)]
pub struct Reply {
    /// The JSON.
    pub body: Box<RawValue>,
    /// Its Link line.
    pub link: Option<String>,
    /// What time it is there, if the answer says so: to the second.
    pub date: Option<Timestamp>,
}

/// Returns what the user typed as the API key that is sent: without the white space around it. `None` if a header line
/// can't have it.
pub fn as_key(typed: &[u8]) -> Option<&str> {
    let key = std::str::from_utf8(typed).ok()?.trim();
    let fits = |byte: u8| byte.is_ascii_graphic() || byte == b' ';
    (!key.is_empty() && key.bytes().all(fits)).then_some(key)
}

impl Api {
    /// Prepares calls. The key is what the user typed, without the white space around it.
    ///
    /// # Errors
    /// Fails if the key has characters that a header line can't have.
    pub fn new(connector: Arc<Connector>, key: &[u8], network: &Network) -> Result<Self, CallError> {
        let key = as_key(key).ok_or(CallError::Key)?;
        let is_own = connector.is_own();
        let mut tls = network.tls_config();
        tls.alpn_protocols.clear(); // reqwest decides which HTTP is spoken
        let mut builder = Client::builder()
            .tls_backend_preconfigured(tls)
            .redirect(Policy::none())
            .dns_resolver(Guarded { network: network.clone(), is_own })
            .user_agent(concat!("hookmitt/", env!("CARGO_PKG_VERSION")))
            .timeout(network.limit(TIME_LIMIT));
        if is_own {
            builder = builder.no_proxy(); // a proxy would look the name up itself, and so call any address
        }
        let client = builder.build().map_err(|error| CallError::Unreachable(error.to_string()))?;
        Ok(Self {
            connector,
            key: Zeroizing::new(key.to_owned()),
            client,
            token: Mutex::default(),
            tokens: <_>::default(),
        })
    }

    /// Sends a request and returns the answer, if it is a good one.
    ///
    /// # Errors
    /// Returns a [`CallError`] that says what to do.
    pub async fn call(&self, asked: Asked) -> Result<Reply, CallError> {
        if !may_call(&asked.url, self.connector.is_own()) {
            return Err(CallError::Forbidden(asked.url.host_str().unwrap_or_default().to_owned()));
        }
        let mut headers = HeaderMap::new();
        for (name, value) in &asked.headers {
            headers.append(header_name(name)?, header_value(value)?);
        }
        let (name, mut value) = self.key_line().await?;
        value.set_sensitive(true);
        headers.insert(name, value);
        headers.entry("accept").or_insert(HeaderValue::from_static("application/json"));
        if asked.body.is_some() {
            headers.entry("content-type").or_insert(HeaderValue::from_static("application/json"));
        }
        let method = Method::from_bytes(asked.method.as_bytes())
            .map_err(|_| CallError::Unreachable(format!("{:?} isn't a method", asked.method)))?;
        let mut request = self.client.request(method, asked.url).headers(headers);
        if let Some(body) = asked.body {
            request = request.body(body);
        }
        let response = request.send().await.map_err(|error| self.failed(&error))?;
        self.read(response).await
    }

    async fn key_line(&self) -> Result<(HeaderName, HeaderValue), CallError> {
        let key = self.key.as_str();
        let (name, value) = match &self.connector.key.sent {
            KeyPlace::Bearer => ("authorization", Zeroizing::new(format!("Bearer {key}"))),
            KeyPlace::Basic => {
                let pair = Zeroizing::new(if key.contains(':') { key.to_owned() } else { format!("{key}:") });
                ("authorization", Zeroizing::new(format!("Basic {}", STANDARD.encode(pair.as_bytes()))))
            }
            KeyPlace::Header(name) => (name.as_str(), self.key.clone()),
            KeyPlace::ClientCredentials(url) => {
                let token = self.token(url).await?;
                ("authorization", Zeroizing::new(format!("Bearer {}", *token)))
            }
        };
        Ok((header_name(name)?, HeaderValue::from_str(&value).map_err(|_| CallError::Key)?))
    }

    /// Returns an access token for the key: the one that it got before, as long as that is good.
    async fn token(&self, url: &str) -> Result<Zeroizing<String>, CallError> {
        let mut held = self.token.lock().await;
        if let Some((token, _)) = held.as_ref().filter(|(_, until)| *until > Instant::now()) {
            return Ok(token.clone());
        }
        let url = Url::parse(url).map_err(|error| CallError::Unreachable(error.to_string()))?;
        if !may_call(&url, self.connector.is_own()) {
            return Err(CallError::Forbidden(url.host_str().unwrap_or_default().to_owned()));
        }
        let mut basic = HeaderValue::from_str(&format!("Basic {}", STANDARD.encode(self.key.as_bytes())))
            .map_err(|_| CallError::Key)?;
        basic.set_sensitive(true);
        let request = self.client.post(url).header("authorization", basic);
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let response = request.body("grant_type=client_credentials").send().await;
        let reply = self.read(response.map_err(|error| self.failed(&error))?).await?;
        let part = |name: &str| raw::at(&reply.body, name).and_then(raw::text);
        let token = part("/access_token").map(Zeroizing::new).ok_or(CallError::Key)?;
        let lasts = part("/expires_in").and_then(|text| text.parse().ok()).unwrap_or(60_u64);
        // A minute early, so that it doesn't end on its way.
        let until = Instant::now() + Duration::from_secs(lasts.saturating_sub(60));
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner).push(token.clone());
        *held = Some((token.clone(), until));
        Ok(token)
    }

    async fn read(&self, response: Response) -> Result<Reply, CallError> {
        let status = response.status();
        let text = |name: &str| response.headers().get(name)?.to_str().ok().map(str::to_owned);
        let (link, date) = (text("link"), text("date").and_then(|date| date_of(&date)));
        let encoding = text("content-encoding").filter(|encoding| encoding != "identity");
        let limits = RateLimit {
            retry_after: text("retry-after"),
            remaining: text("x-ratelimit-remaining"),
            reset: text("x-ratelimit-reset"),
            now: date.unwrap_or_else(Timestamp::now),
        };
        if status.is_redirection() {
            return Err(CallError::Redirect);
        }
        let body = self.body(response).await?;
        if status.is_success() {
            if let Some(encoding) = encoding {
                return Err(CallError::NoJson(format!("it is encoded as {encoding}")));
            }
            let body = serde_json::from_slice(&body).map_err(|error| CallError::NoJson(error.to_string()))?;
            return Ok(Reply { body, link, date });
        }
        let said = serde_json::from_slice(&body).ok().and_then(|json| self.said(json));
        Err(match status.as_u16() {
            429 => CallError::Limited { after: limits.wait(), said },
            403 if limits.is_spent() => CallError::Limited { after: limits.wait(), said },
            401 => CallError::Unauthorized(said),
            403 => CallError::Refused(said),
            status @ 500.. => CallError::Failed { status, after: limits.after(), said },
            status => CallError::Rejected { status, said },
        })
    }

    async fn body(&self, mut response: Response) -> Result<Vec<u8>, CallError> {
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.failed(&error))? {
            if body.len() + chunk.len() > LARGEST {
                return Err(CallError::TooLarge);
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    /// Returns what an answer says that isn't a good one, in its own words. GraphQL gives such answers a good status.
    pub fn said(&self, json: &RawValue) -> Option<String> {
        /// The longest message that is shown, in characters.
        const LONGEST: usize = 300;
        let said = self.without_key(&said_in(json)?);
        Some(said.chars().take(LONGEST).collect())
    }

    /// Returns why an answer with a good status is none all the same: Slack says `"ok": false`, and GraphQL has `errors`.
    pub fn refusal(&self, json: &RawValue) -> Option<String> {
        let is_refusal = raw::at(json, "/ok").is_some_and(|ok| ok.get() == "false")
            || raw::at(json, "/errors/0").is_some();
        is_refusal.then(|| self.said(json).unwrap_or_else(|| "it refuses".to_owned()))
    }

    fn failed(&self, error: &reqwest::Error) -> CallError {
        if error.is_timeout() {
            return CallError::Slow;
        }
        // The innermost cause, because the others name the URL, which may have the user's own texts in it.
        let mut cause: &dyn std::error::Error = error;
        while let Some(inner) = cause.source() {
            if let Some(forbidden) = inner.downcast_ref::<CallError>() {
                return forbidden.clone();
            }
            cause = inner;
        }
        CallError::Unreachable(self.without_key(&cause.to_string()))
    }

    /// Returns a text without the key, in whatever form it was sent. Nobody knows what an API repeats of a request that it
    /// refuses.
    fn without_key(&self, text: &str) -> String {
        let key = self.key.as_str();
        let password = key.split_once(':').map_or(key, |(_, password)| password);
        let encoded = [key, &format!("{key}:")].map(|form| Zeroizing::new(STANDARD.encode(form)));
        let mut clean = text.to_owned();
        for form in [encoded[1].as_str(), encoded[0].as_str(), key, password] {
            let bare = form.trim_end_matches('=');
            if bare.len() >= 4 {
                clean = clean.replace(form, "…").replace(bare, "…");
            }
        }
        let tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        tokens.iter().fold(clean, |clean, token| clean.replace(token.as_str(), "…"))
    }
}

impl fmt::Debug for Api {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Api({})", self.connector.name)
    }
}

/// Returns the message in the JSON of an error, wherever providers put it.
fn said_in(json: &RawValue) -> Option<String> {
    const PLACES: [&str; 9] = [
        "/error/message",
        "/errors/0/message",
        "/errors/0/detail",
        "/message",
        "/detail",
        "/error_description",
        "/error/messages/0",
        "/errors/0",
        "/error",
    ];
    PLACES.iter().find_map(|place| raw::at(json, place).and_then(raw::text))
}

fn header_name(name: &str) -> Result<HeaderName, CallError> {
    name.parse().map_err(|_| CallError::Unreachable(format!("{name:?} isn't a header name")))
}

fn header_value(value: &str) -> Result<HeaderValue, CallError> {
    HeaderValue::from_str(value).map_err(|_| CallError::Unreachable("a header value isn't one".to_owned()))
}
