//! What it takes to ask somebody one question: whom TLS trusts, and one exchange over HTTP/1.1. Who is called and by
//! which way, for how long, and how much of an answer is read is for the caller to say.

mod exchange;
mod trust;

pub use exchange::exchange;
pub use trust::{add_authorities, roots, tls};
