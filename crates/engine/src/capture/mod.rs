//! Takes requests in: at the capture port, and for whoever brings them from elsewhere.

mod pipeline;
mod port;
mod refusals;
mod senders;

pub(crate) use pipeline::{Capture, Kept};
pub use port::CapturePort;
pub(crate) use senders::{AT_A_RELAY, Senders};
