//! The relay: mailboxes on a public server. It seals and stores what a provider sends, answers, and hands it to the
//! tunnel's devices when they are connected.
//!
//! Its one port serves two things: webhooks, recorded byte for byte as the capture port does it, and the paths under
//! `/-/`. These are the health check, opening and joining a tunnel, and the WebSocket that carries letters to devices
//! and acknowledgements back.

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
mod unserved;
mod window;

pub use acme::{Acme, AcmeError};
pub use options::{Options, PublicUrl, PublicUrlError};
pub use secret::{fresh_token, fresh_token_id, hash};
pub use serve::{Ports, serve};
pub use tls::{Tls, TlsError};
