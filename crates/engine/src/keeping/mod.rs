//! What people keep and let go: marks on events, and the trash.

mod marks;
mod trash;

pub use marks::{MarkChange, Marking};
pub use trash::Trash;
