//! What it takes to send a single request to a server: the connection, the certificates that TLS trusts, one exchange
//! over HTTP/1.1, and answers that continue as server-sent events. The caller decides which server is called and by
//! which way, for how long, and how much of an answer is read.

mod connect;
mod exchange;
mod messages;
mod network;
mod resolve;
mod route;
mod system_store;
mod tls;
mod trust;

pub use connect::{AddressError, ConnectError, connect};
pub use exchange::exchange;
pub use messages::{Messages, MessagesError};
pub use network::{Network, ReachError};
pub use resolve::{ResolveError, is_localhost, resolve};
pub use route::{way_out, way_to};
pub use sse_stream::Sse;
pub use tls::{Stream, Tls, TlsError, is_of_tls};
pub use trust::Trust;
