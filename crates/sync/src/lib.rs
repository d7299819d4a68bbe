//! How providers' APIs list what they have sent. What to ask, how one page leads to the next, and what an item becomes is
//! data (`connectors/*.toml`); users write the same for services of their own. [`Api`] sends it, and keeps the API key.

mod api;
mod asked;
mod call_error;
mod catalogue;
mod connector;
#[cfg(test)]
mod connectors_tests;
mod item;
mod paging;
mod raw;
mod template;

pub use api::{Api, LARGEST, Reply, TIME_LIMIT};
pub use asked::{AskError, Asked, Values, Window};
pub use call_error::CallError;
pub use catalogue::{connector, connectors, preset};
pub use connector::{Call, Connector, Gives, Key, KeyPlace, List, OwnError, Param, Shape};
pub use item::{Item, ItemError};
pub use paging::{Answer, Paging, PagingError, Place, Walk};
pub use template::{Filling, Template, TemplateError};

/// Returns why an answer with a good status is none all the same: Slack says `"ok": false`, and GraphQL has `errors`.
pub fn refusal_in(json: &serde_json::value::RawValue) -> Option<String> {
    let is_refusal =
        raw::at(json, "/ok").is_some_and(|ok| ok.get() == "false") || raw::at(json, "/errors/0").is_some();
    is_refusal.then(|| api::said_in(json).unwrap_or_else(|| "it refuses".to_owned()))
}

/// Returns the message in the JSON of an error that was answered with a good status, as GraphQL does.
pub fn said_in(json: &serde_json::value::RawValue) -> Option<String> {
    api::said_in(json)
}
