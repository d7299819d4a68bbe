//! What people keep and let go: marks on events, the trash, and for how long.

mod marks;
mod retention;
#[cfg(test)]
mod tests;
mod trash;

pub use marks::{MarkChange, Marking};
pub use retention::{KeepChange, Keeping};
pub use trash::Trash;
