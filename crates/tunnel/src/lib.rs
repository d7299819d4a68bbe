//! The tunnel's client: it keeps a connection to a relay, drains the mailbox there into whoever takes the letters, and
//! acknowledges what is stored.
//!
//! [`keep`] does all of it for one tunnel, for ever: dials, proves who it is, opens letters and hands them over in order,
//! notices silence, sleep and changes of the network, and says in which [`State`] the tunnel truly is.

mod acks;
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

pub use backoff::Backoff;
pub use clock::slept;
pub use control::{join, open};
pub use credentials::Credentials;
pub use error::{CA_VARIABLE, RelayProblem, TunnelError, Why};
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
