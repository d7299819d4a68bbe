//! A request as a signature sees it. Cheap to alter: that is how causes are found.

use hookmitt_event::{HeaderLines, Request};

/// The parts of a request that a signature may cover.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestView<'a> {
    pub(crate) method: &'a str,
    /// The URL that the provider called, where it is known.
    pub(crate) url: Option<&'a str>,
    /// The raw query, where the URL is not known.
    pub(crate) query: Option<&'a str>,
    pub(crate) headers: &'a HeaderLines,
    pub(crate) body: &'a [u8],
    /// Configuration that is not in the request.
    pub(crate) params: &'a [(String, String)],
}

impl<'a> RequestView<'a> {
    /// A request alone, for what needs neither its URL nor any configuration.
    pub(crate) fn of_request(request: &'a Request) -> Self {
        let (headers, body) = (&request.headers, &request.body[..]);
        Self {
            method: &request.method,
            url: None,
            query: request.query.as_deref(),
            headers,
            body,
            params: &[],
        }
    }

    /// What the source's configuration says under that name.
    pub(crate) fn param(&self, name: &str) -> Option<&'a str> {
        let found = self.params.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// Path and query of the URL, as they were called.
    pub(crate) fn path_and_query(&self) -> &'a str {
        let url = self.url.unwrap_or_default();
        let Some((_, rest)) = url.split_once("://") else { return url };
        rest.find(['/', '?']).map_or("/", |at| &rest[at..])
    }

    /// The URL's query.
    pub(crate) fn query(&self) -> Option<&'a str> {
        let Some(url) = self.url else { return self.query };
        url.split('#').next()?.split_once('?').map(|(_, query)| query)
    }
}
