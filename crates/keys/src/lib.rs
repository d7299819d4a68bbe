//! Fetches the keys that providers publish, from their own hosts only, and keeps them (Threat 6).
//!
//! A request that was captured names the URL of a key, and a request can name anything. So: `https` alone, a list of
//! hosts, no redirect, no proxy, 10 KB, 5 seconds, few at a time. [`find`](hookmitt_verify::PublishedKeys::find)
//! answers from memory and never waits; [`KeyStore::want`] puts a URL into a short queue; [`Fetching::run`] works it off
//! beside the capturing. A request can also make up URLs by the thousand: nobody who comes later is turned away for them.
//!
//! A certificate's chain is not followed to a root: that it came from the provider's host over TLS is the proof.

mod disk;
mod fetch;
mod memory;
mod problem;
mod queue;
mod store;

pub use fetch::{LARGEST, Network, TIME_LIMIT};
pub use problem::KeyProblem;
pub use store::{Clock, Fetching, KeyStore, ask};
