//! The parts of a request that signatures cover. A copy with changes is cheap, which the search for causes relies on.

use hookmitt_event::{HeaderLines, Request};

/// The parts of a request that a signature may cover.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestView<'a> {
    pub(crate) method: &'a str,
    /// The URL that the provider called, if it is known.
    pub(crate) url: Option<&'a str>,
    /// The raw query, used if the URL is not known.
    pub(crate) query: Option<&'a str>,
    pub(crate) headers: &'a HeaderLines,
    pub(crate) body: &'a [u8],
    /// Configuration that is not in the request.
    pub(crate) params: &'a [(String, String)],
}

impl<'a> RequestView<'a> {
    /// Creates a view of the request alone, for uses that need neither its URL nor any configuration.
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

    /// Returns the source's setting of that name, unless it is empty.
    pub(crate) fn param(&self, name: &str) -> Option<&'a str> {
        let found = self.params.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// Returns the path and query of the URL, as they were called.
    pub(crate) fn path_and_query(&self) -> &'a str {
        let url = self.url.unwrap_or_default();
        let Some((_, rest)) = url.split_once("://") else { return url };
        rest.find(['/', '?']).map_or("/", |at| &rest[at..])
    }

    /// Returns the query of the URL, or the raw query if the URL is not known.
    pub(crate) fn query(&self) -> Option<&'a str> {
        let Some(url) = self.url else { return self.query };
        url.split('#').next()?.split_once('?').map(|(_, query)| query)
    }
}
