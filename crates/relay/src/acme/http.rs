//! Requests to an ACME server: HTTP/1.1 over TLS, with limits on time and size.

use std::{error::Error as StdError, future::Future, path::Path, pin::Pin, time::Duration};

use bytes::Bytes;
use hookmitt_call::{Stream, Tls, Trust, connect, resolve};
use http::{HeaderValue, Request, Response, Uri, header, uri::PathAndQuery};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use instant_acme::{BodyWrapper, BytesResponse, Error, HttpClient};
use tokio::time::{Instant, timeout};
use url::Host;

use super::AcmeError;

/// How long one request may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long connecting to one of the server's addresses may take.
const CONNECT: Duration = Duration::from_secs(5);

/// The size limit of an answer in bytes; a chain has some ten thousand.
const LARGEST: usize = 256 * 1024;

type Trouble = Box<dyn StdError + Send + Sync>;

/// The HTTP client for an ACME server.
#[derive(Clone, Debug)]
pub(super) struct Http(Tls);

impl Http {
    /// Returns a client that trusts Mozilla's roots as built into this version, and those in the file.
    pub(super) fn new(authorities: Option<&Path>) -> Result<Self, AcmeError> {
        let mut trust = Trust::built_in();
        if let Some(path) = authorities {
            trust = trust
                .and_file(path, "there is no certificate in it")
                .map_err(|why| AcmeError::Authorities { path: path.to_owned(), why })?;
        }
        Ok(Self(Tls::new(trust)))
    }

    async fn ask(self, mut request: Request<BodyWrapper<Bytes>>) -> Result<BytesResponse, Trouble> {
        let authority = request.uri().authority().cloned().ok_or("its URL has no host")?;
        if request.uri().scheme_str() != Some("https") {
            return Err(format!("{authority} would be contacted without TLS").into());
        }
        let stream = self.connect(authority.host(), authority.port_u16().unwrap_or(443)).await?;
        request.headers_mut().insert(header::HOST, HeaderValue::from_str(authority.as_str())?);
        let path = request.uri().path_and_query().cloned().unwrap_or(PathAndQuery::from_static("/"));
        *request.uri_mut() = Uri::from(path);
        hookmitt_call::exchange(stream, request, read).await?
    }

    async fn connect(&self, host: &str, port: u16) -> Result<impl Stream, Trouble> {
        let host = Host::parse(host)?;
        let addresses = resolve(&host, port).await?;
        let tcp = connect(&addresses, Instant::now() + CONNECT).await?;
        Ok(self.0.handshake(&host, tcp).await?)
    }
}

impl HttpClient for Http {
    fn request(
        &self,
        request: Request<BodyWrapper<Bytes>>,
    ) -> Pin<Box<dyn Future<Output = Result<BytesResponse, Error>> + Send>> {
        let asked = timeout(PATIENCE, self.clone().ask(request));
        Box::pin(async move {
            let answer = asked.await.unwrap_or_else(|_| Err("no answer in time".into()));
            answer.map_err(Error::Other)
        })
    }
}

async fn read(response: Response<Incoming>) -> Result<BytesResponse, Trouble> {
    let (parts, body) = response.into_parts();
    let body = Limited::new(body, LARGEST).collect().await?.to_bytes();
    Ok(BytesResponse { parts, body: Box::new(body) })
}
