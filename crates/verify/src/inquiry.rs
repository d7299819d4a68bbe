//! The question that a verdict answers.

use std::time::Duration;

use hookmitt_event::{GenericScheme, Request, Timestamp};

use crate::{
    generic, provider::Provider, published::PublishedKeys, request_view::RequestView, scheme::Scheme,
    secret::Secret,
};

/// One request, and everything that its signature is judged by.
#[derive(Clone, Copy)]
pub struct Inquiry<'a> {
    /// The request, byte for byte.
    pub request: &'a Request,
    /// The URL that the provider called, for schemes that sign it.
    pub url: Option<&'a str>,
    /// The provider, set by the user or recognised.
    pub provider: Option<&'static Provider>,
    /// The source's own scheme. If it describes a signature, it replaces the provider's schemes.
    pub generic: Option<&'a GenericScheme>,
    /// The id of the scheme to check, or the provider's id for its default. If `None`, the source's setting `scheme`
    /// decides, else the request's own signature.
    pub scheme: Option<&'a str>,
    /// The source's secrets and public keys. A match with any of them is valid.
    pub secrets: &'a [Secret],
    /// How far a timestamp may be off, instead of the scheme's own limit.
    pub tolerance: Option<Duration>,
    /// When the request was received.
    pub at: Timestamp,
    /// Configuration that is not in the request, such as a webhook id.
    pub params: &'a [(String, String)],
    /// The keys that providers publish, as far as they were fetched. `None` if keys are not fetched at all.
    pub published: Option<&'a dyn PublishedKeys>,
}

impl<'a> Inquiry<'a> {
    /// Returns the scheme that a person chose, for this inquiry or in the source's settings.
    pub(crate) fn chosen_scheme(&self) -> Option<&'a str> {
        let set = || {
            let (_, id) = self.params.iter().find(|(name, _)| name == "scheme")?;
            self.provider?.scheme(id).map(|_| id.as_str())
        };
        self.scheme.or_else(set)
    }

    /// Returns the request as a signature covers it.
    pub(crate) fn view(&self) -> RequestView<'a> {
        let url = self.url.filter(|url| !url.is_empty());
        RequestView { url, params: self.params, ..RequestView::of_request(self.request) }
    }

    /// Returns the source's own scheme, if its settings describe one that can be used.
    pub(crate) fn own_scheme(&self) -> Option<Scheme> {
        self.generic.and_then(|settings| generic::compile(settings).ok().flatten())
    }

    /// Returns the provider's schemes that may apply: the one that a person chose, else all of them.
    pub(crate) fn provider_schemes(&self) -> &'static [Scheme] {
        let schemes = self.provider.map_or(&[][..], |provider| &provider.schemes);
        let named =
            self.chosen_scheme().filter(|id| self.provider.is_some_and(|provider| provider.id != *id));
        let at = named.and_then(|id| schemes.iter().position(|scheme| scheme.is_called(id)));
        at.map_or(schemes, |at| &schemes[at..=at])
    }

    /// Returns how far a signed timestamp may be off, if there is a limit.
    pub(crate) fn tolerance_by(&self, scheme: &Scheme) -> Option<Duration> {
        self.tolerance.or_else(|| scheme.tolerance())
    }
}
