//! Sends a stored request to a target exactly as it came, over HTTP/1.1.
//!
//! General clients rewrite paths, case and order. Here hyper speaks the protocol, and the head that it writes is
//! swapped for ours beneath it (`wire.rs`); the answer's head is recorded there too. Nothing goes through a proxy,
//! and no redirect is followed.

mod dial;
mod head;
mod outcome;
mod send;
mod target_error;
mod target_url;
mod wire;

pub use dial::{addresses, answers, probe, tls};
pub use head::{Envelope, head};
pub use hookmitt_call::Tls;
pub use outcome::{LONGEST_WAIT, Next, Outcome, next_step};
pub use send::{KEPT_BODY, send};
pub use target_error::TargetUrlError;
pub use target_url::TargetUrl;
