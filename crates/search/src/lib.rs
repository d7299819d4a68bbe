//! The search language: `source:shop verdict:invalid "two words"`.
//!
//! A [`Query`] is parsed from text and matched against events here, and nowhere else: the API, the live stream, the
//! command line and the page all use this crate. It does no input or output; what it looks at is handed to it.

mod fault;
mod fold;
mod keys;
mod matches;
mod moments;
mod number;
mod outline;
mod parse;
mod parts;
mod print;
mod query;
mod seen;
mod spans;
mod suggest;
mod texts;
mod words;

pub use fault::SearchError;
pub use fold::{Pattern, Text, fold};
pub use number::Number;
pub use outline::{Outline, TypedTerm, outline};
pub use query::{Body, Compared, Mark, Pointer, Query, Span, Term, Test, WordKey};
pub use seen::{Answer, Needs, Seen};
pub use suggest::{Completion, KeyHint, Wanted, suggest};
pub use texts::{folded_texts, texts};
