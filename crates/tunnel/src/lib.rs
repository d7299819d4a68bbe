//! The client of a tunnel: it keeps a connection to a relay, hands the letters in the mailbox to a recipient, and
//! acknowledges those that are stored.
//!
//! [`keep`] does all of this for one tunnel: it connects, proves who the device is, opens letters and hands them over
//! in order, notices silence, sleep and network changes, and reports the [`State`].

mod acks;
mod announce;
mod backoff;
mod clock;
mod control;
mod credentials;
mod dial;
mod error;
mod hello;
mod horizon;
mod intake;
mod invite;
mod keep;
mod line;
mod link;
mod network;
mod options;
mod recipient;
mod relay_url;
mod session;
mod state;
mod turn;
mod work;

pub use announce::announce;
pub use backoff::Backoff;
pub use clock::slept;
pub use control::{join, open};
pub use credentials::Credentials;
pub use error::{CA_VARIABLE, RelayProblem, TunnelError};
pub use hookmitt_seal::SECRETS;
pub use horizon::{Bounds, Horizon};
pub use invite::{invite_text, read_invite};
pub use keep::keep;
pub use line::{Devices, Invite, Line};
pub use network::Network;
pub use options::{Options, Pace};
pub use recipient::{Answering, AppReply, Doubt, Later, Letterhead, Recipient, Unreadable};
pub use relay_url::{check_relay, relay_url};
pub use state::State;
pub use turn::{NoKey, SealingKey, Turn};
