//! Asks the API over one kept connection.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::{Method, Request, header};
use http_body_util::{BodyExt as _, Empty};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::{net::TcpStream, task::JoinSet};

/// A connection to the API. It is closed when dropped.
pub(super) struct Client {
    address: SocketAddr,
    requests: SendRequest<Empty<Bytes>>,
    _driver: JoinSet<hyper::Result<()>>,
}

/// An answer, and how long it took.
pub(super) struct Answer {
    pub(super) status: u16,
    body: Vec<u8>,
    /// Until the whole answer was there.
    pub(super) took: Duration,
    /// Until the first row was there; if there is none, until the whole answer was.
    pub(super) first_row: Duration,
}

impl Answer {
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(super) fn json(&self) -> anyhow::Result<Value> {
        Ok(serde_json::from_slice(&self.body)?)
    }

    /// Returns how many rows a list's answer has.
    pub(super) fn rows(&self) -> usize {
        self.json().ok().and_then(|page| Some(page["items"].as_array()?.len())).unwrap_or_default()
    }
}

impl Client {
    pub(super) async fn connect(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let (requests, driver) = http1::handshake(TokioIo::new(stream)).await?;
        let mut driving = JoinSet::new();
        driving.spawn(driver);
        Ok(Self { address, requests, _driver: driving })
    }

    pub(super) async fn get(&mut self, path: &str) -> anyhow::Result<Answer> {
        self.ask(Method::GET, path).await
    }

    pub(super) async fn ask(&mut self, method: Method, path: &str) -> anyhow::Result<Answer> {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, self.address.to_string())
            .header(header::AUTHORIZATION, format!("Bearer {}", super::served::TOKEN))
            .body(Empty::new())?;
        self.requests.ready().await?;
        let asked = Instant::now();
        let answer = self.requests.send_request(request).await?;
        let (status, mut coming) = (answer.status().as_u16(), answer.into_body());
        let (mut body, mut first_row) = (Vec::new(), None);
        while let Some(frame) = coming.frame().await {
            if let Ok(data) = frame?.into_data() {
                body.extend_from_slice(&data);
            }
            if first_row.is_none() && memchr::memmem::find(&body, br#""seq":"#).is_some() {
                first_row = Some(asked.elapsed());
            }
        }
        let took = asked.elapsed();
        Ok(Answer { status, body, took, first_row: first_row.unwrap_or(took) })
    }
}
