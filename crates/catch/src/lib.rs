//! Opens the capture port and turns each request into its exact bytes.
//!
//! hyper speaks HTTP, but its header map loses the order and case of header lines, and its URI type refuses paths that
//! providers do send. So a recorder sits in the stream beneath hyper: it keeps the head as it came, and hands hyper a
//! plain head with nothing but the framing of the body.

mod answer;
mod breather;
mod called;
mod catcher;
mod chunks;
mod framing;
mod head;
mod heading;
mod holder;
mod intake;
mod listen;
mod monitor;
mod patience;
mod port;
mod recorder;
mod refusal;
mod serve;
mod sink;

pub use answer::{INERT, Reply, is_hop_by_hop};
pub use breather::Breather;
pub use called::Called;
pub use catcher::catch_on;
pub use head::{Head, HeadError, parse_head};
pub use holder::Holder;
pub use intake::{Limits, Room, Share};
pub use listen::{Bound, ListenError, bind};
pub use monitor::monitor;
pub use port::{BrokenOff, Caught, Opener, Port, Served, Unencrypted, Way};
pub use refusal::{Denial, Refusal, RefusedHead};
pub use serve::{Connections, accept};
pub use sink::{Address, Sink, catch, catch_stream};
