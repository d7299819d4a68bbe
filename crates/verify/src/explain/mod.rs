//! Why a verdict is what it is. Capture never asks: this tries more than a sender would wait for.
//!
//! To explain is to ask [`check`](crate::check) again, of other requests, secrets and schemes than those at hand.

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
