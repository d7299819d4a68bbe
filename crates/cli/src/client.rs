//! Calls the management API for the verbs. Only this module knows whether another process or this one answers.

use std::path::Path;

use bytes::Bytes;
use hookmitt_api::{BoxBody, Door, Host};
use http::{Method, Request, Response, header};
use http_body_util::BodyExt as _;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use url::Url;

use crate::{failure::CliError, live::Live, problem::Problem};

/// The management API of a running hookmitt, or of this process.
pub(crate) struct Client {
    door: Door,
}

/// An address in the API: a path and its query, escaped.
#[derive(Clone, Debug)]
pub(crate) struct Address(Url);

impl Address {
    /// Makes an address from the parts of the path after `/api`, for example `["events", "#12"]`.
    pub(crate) fn new<'a>(parts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut url = Url::parse("http://hookmitt/api").expect("a literal URL parses");
        url.path_segments_mut().expect("http URLs have a path").extend(parts);
        Self(url)
    }

    /// Adds a query parameter. Adds nothing if `value` is `None`.
    pub(crate) fn with(mut self, name: &str, value: Option<impl AsRef<str>>) -> Self {
        if let Some(value) = value {
            self.0.query_pairs_mut().append_pair(name, value.as_ref());
        }
        self
    }

    fn path_and_query(&self) -> &str {
        &self.0[url::Position::BeforePath..url::Position::AfterQuery]
    }
}

/// One page of a list, and the cursor of the next page.
#[derive(Debug, Deserialize)]
pub(crate) struct Items<T> {
    /// The items of this page.
    pub(crate) items: Vec<T>,
    /// The cursor that gets the next page, or `None` on the last page.
    #[serde(default)]
    pub(crate) next_cursor: Option<String>,
}

impl Client {
    /// Uses the API of the running hookmitt; if none runs, opens the inbox in this process.
    pub(crate) async fn open(data_dir: &Path) -> Result<Self, CliError> {
        Ok(Self { door: Door::open(data_dir).await? })
    }

    /// Uses the API of a host that runs in this process.
    pub(crate) fn of(host: &Host) -> Self {
        Self { door: host.door() }
    }

    /// Returns whether another process answers.
    pub(crate) fn is_attached(&self) -> bool {
        self.door.is_attached()
    }

    /// Ends the use of the API. If the inbox was opened in this process, deliveries in flight are finished first.
    pub(crate) async fn close(self) {
        self.door.close().await;
    }

    /// Sends a GET request, and parses the answer's JSON.
    pub(crate) async fn get<T: DeserializeOwned>(&self, address: &Address) -> Result<T, CliError> {
        read_json(&self.ask(Method::GET, address, None).await?)
    }

    /// Sends a request with a body, and parses the answer's JSON.
    pub(crate) async fn send<T: DeserializeOwned>(
        &self,
        method: Method,
        address: &Address,
        body: &Value,
    ) -> Result<T, CliError> {
        read_json(&self.ask(method, address, Some(body)).await?)
    }

    /// Sends a request whose answer usually only says that it succeeded. Returns the answer's JSON, or null if it has
    /// no body.
    pub(crate) async fn order(
        &self,
        method: Method,
        address: &Address,
        body: Option<&Value>,
    ) -> Result<Value, CliError> {
        let answer = self.ask(method, address, body).await?;
        if answer.is_empty() { Ok(Value::Null) } else { read_json(&answer) }
    }

    /// Sends a GET request, and returns the exact bytes of the answer's body.
    pub(crate) async fn bytes(&self, address: &Address) -> Result<Bytes, CliError> {
        self.ask(Method::GET, address, None).await
    }

    /// Fetches every page of a list, and returns all items.
    pub(crate) async fn all<T: DeserializeOwned>(&self, address: &Address) -> Result<Vec<T>, CliError> {
        let mut found = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let page: Items<T> = self.get(&address.clone().with("cursor", cursor)).await?;
            found.extend(page.items);
            match page.next_cursor {
                Some(next) => cursor = Some(next),
                None => return Ok(found),
            }
        }
    }

    /// Opens the API's event stream.
    pub(crate) async fn stream(
        &self,
        method: Method,
        address: &Address,
        body: Option<&Value>,
    ) -> Result<Live, CliError> {
        Ok(Live::new(self.call(method, address, body).await?.into_body()))
    }

    async fn ask(&self, method: Method, address: &Address, body: Option<&Value>) -> Result<Bytes, CliError> {
        collect(self.call(method, address, body).await?.into_body()).await
    }

    async fn call(
        &self,
        method: Method,
        address: &Address,
        body: Option<&Value>,
    ) -> Result<Response<BoxBody>, CliError> {
        let body = body.map_or_else(String::new, Value::to_string);
        let request = Request::builder()
            .method(method)
            .uri(address.path_and_query())
            .header(header::CONTENT_TYPE, "application/json")
            .body(Bytes::from(body))
            .map_err(|error| CliError::Answer(error.to_string()))?;
        let response = self.door.call(request).await?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let body = collect(response.into_body()).await?;
        Err(CliError::Problem(Problem::read(status, &body)))
    }
}

async fn collect(body: BoxBody) -> Result<Bytes, CliError> {
    Ok(body.collect().await.map_err(|_| CliError::Gone)?.to_bytes())
}

fn read_json<T: DeserializeOwned>(answer: &[u8]) -> Result<T, CliError> {
    serde_json::from_slice(answer).map_err(|error| CliError::Answer(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_escaped() {
        let address =
            Address::new(["events", "#12", "body"]).with("q", Some("a&b c")).with("x", None::<&str>);
        assert_eq!(address.path_and_query(), "/api/events/%2312/body?q=a%26b+c");
        assert_eq!(Address::new(["events", "a/../b?"]).path_and_query(), "/api/events/a%2F..%2Fb%3F");
    }
}
