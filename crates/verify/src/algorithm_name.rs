//! Checks the algorithm that a request itself names for its signature.

use serde::Deserialize;

use crate::{place::Place, request_view::RequestView};

/// Where a request names the algorithm of its signature, and the only name that is accepted.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AlgorithmName {
    /// The place of the name.
    pub(crate) at: Place,
    /// The list element that holds the name, if the value is a list such as `key=a,algorithm=b`.
    element: Option<String>,
    /// The accepted name, compared without regard to letter case.
    pub(crate) is: String,
}

impl AlgorithmName {
    /// Returns the first name in the request that isn't the accepted one. It is empty if the request's list has no such
    /// element.
    pub(crate) fn otherwise(&self, view: &RequestView<'_>) -> Option<String> {
        let values = self.at.read_all(view);
        let names = values.iter().flat_map(|value| self.names_in(value));
        names.into_iter().find(|name| !name.eq_ignore_ascii_case(&self.is))
    }

    fn names_in(&self, value: &[u8]) -> Vec<String> {
        let text = String::from_utf8_lossy(value);
        let Some(wanted) = &self.element else { return vec![text.trim().to_owned()] };
        let pairs = text.split(',').filter_map(|pair| pair.split_once('='));
        let own = pairs.filter(|(name, _)| name.trim().eq_ignore_ascii_case(wanted));
        let names: Vec<_> = own.map(|(_, name)| name.trim().to_owned()).collect();
        if names.is_empty() { vec![String::new()] } else { names }
    }
}
