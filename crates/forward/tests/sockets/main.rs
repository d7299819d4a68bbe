//! Attempts over real sockets, seen from the other end.

mod answers;
mod failures;
mod golden;
mod server;
mod tls;
