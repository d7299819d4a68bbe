//! Web pages at the capture port: what they send is stored and marked, and goes nowhere by itself (Threat 1).
//!
//! A page of another origin is told by its `Origin` or `Sec-Fetch-Site` line. A page whose own name was made to lead to
//! this machine (DNS rebinding) sends neither with a GET or HEAD, and could read the answer: it is told by the name that
//! it calls.

use std::sync::Arc;

use hookmitt_event::{HeaderLines, Request, Respond, WithheldReason};

use crate::{
    host_name::{absolute, name_of},
    settings::{ConfiguredSource, Settings},
};

/// What a request has to do with web pages. Nothing, by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Page {
    /// A page of another origin sent it, by its own lines.
    pub(crate) foreign: bool,
    /// The name that it was called by, where a page may have sent it that we know by nothing else.
    pub(crate) host: Option<String>,
}

/// What becomes of a request by what it has to do with web pages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Judged {
    /// A page sent it, or may have.
    pub(crate) browser: bool,
    /// Why it isn't forwarded by itself.
    pub(crate) withheld: Option<WithheldReason>,
    /// A page sent it, and it is forwarded all the same.
    pub(crate) callback: bool,
    /// The name that it was called by, where that alone is why it isn't forwarded.
    pub(crate) foreign_host: Option<String>,
}

impl Page {
    /// Of something on this machine or beyond, that is no page.
    pub(crate) const fn is_absent(&self) -> bool {
        !self.foreign && self.host.is_none()
    }

    /// Decides about a request of that source. Where the local server answers, a browser may be sent there by another
    /// site, as at the end of an OAuth sign-in: it goes there as a whole tab, whose page no other site can read.
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

/// Tells what requests have to do with web pages.
#[derive(Clone, Debug)]
pub(crate) struct Pages(Arc<Settings>);

impl Pages {
    pub(crate) const fn new(settings: Arc<Settings>) -> Self {
        Self(settings)
    }

    /// What a request at the capture port has to do with web pages. `target` is as it came: an absolute one says itself
    /// who is called. `known`: its source, where there is one.
    pub(crate) fn at_port(&self, request: &Request, target: &str, known: Option<&ConfiguredSource>) -> Page {
        // A page that our own port answered is a stranger's: the local server made it, or a sender.
        let own_page =
            request.headers.get_all("sec-fetch-site").any(|site| site.eq_ignore_ascii_case(b"same-origin"));
        let foreign = own_page || self.is_from_web_page(request);
        let reads = matches!(request.method.as_str(), "GET" | "HEAD");
        let host = if reads { self.foreign_host(&request.headers, target, known) } else { None };
        Page { foreign, host }
    }

    /// What a request that came another way has to do with web pages. A tunnel, a channel or a door of ours knows which
    /// name was called: nobody can rebind that one to this machine.
    pub(crate) fn through_tunnel(&self, request: &Request) -> Page {
        Page { foreign: self.is_from_web_page(request), host: None }
    }

    /// A page of another origin: the browser says so, or that it fetches this in advance, or its `Origin` isn't the
    /// API's.
    fn is_from_web_page(&self, request: &Request) -> bool {
        let is_foreign =
            |site: &[u8]| site.eq_ignore_ascii_case(b"cross-site") || site.eq_ignore_ascii_case(b"same-site");
        request.headers.get_all("origin").any(|origin| !self.0.own.is_origin(origin))
            || request.headers.get_all("sec-fetch-site").any(is_foreign)
            || request.is_in_advance()
    }

    /// The name that was called, where it is none of ours. No Host line at all (HTTP/1.0) is no browser's.
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

    /// Whether that is a name of this machine, of a tunnel, of what stands before a source, or one that this source
    /// allows.
    pub(crate) fn is_our_name(&self, name: &str, known: Option<&ConfiguredSource>) -> bool {
        self.0.own.is_name(name)
            || known.is_some_and(|known| known.source.allowed_hosts.contains(name))
            || self.0.now().sources.values().any(|other| other.public_host.as_deref() == Some(name))
    }
}
