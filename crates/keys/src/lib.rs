//! Fetches the keys that providers publish, only from the providers' own hosts, and stores them (Threat 6).
//!
//! A captured request names the URL of a key, and a forged request can name any URL. So fetches are limited: only
//! `https`, a list of hosts, no redirects, no proxy, 10 KB, 5 seconds, few at a time.
//! [`find`](hookmitt_verify::PublishedKeys::find) answers from memory and never waits. [`KeyStore::want`] puts a URL
//! into a short queue. [`Fetching::run`] fetches the queued URLs while capturing goes on. Forged requests can also make
//! up thousands of URLs; these never keep a genuine URL out.
//!
//! A certificate's chain is not verified up to a root: that the certificate came from the provider's host over TLS is
//! the proof.

mod disk;
mod fetch;
mod memory;
mod problem;
mod queue;
mod store;

pub use fetch::{LARGEST, TIME_LIMIT, call};
pub use hookmitt_call::Network;
pub use problem::KeyProblem;
pub use store::{Clock, Fetching, KeyStore, ask};
