//! How an ACME server is asked: HTTP/1.1 over TLS, with everything bounded.

use std::{error::Error as StdError, future::Future, path::Path, pin::Pin, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderValue, Request, Response, Uri, header, uri::PathAndQuery};
use http_body_util::{BodyExt as _, Limited};
use hyper::body::Incoming;
use instant_acme::{BodyWrapper, BytesResponse, Error, HttpClient};
use rustls::pki_types::ServerName;
use tokio::{
    net::{TcpStream, lookup_host},
    time::timeout,
};
use tokio_rustls::{TlsConnector, client::TlsStream};

use super::AcmeError;

/// How long one question may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long one address may take to answer, where a name has several.
const CONNECT: Duration = Duration::from_secs(5);

/// Bytes that an answer may have; a chain is some ten thousand.
const LARGEST: usize = 256 * 1024;

type Trouble = Box<dyn StdError + Send + Sync>;

/// Asks an ACME server.
#[derive(Clone)]
pub(super) struct Http(TlsConnector);

impl std::fmt::Debug for Http {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Http")
    }
}

impl Http {
    /// Trusts Mozilla's roots as this version carries them, and those in the file.
    pub(super) fn new(authorities: Option<&Path>) -> Result<Self, AcmeError> {
        let mut roots = hookmitt_call::roots();
        if let Some(path) = authorities {
            hookmitt_call::add_authorities(&mut roots, path, "there is no certificate in it")
                .map_err(|why| AcmeError::Authorities { path: path.to_owned(), why })?;
        }
        Ok(Self(TlsConnector::from(Arc::new(hookmitt_call::tls(roots)))))
    }

    async fn ask(self, mut request: Request<BodyWrapper<Bytes>>) -> Result<BytesResponse, Trouble> {
        let authority = request.uri().authority().cloned().ok_or("its URL has no host")?;
        if request.uri().scheme_str() != Some("https") {
            return Err(format!("{authority} would be asked without TLS").into());
        }
        let stream = self.connect(authority.host(), authority.port_u16().unwrap_or(443)).await?;
        request.headers_mut().insert(header::HOST, HeaderValue::from_str(authority.as_str())?);
        let path = request.uri().path_and_query().cloned().unwrap_or(PathAndQuery::from_static("/"));
        *request.uri_mut() = Uri::from(path);
        hookmitt_call::exchange(stream, request, read).await?
    }

    async fn connect(&self, host: &str, port: u16) -> Result<TlsStream<TcpStream>, Trouble> {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let name = ServerName::try_from(bare.to_owned())?;
        let mut trouble = Trouble::from(format!("the name {host} has no address"));
        for address in lookup_host((bare, port)).await? {
            match timeout(CONNECT, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => return Ok(self.0.connect(name, stream).await?),
                Ok(Err(error)) => trouble = format!("{address}: {error}").into(),
                Err(_) => trouble = format!("{address}: no connection in time").into(),
            }
        }
        Err(trouble)
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
