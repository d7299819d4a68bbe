//! The search language: `source:shop verdict:invalid "two words"`.
//!
//! A [`Query`] is parsed from text and matched against events here, and nowhere else: the API, the live stream, the
//! command line and the page all use this crate. It does no input or output; what it looks at is handed to it.

mod parse;
mod query;
mod seen;

pub use parse::SearchError;
pub use query::{Body, Compared, Mark, Pattern, Pointer, Query, Span, Term, Test, Text, WordKey};
pub use seen::{Answer, Needs, Seen};
