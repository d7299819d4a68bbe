//! How providers' APIs list what they have sent. What to ask, how one page leads to the next, and what an item becomes is
//! data (`connectors/*.toml`); users write the same for services of their own. [`Api`] sends it, and keeps the API key.

mod address;
mod api;
mod asked;
mod call_error;
mod catalogue;
mod connector;
#[cfg(test)]
mod connectors_tests;
mod item;
mod paging;
mod rate_limit;
mod raw;
mod template;

pub use api::{Api, LARGEST, Reply, TIME_LIMIT, as_key};
pub use asked::{AskError, Asked, Values, Window};
pub use call_error::CallError;
pub use catalogue::{connector, connectors, preset};
pub use connector::{Call, Connector, Gives, Key, KeyPlace, List, OwnError, Param, Shape};
pub use item::{Item, ItemError};
pub use paging::{Answer, Paging, PagingError, Place, Walk};
pub use template::{Filling, Template, TemplateError};
