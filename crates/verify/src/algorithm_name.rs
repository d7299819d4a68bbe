//! Where a request itself names the algorithm of its signature.

use serde::Deserialize;

use crate::{place::Place, request_view::RequestView};

/// Where a request names the algorithm of its signature, and the one name that is taken.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AlgorithmName {
    /// Where it is named.
    pub(crate) at: Place,
    /// The element that names it, where the value is a list such as `key=a,algorithm=b`.
    element: Option<String>,
    /// The name of what is checked. Letter case does not matter.
    pub(crate) is: String,
}

impl AlgorithmName {
    /// The first other name that the request gives; an empty one where its list names none.
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
