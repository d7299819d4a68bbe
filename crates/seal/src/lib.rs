//! Sealed at rest: what waits at a relay can be opened by the tunnel's own app, and by nobody else.
//!
//! For each tunnel, relay process and epoch (a minute or 10,000 letters) there is one HPKE context (RFC 9180), of which
//! only `export` is used. The exported key seals each letter by itself with ChaCha20-Poly1305: the nonce is the letter's
//! number in the epoch, and the tunnel, the epoch and the number are authenticated with it. So any letter opens alone,
//! in any order, on any device that holds the tunnel's secret key; and none passes for another.

mod epoch;
mod error;
mod key_pair;
mod note;
mod opener;
mod sealer;

pub use error::SealError;
pub use key_pair::KeyPair;
pub use note::{invited_proof, is_invited, open_note, seal_note};
pub use opener::{Opener, SECRETS};
pub use sealer::{Sealed, Sealer};
