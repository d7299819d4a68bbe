//! How providers' APIs list what they have sent. What to ask, how one page leads to the next, and what an item becomes is
//! data (`connectors/*.toml`); users write the same for services of their own. Nothing here sends anything.

mod asked;
mod catalogue;
mod connector;
#[cfg(test)]
mod connectors_tests;
mod item;
mod paging;
mod raw;
mod template;

pub use asked::{AskError, Asked, Values, Window};
pub use catalogue::{connector, connectors};
pub use connector::{Call, Connector, Gives, Key, KeyPlace, List, Param, Shape};
pub use item::{Item, ItemError};
pub use paging::{Answer, Paging, PagingError, Place, Walk};
pub use template::{Filling, Template, TemplateError};
