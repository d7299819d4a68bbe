//! Explains why a verdict is what it is. Capture never calls this, because it tries more than a sender would wait for.
//!
//! It runs [`check`](crate::check) again with changed requests, secrets and schemes, to find a change that makes the
//! signature match.

mod bodies;
mod called_urls;
mod charset;
mod coded;
mod context;
mod diagnosis;
mod elsewhere;
mod explanation;
mod finding;
mod forms;
mod json_form;
mod json_style;
mod json_text;
mod keys;
mod note;
mod public_shape;
mod renamed;
mod ruled_out;
mod sentence;
mod settings;
mod shape;
mod shown;
mod slip;
mod trial;
mod urls;

pub use context::Context;
pub use explanation::explain;
