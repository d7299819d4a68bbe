//! What reading fails with after the end.

/// The file was closed.
#[derive(Clone, Copy, Debug)]
pub struct Closed;
