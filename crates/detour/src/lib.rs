//! Public URLs without a relay of one's own: smee channels, cloudflared and ngrok.
//!
//! None of them is a mailbox: requests that are sent while nobody listens are lost. A smee channel also rewrites the
//! JSON, so that no signature over the body can be valid. The product says so wherever it offers them.

mod error;
mod guard;
mod installed;
mod message;
mod program;
mod quick;
mod smee;

pub use error::DetourError;
pub use message::{MessageError, SmeeMessage};
pub use program::{QuickTunnel, Turn};
pub use quick::Quick;
pub use smee::{Channel, Listener, Progress, SILENCE};
