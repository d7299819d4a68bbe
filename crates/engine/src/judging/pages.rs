//! Web pages at the capture port: what they send is stored and marked, but not forwarded by itself (Threat 1).
//!
//! A page of another origin is recognised by its `Origin` or `Sec-Fetch-Site` line. A page whose own name was made to
//! resolve to this machine (DNS rebinding) sends neither with a GET or HEAD, and could read the answer. Such a page is
//! recognised by the host name that it calls.

use std::sync::Arc;

use hookmitt_event::{HeaderLines, Request, Respond, WithheldReason};

use crate::{
    host_name::{absolute, name_of},
    settings::{ConfiguredSource, Settings},
};

/// How a request is related to web pages. By default it has nothing to do with any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Page {
    /// Whether a page of another origin sent the request, by its own header lines.
    pub(crate) foreign: bool,
    /// The host name that a GET or HEAD request called, if it is none of ours: a rebound page may have sent the
    /// request, and nothing else would show that.
    pub(crate) host: Option<String>,
}

/// What happens to a request because of web pages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Judged {
    /// Whether a page sent the request, or may have.
    pub(crate) browser: bool,
    /// Why the request isn't forwarded automatically.
    pub(crate) withheld: Option<WithheldReason>,
    /// Whether a page sent the request, or may have, and it is forwarded all the same.
    pub(crate) callback: bool,
    /// The host name that the request called, if that name is the only reason why it isn't forwarded.
    pub(crate) foreign_host: Option<String>,
}

impl Page {
    /// Whether the request has nothing to do with a web page.
    pub(crate) const fn is_absent(&self) -> bool {
        !self.foreign && self.host.is_none()
    }

    /// Decides about a request of a source. If the local server answers, another site may send a browser there, as at
    /// the end of an OAuth sign-in: such a navigation loads a whole page, which no other site can read, so it is
    /// forwarded.
    pub(crate) fn judge(self, known: &ConfiguredSource, request: &Request) -> Judged {
        let lands = known.source.answer.respond == Some(Respond::App) && request.is_navigation();
        let browser = !self.is_absent();
        let withheld = match &self.host {
            _ if self.foreign && !lands && request.is_form_post() => Some(WithheldReason::FormPost),
            _ if self.foreign && !lands => Some(WithheldReason::WebPage),
            Some(_) => Some(WithheldReason::ForeignHost),
            None => None,
        };
        let foreign_host = self.host.filter(|_| withheld == Some(WithheldReason::ForeignHost));
        Judged { browser, callback: browser && withheld.is_none(), withheld, foreign_host }
    }
}

/// Determines how requests are related to web pages.
#[derive(Clone, Debug)]
pub(crate) struct Pages(Arc<Settings>);

impl Pages {
    pub(crate) const fn new(settings: Arc<Settings>) -> Self {
        Self(settings)
    }

    /// Returns how a request at the capture port is related to web pages. `target` is the request target as received;
    /// if it is an absolute URL, its host counts instead of the `Host` line. `known` is the request's source, if it
    /// exists.
    pub(crate) fn at_port(&self, request: &Request, target: &str, known: Option<&ConfiguredSource>) -> Page {
        // A page that our own port served counts as a stranger's, because the local server or a sender made it.
        let own_page =
            request.headers.get_all("sec-fetch-site").any(|site| site.eq_ignore_ascii_case(b"same-origin"));
        let foreign = own_page || self.is_from_web_page(request);
        let reads = matches!(request.method.as_str(), "GET" | "HEAD");
        let host = if reads { self.foreign_host(&request.headers, target, known) } else { None };
        Page { foreign, host }
    }

    /// Returns how a request that came another way is related to web pages. Its host name is not checked: a tunnel, a
    /// channel or our own door knows which name was called, and nobody can rebind that name to this machine.
    pub(crate) fn through_tunnel(&self, request: &Request) -> Page {
        Page { foreign: self.is_from_web_page(request), host: None }
    }

    /// Whether a page of another origin sent the request: the browser says so or prefetches, or the `Origin` isn't the
    /// API's.
    fn is_from_web_page(&self, request: &Request) -> bool {
        let is_foreign =
            |site: &[u8]| site.eq_ignore_ascii_case(b"cross-site") || site.eq_ignore_ascii_case(b"same-site");
        request.headers.get_all("origin").any(|origin| !self.0.own.is_origin(origin))
            || request.headers.get_all("sec-fetch-site").any(is_foreign)
            || request.is_in_advance()
    }

    /// Returns the host name that was called, if it is none of ours. A request without a `Host` line (HTTP/1.0) comes
    /// from no browser.
    fn foreign_host(
        &self,
        headers: &HeaderLines,
        target: &str,
        known: Option<&ConfiguredSource>,
    ) -> Option<String> {
        let called: Vec<_> = match absolute(target) {
            Some((_, authority)) => vec![name_of(authority)],
            None => headers.get_all("host").map(|line| name_of(&String::from_utf8_lossy(line))).collect(),
        };
        called.into_iter().find(|name| !self.is_our_name(name, known))
    }

    /// Whether a name is one of this machine, of a tunnel, of a source's public URL, or one that this source allows.
    pub(crate) fn is_our_name(&self, name: &str, known: Option<&ConfiguredSource>) -> bool {
        self.0.own.is_name(name)
            || known.is_some_and(|known| known.source.allowed_hosts.contains(name))
            || self.0.now().sources.values().any(|other| other.public_host.as_deref() == Some(name))
    }
}
