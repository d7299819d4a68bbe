//! Takes the capture port and turns each request into its exact bytes.
//!
//! hyper speaks HTTP, but its header map forgets the order and case of header lines, and its URI refuses paths that
//! providers do send. So a recorder sits in the stream beneath it: it keeps the head as it came, and hands hyper a
//! plain one with nothing but what frames the body.

mod answer;
mod catcher;
mod framing;
mod head;
mod listen;
mod recorder;
mod refusal;
mod serve;

pub use answer::Reply;
pub use catcher::{Caught, Limits, Sink, catch};
pub use head::{Head, HeadError, parse_head};
pub use listen::{Bound, ListenError, bind};
pub use refusal::Refusal;
pub use serve::{Connections, accept};
