//! Takes requests in, from the capture port and from tunnels, channels, programs and imports.

mod answers;
mod pipeline;
mod port;
mod refusals;
mod senders;

pub(crate) use answers::AskedBy;
pub(crate) use pipeline::{Capture, Kept};
pub use port::CapturePort;
pub(crate) use senders::{AT_A_RELAY, Senders};
