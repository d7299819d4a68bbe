//! Sends a stored request to a target over HTTP/1.1. The body, and every header line that is not replaced or dropped
//! (see `head`), are sent byte for byte.
//!
//! HTTP clients usually rewrite paths, and change the case and order of header lines. Here hyper speaks the protocol,
//! but the stream beneath it (`wire.rs`) replaces the head that hyper writes with ours, and records the head of the
//! answer. No proxy is used, and no redirect is followed.

mod dial;
mod head;
mod outcome;
mod send;
mod target_error;
mod target_url;
mod wire;

pub use dial::{Unanswered, addresses, answers, probe, tls};
pub use head::{Envelope, head};
pub use hookmitt_call::Tls;
pub use outcome::{LONGEST_WAIT, Next, Outcome, next_step};
pub use send::{KEPT_BODY, send};
pub use target_error::TargetUrlError;
pub use target_url::TargetUrl;
