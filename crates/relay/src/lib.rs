//! The relay: a mailbox on a public server. It stores what a provider sends, sealed, answers, and hands it to the
//! tunnel's devices when they are there.
//!
//! Two things meet on its one port: webhooks, recorded byte for byte as the capture port does it, and what is under
//! `/-/`: health, opening and joining a tunnel, and the WebSocket on which letters go down and acknowledgements up.

mod acme;
mod address;
mod answer;
mod blocks;
mod certificates;
mod control;
mod conversation;
mod crowd;
mod devices;
mod guesses;
mod hello;
mod ingress;
mod metrics;
mod monitor;
mod openings;
mod options;
mod origin;
mod outgoing;
mod problem;
mod proxies;
mod refused;
mod relay;
mod rooms;
mod secret;
mod serve;
mod session;
mod session_feed;
mod session_reader;
mod session_writer;
mod sessions;
mod take;
mod tls;
mod window;

pub use acme::{Acme, AcmeError};
pub use options::{Options, PublicUrl, PublicUrlError};
pub use secret::{fresh_token, fresh_token_id, hash};
pub use serve::{Ports, serve};
pub use tls::{Tls, TlsError};
