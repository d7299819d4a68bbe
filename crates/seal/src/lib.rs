//! Encryption at rest: only the tunnel's own app can open the letters that wait at a relay.
//!
//! There is one HPKE context (RFC 9180) for each tunnel, relay process and epoch (a minute or 10,000 letters). Only its
//! `export` is used. The exported key seals each letter separately with ChaCha20-Poly1305. The nonce is the letter's
//! number in the epoch, and the tunnel, the epoch and the number are authenticated with the letter. So each letter can
//! be opened separately, in any order, on any device that holds the tunnel's secret key, and no letter can be passed
//! off as another.

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
